"""
Pages that a script unfolds: summaries one by one, documents with the passage behind a citation, and the matrix.

Each cell of the matrix leads to a summary, each of its systems to the summaries behind its mean.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import accumulate, groupby
from typing import Any
from urllib.parse import quote, urlencode

from longform.report.page import PageLink, rendered
from longform.report.page_data import (
    PAGE_BYTES,
    PLACES,
    SMALL_PAGE_BYTES,
    Block,
    blocks_data,
    fitting,
    page_data,
    paged,
)
from longform.report.parts import haystack_name
from longform.report.sections import Side
from longform.report.site import SUMMARIES, Numbered, ReportSite, SummaryPage, numbered
from longform.report.tables import MATRIX
from longform.results.cells import all_heads, factor_of, systems_in
from longform.results.evidence import SummaryFacts, Unfolded, unlisted
from longform.results.passages import DocumentFacts
from longform.results.repaired_examples import Example, examples_in
from longform.results.results import Results
from longform.tables.table import Column
from longform.text.citations import without_citations

DOCUMENTS_LINK = PageLink(
    "documents-0001.html", "Documents", "The texts that summaries cite, with the passage behind a citation."
)

MOST_OF_ONE = 1_000_000
"""Most bytes of one document on a page; the rest is left out, and the page says so."""


DocumentFiles = Sequence[Mapping[str, Any]]
"""The pages of documents: the file, a haystack on it, and the first and the last number of its documents there."""


def document_pages(
    documents: Iterable[DocumentFacts], name: Callable[[str], str], *, most_bytes: int = PAGE_BYTES
) -> Iterator[list[Block]]:
    """
    Yield the documents of pages of at most *most_bytes* of data, cut if too long; those of a haystack come together.

    *name* returns the name of a haystack for readers.
    """
    blocks = (
        Block(one["haystack"], [one["number"]], page_data(documents=[{**one, "topic": name(one["haystack"])}]))
        for one in map(_cut, documents)
    )
    yield from paged(blocks, most_bytes=most_bytes)


def _cut(document: DocumentFacts) -> DocumentFacts:
    sizes = accumulate(len(piece.encode()) for piece in document["pieces"])
    shown = document["pieces"][: sum(size <= MOST_OF_ONE for size in sizes)]
    return {**document, "pieces": shown, "left_out": sum(map(len, document["pieces"][len(shown) :]))}


def documents_html(site: ReportSite, page: Sequence[Block], place: Numbered) -> str:
    """Return a page of documents, which loads nothing."""
    return _unfolding(site, DOCUMENTS_LINK, "documents", blocks_data(page), place=place)


def _unfolding(
    site: ReportSite, link: PageLink, kind: str, data: str, *, place: Numbered | None = None, note: str | None = None
) -> str:
    """Return the page of *data* of a kind that `texts.html.j2` knows, at a *place* among others of its kind."""
    title = link.title if place is None or place.alone else f"{link.title} (page {place.number})"
    here = site.here(link.file, title=title)
    return rendered("texts.html.j2", site.title, here, kind=kind, data=data, place=place, note=note)


_OF_SUMMARY = ("summary_id", "setting", "summarizer", "order", "failure", "repeat")
_OF_QUERY = ("haystack", "topic", "subtopic", "text")


def packed_summaries(
    unfolded: Iterable[Unfolded],
    points: Collection[str],
    name: Callable[[str], str] = str,
    *,
    most_bytes: int = PAGE_BYTES,
    small_bytes: int = SMALL_PAGE_BYTES,
) -> Iterator[list[Block]]:
    """
    Yield the summaries of each page in blocks of a query; scores by measures in *points* are points, as in tables.

    A query whose summaries do not fit into a page has several blocks; *name* tells haystacks to readers.

    Raises:
        LongformError: A verdict names a target that its query does not list.
    """
    own = (list(some) for _, some in groupby(unfolded, lambda one: one.summary["query_id"]))
    written = partial(_query_data, points=points, name=name)
    blocks = (
        Block(
            some[0].query["haystack"],
            [(one.summary["summary_id"], one.query["text"] or one.summary["query_id"]) for one in some],
            data,
        )
        for query in own
        for some, data in fitting(query, written, _halves, most_bytes)
    )
    yield from paged(blocks, most_bytes=most_bytes, small_bytes=small_bytes)


def _halves(some: list[Unfolded]) -> Sequence[list[Unfolded]]:
    middle = len(some) // 2
    return [some[:middle], some[middle:]] if middle else []


def _query_data(some: Sequence[Unfolded], points: Collection[str], name: Callable[[str], str]) -> str:
    """Return the data of some summaries of a query, which stand within it."""
    summary, query = some[0]
    row = {
        "query_id": summary["query_id"],
        **{field: query.get(field) for field in _OF_QUERY},
        "haystack_name": name(query["haystack"]),
        "targets": [{"kind": "insight", "passages": None, **target} for target in query["targets"]],
        "summaries": [_record(one, points) for one in some],
    }
    return page_data(queries=[row])


def _record(one: Unfolded, points: Collection[str]) -> Mapping[str, Any]:
    summary, query = one
    targets = {target["target_id"] for target in query["targets"]}
    if unknown := {verdict["target_id"] for verdict in summary["verdicts"]} - targets:
        raise unlisted(summary, "verdict on target", min(unknown), len(targets))
    return {
        **{name: summary.get(name) for name in _OF_SUMMARY},
        "bullets": [{"passages": None, "support": None, **bullet} for bullet in summary["bullets"]],
        "verdicts": [
            row if row["probability"] is None else {**row, "probability": _rounded(row["probability"])}
            for row in summary["verdicts"]
        ],
        "scores": [
            {"judge": judge, "measure": measure, "value": _rounded(value, 100 if measure in points else 1)}
            for judge, scores in summary["scores"].items()
            for measure, value in scores.items()
        ],
    }


def _rounded(value: float | None, factor: int = 1) -> float | None:
    return None if value is None else round(factor * value * 10**PLACES) / 10**PLACES  # sooner than `round` with places


def summary_pages(
    site: ReportSite,
    results: Results,
    pages: Iterable[Sequence[Block]],
    files: DocumentFiles = (),
    why_no_documents: str | None = None,
) -> Iterator[tuple[SummaryPage, str]]:
    """
    Yield the pages of summaries as HTML that loads nothing; two are in memory at a time.

    *results* name the topics of haystacks; *files* are the pages of the documents that summaries cite.
    """
    for place, page in numbered("summaries", pages):
        haystacks = list(dict.fromkeys(block.haystack for block in page))
        topic = _topic(results, haystacks)
        link = SUMMARIES._replace(title=f"{SUMMARIES.title}: {topic}")
        data = blocks_data(page, files=[one for one in files if one["haystack"] in haystacks])
        html = _unfolding(site, link, "drilldown", data, place=place, note=why_no_documents)
        summary_ids, words = zip(*(one for block in page for one in block.ids), strict=True)
        yield SummaryPage(place.file, summary_ids, topic, words[0], words[-1]), html


def _topic(results: Results, haystacks: Sequence[str]) -> str:
    """Return words for the haystacks of a page."""
    named = [haystack_name(results, haystack) for haystack in haystacks[:2]]
    more = len(haystacks) - len(named)
    return f"{', '.join(named)} and {more} more" if more else " and ".join(named)


# ---------------------------------------------------------------- documents of repaired citations


class CitedPlaces:
    """Summaries of the examples of results, kept while all summaries pass."""

    def __init__(self, results: Results) -> None:
        examples = examples_in(results.get("tables") or {})
        self._wanted = {one[key] for one in examples for key in ("summary_id", "repaired_id")}
        self._found: dict[str, Unfolded] = {}

    def add(self, one: Unfolded) -> None:
        """Keep a summary of an example."""
        if one.summary["summary_id"] in self._wanted:
            self._found[one.summary["summary_id"]] = one

    def address(
        self, files: DocumentFiles, file_of: Mapping[str, str], example: Example, side: Side, number: str
    ) -> str | None:
        """
        Return where a document of an example stands, in the form of `documentAddress` in `documents.js`.

        None if it stands nowhere, or at no known passage. *file_of* names the page that holds a summary by its id.
        """
        summary_id, place = example["summary_id" if side == "before" else "repaired_id"], int(number)
        if (found := self._found.get(summary_id)) is None:
            return None
        haystack = found.query["haystack"]
        claim = next((claim for at, claim in _claims(example, found) if at == place), None)
        here = (one["file"] for one in files if one["haystack"] == haystack and one["first"] <= place <= one["last"])
        if claim is None or (file := next(here, None)) is None:
            return None
        named = {"haystack": haystack, "document": place, **claim}
        if summary_id in file_of:
            named |= {"page": file_of[summary_id], "summary": summary_id}
        return f"{file}#{urlencode(named, quote_via=quote)}"


def _claims(example: Example, found: Unfolded) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the documents that the bullet cites, then those that state the insight, each with its words and passage."""
    own = [one for one in found.summary["bullets"] if without_citations(one["text"]) == example["bullet"]]
    stated = [target for target in found.query["targets"] if target["text"] == example["insight"]]
    for what, numbers, claims in (("bullet", "citations", own), ("insight", "gold", stated)):
        for one in claims:
            for number, passage in zip(one[numbers], one.get("passages", ()), strict=False):
                marked = {} if passage is None else {"sentence": passage[0], "sentences": passage[1]}
                yield number, {what: one["text"], **marked}


MATRIX_LINK = PageLink(MATRIX, "Matrix", "Every system on every query, coloured by its score.")

MOST_VALUES = 150_000
"""Most values (summaries times measures) of the page; about 2 MB."""


def too_large(results: Results) -> str | None:
    """Return the sentence that says why there is no matrix; None: there can be one."""
    n_values = len(all_heads(results)) * sum(row.get("n_summaries") or 0 for row in systems_in(results))
    if n_values <= MOST_VALUES:
        return None
    return f"There is no matrix of systems and queries: {n_values:,} values are above its limit of {MOST_VALUES:,}."


class MatrixRows:
    """Content of the page for each summary, gathered while the summaries of the results pass."""

    def __init__(self, results: Results) -> None:
        self._results = results
        self._rows = {(row["summarizer"], row["setting"]): row for row in systems_in(results)}
        self._heads: Mapping[str, Column] = {head.name: head for head in all_heads(results)}
        self._queries: dict[str, dict[str, Any]] = {}
        self._systems: dict[tuple[str, str], int] = {}
        self._measures: dict[tuple[str, str], int] = {}
        self._summaries: list[dict[str, Any]] = []

    def add(self, one: Unfolded) -> None:
        """Keep the scores of a summary."""
        summary, query = one
        if self._rows and (summary["summarizer"], summary["setting"]) not in self._rows:
            return  # it repeats another order of documents, and is counted nowhere
        facts = self._queries.setdefault(
            summary["query_id"],
            {
                "place": len(self._queries),
                "text": query["text"] or summary["query_id"],
                "haystack": haystack_name(self._results, query["haystack"]),
                "dataset": query.get("dataset"),
            },
        )
        system = self._systems.setdefault((summary["summarizer"], summary["setting"]), len(self._systems))
        row = {"query": facts["place"], "system": system, "values": self._values(summary)}
        self._summaries.append({"summary_id": summary["summary_id"], **row})

    def _values(self, summary: SummaryFacts) -> list[float | None]:
        values: dict[int, float | None] = {}
        for judge, scores in summary["scores"].items():
            for measure, value in scores.items():
                if (head := self._heads.get(measure)) is not None:
                    place = self._measures.setdefault((judge, measure), len(self._measures))
                    values[place] = None if value is None else round(factor_of(head) * value, PLACES - 2)
        return [values.get(place) for place in range(len(self._measures))]

    def packed(self, file_of: Mapping[str, str]) -> str:
        """Return the page's data: queries, systems, measures, and summaries with their places in these, and files."""
        heads = [(judge, self._heads[name]) for judge, name in self._measures]
        missing = [None] * len(heads)
        return page_data(
            queries=list(self._queries.values()),
            systems=[
                {
                    "summarizer": summarizer,
                    "setting": setting,
                    "twin_of": row.get("twin_of"),
                    "in_sample": int(bool(row.get("in_sample"))),
                }
                for summarizer, setting in self._systems
                for row in [dict[str, Any](self._rows.get((summarizer, setting)) or {})]
            ],
            measures=[
                {"judge": judge, "name": head.name, "title": head.head, "scaled": int(factor_of(head) == 100)}
                for judge, head in heads
            ],
            summaries=[
                {**one, "file": file_of[one["summary_id"]], "values": [*one["values"], *missing[len(one["values"]) :]]}
                for one in self._summaries
            ],
        )


def matrix_html(site: ReportSite, data: str) -> str:
    """Return the page of *data* that `MatrixRows.packed` returns, which loads nothing."""
    return _unfolding(site, MATRIX_LINK, "matrix", data)
