"""
Rankings of a run as files of other tools: TREC's, which trec_eval, pytrec_eval and ir-measures read, and BEIR's.

TREC:

    run.SYSTEM.txt   query Q0 document rank score system, a line for each ranked document
    qrels.txt        query 0 document relevance, of the queries that were ranked for
    topics.tsv       query and its text

ir_measures, with the measures by which it finds the report's numbers:

    run.SYSTEM.txt   as above
    qrels.txt, qrels.DATASET.txt
                     relevance 1 of each document that states a target of the query; a file for each data set
    measures.txt     the report's measures as ir_measures writes them, a line each
    report.json      qrels file -> system -> measure -> the report's number

The haystacks of a run as BEIR folders (`longform.formats.beir`):

    HAYSTACK/corpus.jsonl, HAYSTACK/queries.jsonl, HAYSTACK/qrels/test.tsv
    HAYSTACK/runs/SYSTEM.json   {query: {document: score}}, as BEIR's evaluation takes results

Relevance is the number of a query's insights that a document states; if only the query as a whole is judged, it is
that judgement (`longform.records.relevance_by_query`). Measures here take every relevance above 0 as 1.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any
from urllib.parse import quote

from longform.errors import UsageError
from longform.formats.exported import Export, ExportedFile, HaystackOfRun, RunToExport
from longform.keys import in_groups
from longform.records import relevance_by_query
from longform.rows import RankingRow

_UNSAFE = re.compile(r"[^A-Za-z0-9._+-]+")
_BY_RANK = "rankings with equal or missing scores, written by rank"

Ranking = Mapping[str, float]
"""Document -> a score that falls with every rank."""


def trec_export(run: RunToExport) -> Iterable[ExportedFile]:
    """
    Yield the run of each ranking, the judgements and the topics.

    Raises:
        UsageError: An id holds white space, at which these files are split, or two rankings would have one file.
    """
    told: Counter[str] = Counter()
    runs: dict[str, list[str]] = {}
    qrels: list[str] = []
    topics: list[str] = []
    for haystack in run.haystacks:
        relevance = relevance_by_query(haystack.qrels)
        found = rankings_of(haystack.rankings, told)
        for system, of_system in found.items():
            runs.setdefault(system, []).extend(run_lines(system, of_system))
        ranked = {query_id for of_system in found.values() for query_id in of_system}
        for query in haystack.queries:
            if query.query_id in ranked:
                topics.append(f"{word(query.query_id, 'query')}\t{' '.join(query.text.split())}")
                judged = relevance.get(query.query_id, {})
                qrels += [f"{query.query_id} 0 {word(doc_id, 'document')} {n}" for doc_id, n in judged.items()]
    if not runs:
        return
    names = file_names(runs)
    for system, lines in runs.items():
        yield ExportedFile(f"run.{names[system]}.txt", _lines(lines))
    yield ExportedFile("qrels.txt", _lines(qrels), 0, +told)
    yield ExportedFile("topics.tsv", _lines(topics))


def rankings_of(rows: Sequence[RankingRow], told: Counter[str]) -> dict[str, dict[str, Ranking]]:
    """
    Return system -> query -> ranking, best document first.

    Tools rank by score and break ties by id. A ranking whose scores do not fall with every rank is written with its
    ranks as scores, -1 for the first, so that its order stays; *told* counts these.
    """
    by_list = in_groups(((row["system"], row["query_id"]), row) for row in rows)
    found: dict[str, dict[str, Ranking]] = {}
    for (system, query_id), listed in by_list.items():
        ordered = sorted(listed, key=lambda row: row["rank"])
        scores = [row["score"] for row in ordered]
        if _falls(scores):
            ranking = {row["doc_id"]: float(row["score"] or 0.0) for row in ordered}
        else:
            told[_BY_RANK] += 1
            ranking = {row["doc_id"]: -float(place) for place, row in enumerate(ordered, 1)}
        found.setdefault(system, {})[query_id] = ranking
    return found


def file_names(systems: Iterable[str]) -> dict[str, str]:
    """
    Return system -> its name as a part of a file's name.

    Raises:
        UsageError: Two systems have the same.
    """
    found: dict[str, str] = {}
    for system in systems:
        name = _UNSAFE.sub("_", system)
        if name in found.values():
            raise UsageError(f"rankings {system!r} and another would both be written as {name!r}; rename a retriever")
        found[system] = name
    return found


def _falls(scores: Sequence[float | None]) -> bool:
    known = [score for score in scores if score is not None]
    return len(known) == len(scores) and all(high > low for high, low in pairwise(known))


def run_lines(system: str, rankings: Mapping[str, Ranking]) -> Iterable[str]:
    """Yield the lines of a run's file."""
    tag = _UNSAFE.sub("_", system)
    for query_id, ranking in rankings.items():
        for rank, (doc_id, score) in enumerate(ranking.items(), 1):
            yield f"{word(query_id, 'query')} Q0 {word(doc_id, 'document')} {rank} {score} {tag}"


def word(name: str, of: str) -> str:
    """
    Return *name*, if it may stand in a file that is split at white space; *of* says what it names.

    Raises:
        UsageError: It may not.
    """
    if name.split() != [name]:
        raise UsageError(
            f"{of} {name!r}: TREC files are split at white space: expected an id without any; try --as beir"
        )
    return name


def _lines(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


TREC = Export(
    trec_export,
    "rankings and judgements as TREC runs and qrels, for trec_eval and pytrec_eval",
    of="rankings",
)


_NAMES = {"P": "P", "R": "R", "nDCG": "nDCG", "MAP": "AP"}
"""Measure of the report -> of ir_measures, where a mean over queries is no part of a name."""
_NO_RANKING = "queries that a system has no ranking of, which ir_measures counts as 0 and the report leaves out"


def ir_measures_export(run: RunToExport) -> Iterable[ExportedFile]:
    """
    Yield runs, judgements, measures and the report's numbers.

    Raises:
        UsageError: An id holds white space, at which these files are split, or two rankings would have one file.
    """
    told: Counter[str] = Counter()
    runs: dict[str, list[str]] = {}
    ranked: dict[str, set[str]] = {}
    qrels: dict[str | None, dict[str, list[str]]] = {}
    for haystack in run.haystacks:
        datasets = {query.query_id: query.dataset for query in haystack.queries}
        relevance = relevance_by_query(haystack.qrels)
        for system, rankings in rankings_of(haystack.rankings, told).items():
            runs.setdefault(system, []).extend(run_lines(system, rankings))
            ranked.setdefault(system, set()).update(rankings)
            for query_id in rankings:
                gold = [doc_id for doc_id, n in relevance.get(query_id, {}).items() if n > 0]
                lines = [f"{word(query_id, 'query')} 0 {word(doc_id, 'document')} 1" for doc_id in gold]
                if lines:
                    qrels.setdefault(datasets[query_id], {})[query_id] = lines
    if not runs:
        return
    judged = {query_id for of_dataset in qrels.values() for query_id in of_dataset}
    if lacking := sum(len(judged - queries) for queries in ranked.values()):
        told[_NO_RANKING] = lacking
    names, judgements = file_names(runs), _judgements(qrels)
    for system, lines in runs.items():
        yield ExportedFile(f"run.{names[system]}.txt", _lines(lines))
    for place, (dataset, file) in enumerate(judgements.items()):
        lines = [line for of_query in qrels[dataset].values() for line in of_query]
        yield ExportedFile(file, _lines(lines), 0, +told if place == 0 else {})
    found = _report(run.results, judgements)
    measures = dict.fromkeys(name for systems in found.values() for row in systems.values() for name in row)
    yield ExportedFile("measures.txt", _lines(measures))
    yield ExportedFile("report.json", found)


def _judgements(datasets: Iterable[str | None]) -> dict[str | None, str]:
    """Return data set -> the file of its judgements."""
    known = list(datasets)
    if len(known) == 1:
        return {known[0]: "qrels.txt"}
    names = file_names([dataset or "none" for dataset in known])
    return {dataset: f"qrels.{names[dataset or 'none']}.txt" for dataset in known}


def _report(results: Mapping[str, Any], judgements: Mapping[str | None, str]) -> dict[str, dict[str, dict[str, float]]]:
    found: dict[str, dict[str, dict[str, float]]] = {}
    for row in (results["tables"].get("retrieval") or {"rows": ()})["rows"]:
        name, _, cutoff = row["measure"].partition("@")
        if cutoff and row["score"]["value"] is not None and row["dataset"] in judgements:
            of_system = found.setdefault(judgements[row["dataset"]], {}).setdefault(row["system"], {})
            of_system[f"{_NAMES[name]}@{cutoff}"] = row["score"]["value"]
    return found


IR_MEASURES = Export(
    ir_measures_export,
    "the same with binary judgements and the measures by which ir_measures finds the report's numbers",
    of="rankings",
)


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
    for name, rows in (("corpus", documents), ("queries", queries)):
        yield ExportedFile(f"{folder}/{name}.jsonl", _lines(json.dumps(row, ensure_ascii=False) for row in rows))
    judgements = [
        f"{_cell(query_id)}\t{_cell(doc_id)}\t{n}"
        for query_id, judged in relevance_by_query(haystack.qrels).items()
        for doc_id, n in judged.items()
    ]
    yield ExportedFile(f"{folder}/qrels/test.tsv", _lines(["query-id\tcorpus-id\tscore", *judgements]))
    told: Counter[str] = Counter()
    rankings = rankings_of(haystack.rankings, told)
    names = file_names(rankings)
    for place, (system, found) in enumerate(rankings.items()):
        yield ExportedFile(f"{folder}/runs/{names[system]}.json", found, 0, +told if place == 0 else {})


def _cell(name: str) -> str:
    if any(mark in name for mark in "\t\r\n"):
        raise UsageError(f"id {name!r}: BEIR's judgements stand in a table: expected an id without tabs and line ends")
    return name


BEIR = Export(beir_export, "corpus, queries and judgements as BEIR folders, and rankings as JSON", of="rankings")
