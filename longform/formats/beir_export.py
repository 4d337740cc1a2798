"""
The haystacks of a run as BEIR folders (`longform.formats.beir`), and its rankings as JSON.

    HAYSTACK/corpus.jsonl, HAYSTACK/queries.jsonl, HAYSTACK/qrels/test.tsv
    HAYSTACK/runs/SYSTEM.json   {query: {document: score}}, as BEIR's evaluation takes results
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from urllib.parse import quote

from longform.errors import UsageError
from longform.formats.exported import Export, ExportedFile, HaystackOfRun, RunToExport
from longform.formats.trec import file_names, rankings_of
from longform.records import relevance_by_query


def beir_export(run: RunToExport) -> Iterable[ExportedFile]:
    """
    Yield the files of each haystack of which rankings or summaries are there.

    Raises:
        UsageError: Two rankings would have one file, or an id cannot stand in a table with tabs.
    """
    for haystack in run.haystacks:
        yield from _files(haystack)


def _files(haystack: HaystackOfRun) -> Iterable[ExportedFile]:
    folder = quote(haystack.haystack_id, safe="")
    documents = ({"_id": one.doc_id, "title": one.title or "", "text": one.text} for one in haystack.documents)
    queries = ({"_id": one.query_id, "text": one.text} for one in haystack.queries)
    yield ExportedFile(f"{folder}/corpus.jsonl", _json_lines(documents))
    yield ExportedFile(f"{folder}/queries.jsonl", _json_lines(queries))
    rows = [
        f"{_cell(query_id)}\t{_cell(doc_id)}\t{n}\n"
        for query_id, judged in relevance_by_query(haystack.qrels).items()
        for doc_id, n in judged.items()
    ]
    yield ExportedFile(f"{folder}/qrels/test.tsv", "".join(["query-id\tcorpus-id\tscore\n", *rows]).encode())
    told: Counter[str] = Counter()
    rankings = rankings_of(haystack.rankings, told)
    names = file_names(rankings)
    for place, (system, found) in enumerate(rankings.items()):
        yield ExportedFile(f"{folder}/runs/{names[system]}.json", found, 0, +told if place == 0 else {})


def _json_lines(rows: Iterable[Mapping[str, str]]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def _cell(name: str) -> str:
    if any(mark in name for mark in "\t\r\n"):
        raise UsageError(f"id {name!r}: BEIR's judgements stand in a table: expected an id without tabs and line ends")
    return name


EXPORT = Export(beir_export, "corpus, queries and judgements as BEIR folders, and rankings as JSON", of="rankings")
