"""
Texts that pages unfold: documents that a run's summaries cite or that state its insights, and the summaries.

They are stored beside the results, so that the pages of the report can be written from these.
"""

from __future__ import annotations

import gzip
import json
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, groupby, islice
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.results.evidence import RunEvidence
from longform.evidence.scan import pl
from longform.records import Document
from longform.report.site import ReportSite, numbered
from longform.report.text_pages import DocumentFiles, document_pages, documents_html
from longform.results.evidence import QueryFacts, Unfolded, unfolded_of
from longform.results.passages import DocumentFacts, PassageFinder, document_facts

DOCUMENTS = "report/documents.jsonl.gz"

MOST_CHARACTERS = 40_000_000
"""Most text of all documents that a report holds; few would carry or open a folder of more."""

_HAYSTACKS_HELD = 2


class KeptDocuments(NamedTuple):
    """The documents of a run, those of a haystack together, by their numbers."""

    documents: Iterable[DocumentFacts]
    reason: str | None  # why there are none; None: there are some, or an older version kept none


NO_DOCUMENTS: KeptDocuments = KeptDocuments((), None)


def keep_texts(run: Folder, evidence: RunEvidence) -> None:
    """Store the summaries with their queries, and the documents that they name, as the pages show them."""
    finder = keep_documents(run, evidence.benchmark, wanted_documents(evidence))
    keep_unfolded(run, with_passages(evidence.all_unfolded(), finder))


Finder = Callable[[str], PassageFinder | None]
"""Haystack id -> what finds passages in its documents; None: it has none."""


def keep_documents(
    run: Folder, benchmark: Benchmark, wanted: Mapping[str, Collection[int]], *, most_characters: int = MOST_CHARACTERS
) -> Finder:
    """
    Store the *wanted* documents, numbers by haystack, and return what finds passages in them.

    If their text is longer than *most_characters*, or there is none, the reason is stored instead.
    """

    @lru_cache(maxsize=_HAYSTACKS_HELD)
    def needed(haystack: str) -> Mapping[int, Document]:
        return {one.number: one for one in benchmark.documents(haystack) if one.number in wanted[haystack]}

    @lru_cache(maxsize=_HAYSTACKS_HELD)
    def finder(haystack: str) -> PassageFinder | None:
        texts = {number: document.text for number, document in needed(haystack).items()}
        return PassageFinder(texts) if texts else None

    n_characters = 0
    for haystack in wanted:
        if n_characters <= most_characters:
            n_characters += sum(len(document.text) for document in needed(haystack).values())
    if reason := _why_none(n_characters, most_characters, cited=any(wanted.values())):
        keep_lines(run, DOCUMENTS, [{"reason": reason}])
        return lambda _: None
    documents = (document for haystack in wanted for document in needed(haystack).values())
    keep_lines(run, DOCUMENTS, ({"document": document_facts(document)} for document in documents))
    return finder


def _why_none(n_characters: int, most: int, *, cited: bool) -> str | None:
    none = "The texts of the documents are not part of this report:"
    if n_characters > most:
        return f"{none} those that summaries cite or that state insights have more than {most:,} characters."
    why = "the benchmark ships none" if cited else "no summary cites one, and no insight names one"
    return None if n_characters else f"{none} {why}."


def kept_documents(run: Folder) -> KeptDocuments:
    """Return what `keep_documents` stored; none if an older version wrote the run."""
    if not run.has(DOCUMENTS):
        return NO_DOCUMENTS
    lines = run.lines(DOCUMENTS)
    first: dict[str, Any] = next(lines, {})
    if "reason" in first:
        return KeptDocuments((), first["reason"])
    return KeptDocuments((line["document"] for line in chain([first], lines)), None)


def write_documents(
    folder: Folder, site: ReportSite, documents: Iterable[DocumentFacts], name: Callable[[str], str]
) -> DocumentFiles:
    """
    Write the pages of documents; return which page holds which. Two pages are in memory at a time.

    *documents* stand in order of their numbers, those of a haystack together; *name* tells haystacks to readers, and
    *site* lists `text_pages.DOCUMENTS_LINK`.
    """
    files: list[Mapping[str, Any]] = []
    for place, page in numbered("documents", document_pages(documents, name)):
        folder.write_bytes(place.file, documents_html(site, page, place).encode())
        for haystack, held in groupby(page, key=attrgetter("haystack")):
            numbers = [block.ids[0] for block in held]
            files.append({"file": place.file, "haystack": haystack, "first": numbers[0], "last": numbers[-1]})
    return files


def wanted_documents(evidence: RunEvidence) -> Mapping[str, Collection[int]]:
    """Return the numbers of the documents that are cited or state an insight, by haystack, in the benchmark's order."""
    cited = evidence.frames.units.select("summary_id", number="citations").explode("number").drop_nulls()
    facts = evidence.all_summaries.lazy().select("summary_id", pl.col("haystack_id").cast(pl.String))
    numbers = cited.join(facts, on="summary_id").group_by("haystack_id").agg(pl.col("number").unique()).collect()
    found = {haystack: set(own) for haystack, own in numbers.iter_rows()}
    for query in map(evidence.query, evidence.query_ids):
        stated = (number for target in query["targets"] for number in target["gold"])
        found.setdefault(query["haystack"], set()).update(stated)
    return {haystack: found[haystack] for haystack in evidence.benchmark.haystack_ids if haystack in found}


def with_passages(unfolded: Iterable[Unfolded], finder: Finder) -> Iterator[Unfolded]:
    """Yield summaries, those of a query together, and queries with the passages of the documents that they name."""
    for _, together in groupby(unfolded, lambda one: one.summary["query_id"]):
        own = list(together)
        query = own[0].query
        if (found := finder(query["haystack"])) is None:
            yield from own
            continue
        told = {**query, "targets": _with_passages(found, query["targets"], "gold")}
        bullets = iter(_with_passages(found, [row for one in own for row in one.summary["bullets"]], "citations"))
        for summary, _ in own:
            yield Unfolded({**summary, "bullets": list(islice(bullets, len(summary["bullets"])))}, told)


def _with_passages(finder: PassageFinder, rows: Sequence[Mapping[str, Any]], numbers: str) -> list[Mapping[str, Any]]:
    """Return targets or bullets with the passages of the documents whose *numbers* they hold."""
    passages = finder.passages([row["text"] for row in rows], [row[numbers] for row in rows])
    return [{**row, "passages": own} for row, own in zip(rows, passages, strict=True)]


# ---------------------------------------------------------------- summaries

DRILLDOWN = "report/drilldown.jsonl.gz"
_OF_OLDER_RUNS = "report/drilldown.json.gz"
_LEVEL = 6  # of compression: 9 takes twice as long for 3 % less


def keep_unfolded(run: Folder, unfolded: Iterable[Unfolded]) -> None:
    """Store summaries with their queries beside the results, a line each, so that pages can be written from these."""
    keep_lines(run, DRILLDOWN, _contents(unfolded))
    run.delete(_OF_OLDER_RUNS)


def _contents(unfolded: Iterable[Unfolded]) -> Iterator[Mapping[str, object]]:
    query_id = None
    for summary, query in unfolded:
        if summary["query_id"] != query_id:
            query_id = summary["query_id"]
            yield {"query_id": query_id, "query": query}
        yield {"summary": summary}


def keep_lines(run: Folder, name: str, contents: Iterable[Mapping[str, object]]) -> None:
    """Store JSON objects, a gzipped line each, which `Folder.lines` reads."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "lines"
        with path.open("wb") as raw, gzip.GzipFile("", "wb", _LEVEL, raw, mtime=0) as file:
            for content in contents:
                file.write((json.dumps(content, allow_nan=False) + "\n").encode())
        run.upload(path, name)


def kept_unfolded(run: Folder) -> Iterator[Unfolded]:
    """Yield what `keep_unfolded` stored; that of an older version is read whole."""
    if not run.has(DRILLDOWN):
        yield from unfolded_of(json.loads(gzip.decompress(run.read_bytes(_OF_OLDER_RUNS))))
        return
    for content in run.lines(DRILLDOWN):
        if "query" in content:
            query: QueryFacts = content["query"]
        else:
            yield Unfolded(content["summary"], query)
