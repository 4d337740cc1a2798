"""Pages of texts: summaries one by one, and documents in which a citation marks the passage that supports it best."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple
from urllib.parse import quote, urlencode

from longform.report.page import PageLink, rendered
from longform.report.parts import haystack_name
from longform.report.repair import DocumentOf, Side
from longform.report.site import SUMMARIES, Numbered, Site, SummaryPage, numbered
from longform.results.drilldown import (
    PAGE_BYTES,
    Packed,
    PackedPage,
    QueryFacts,
    SummaryFacts,
    Unfolded,
    script_json,
)
from longform.results.passages import DocumentFacts, Passage
from longform.results.repaired_examples import Example, examples_in
from longform.results.results import Results
from longform.text.citations import without_citations

LINK = PageLink(
    "documents-0001.html", "Documents", "The texts that summaries cite, with the passage behind a citation."
)

MOST_OF_ONE = 1_000_000
"""Most bytes of one document on a page; the rest is left out, and the page says so."""


class DocumentsPage(NamedTuple):
    """
    The data of a page.

    Attributes:
        data: JSON that no text in it can end: `haystacks`, each [id, name], and `documents`, each [haystack by its
            place, number, id, title, [sentences with the space behind each], characters left out].
        held: Haystack -> the first and the last number on this page.
    """

    data: str
    held: Mapping[str, tuple[int, int]]


class DocumentFiles(NamedTuple):
    """
    The pages of documents of each haystack.

    Attributes:
        spans: Haystack -> the pages with its documents: file, first and last number.
        why_none: Why there are no such pages; None: there are some, or nobody knows.
    """

    spans: Mapping[str, Sequence[tuple[str, int, int]]]
    why_none: str | None = None

    def json(self, haystacks: Iterable[str]) -> str:
        """Return the spans of some haystacks as JSON that no text in it can end."""
        held: dict[str, list[Packed]] = {one: list(self.spans[one]) for one in haystacks if one in self.spans}
        return "{" + ",".join(f"{script_json(one)}:{script_json(spans)}" for one, spans in held.items()) + "}"

    @property
    def names(self) -> frozenset[str]:
        """Return the names of the files."""
        return frozenset(file for spans in self.spans.values() for file, _, _ in spans)


NO_FILES = DocumentFiles({})


def document_pages(
    documents: Iterable[DocumentFacts], name: Callable[[str], str], *, most_bytes: int = PAGE_BYTES
) -> Iterator[DocumentsPage]:
    """
    Yield pages of at most *most_bytes* of data; one is in memory at a time.

    Args:
        documents: Those of a haystack together, by their numbers.
        name: Of a haystack, for readers.
        most_bytes: Of one page's data.
    """
    haystacks: dict[str, int] = {}
    rows: list[str] = []
    held: dict[str, tuple[int, int]] = {}
    n_bytes = 0

    def page() -> DocumentsPage:
        names = script_json([_named(haystack, name(haystack)) for haystack in haystacks])
        return DocumentsPage(f'{{"haystacks":{names},"documents":[{",".join(rows)}]}}', dict(held))

    for document in documents:
        haystack, number = document["haystack"], document["number"]
        facts = _packed(document)
        size = len(script_json(facts).encode())
        if rows and n_bytes + size > most_bytes:
            yield page()
            haystacks, rows, held, n_bytes = {}, [], {}, 0
        row = script_json([haystacks.setdefault(haystack, len(haystacks)), *facts])
        rows.append(row)
        n_bytes += size + len(haystack.encode()) + 8
        held[haystack] = (held.get(haystack, (number, number))[0], number)
    if rows:
        yield page()


def _named(*words: str) -> Packed:
    return list(words)


def _packed(document: DocumentFacts) -> list[Packed]:
    shown: list[str] = []
    size = 0
    for piece in document["pieces"]:
        size += len(piece.encode())
        if size > MOST_OF_ONE:
            break
        shown.append(piece)
    left_out = sum(map(len, document["pieces"][len(shown) :]))
    return [document["number"], document["doc_id"], document["title"], shown, left_out]


def documents_html(site: Site, page: DocumentsPage, place: Numbered) -> str:
    """
    A page of documents, which loads nothing.

    Args:
        site: Whose page it is.
        page: What it shows.
        place: Among its kind.
    """
    title = LINK.title if place.alone else f"{LINK.title} (page {place.number})"
    here = site.here(LINK.file, title=title)
    return rendered("documents.html.j2", site.title, here, place=place, documents=page.data)


class WrittenPage(NamedTuple):
    link: SummaryPage
    summary_ids: Sequence[str]
    html: str


def summary_pages(
    site: Site, results: Results, pages: Iterable[PackedPage], documents: DocumentFiles = NO_FILES
) -> Iterator[WrittenPage]:
    """
    Yield the pages of summaries, which load nothing; two are in memory at a time.

    Args:
        site: The site that links to the pages.
        results: The results of the run, for the topics of its haystacks.
        pages: The summaries of each page, with their verdicts.
        documents: The pages of the documents that summaries cite.
    """
    for place, page in numbered("summaries", pages):
        topic = _topic(results, page.haystacks)
        title = f"{SUMMARIES.title}: {topic}" + ("" if place.alone else f" (page {place.number})")
        html = rendered(
            "summaries.html.j2",
            site.title,
            site.here(SUMMARIES.file, title=title),
            place=place,
            drilldown=page.data,
            document_files=documents.json(page.haystacks),
            no_documents=documents.why_none,
        )
        yield WrittenPage(
            SummaryPage(place.file, len(page.summary_ids), topic, page.first, page.last), page.summary_ids, html
        )


def _topic(results: Results, haystacks: Sequence[str]) -> str:
    """Return words for the haystacks of a page."""
    named = [haystack_name(results, haystack) for haystack in haystacks[:2]]
    more = len(haystacks) - len(named)
    return f"{', '.join(named)} and {more} more" if more else " and ".join(named)


# ---------------------------------------------------------------- documents of repaired citations


class _Claim(NamedTuple):
    """
    A statement that a document is opened for.

    Attributes:
        what: `bullet` or `insight`.
        words: The statement's words.
        passages: Document -> the passage that shares most with it; None: none shares much.
    """

    what: str
    words: str
    passages: Mapping[int, Passage | None]


class CitedPlaces:
    """
    Summaries of the examples, kept while all summaries pass.

    Args:
        results: Results of the run, with its examples.
    """

    def __init__(self, results: Results) -> None:
        examples = examples_in(results.get("tables") or {})
        self._wanted = {one[key] for one in examples for key in ("summary_id", "repaired_id")}
        self._found: dict[str, Unfolded] = {}

    def add(self, one: Unfolded) -> None:
        """Keep a summary of an example."""
        if one.summary["summary_id"] in self._wanted:
            self._found[one.summary["summary_id"]] = one

    def addresses(self, files: DocumentFiles, file_of: Mapping[str, str]) -> DocumentOf:
        """
        Return the function that says where a document of an example stands; None: nowhere, or at no known passage.

        Its addresses have the form of `documentAddress` in `documents.js`.

        Args:
            files: The files of the documents' pages.
            file_of: Summary id -> the page that holds it.
        """
        return partial(self._address, files, file_of)

    def _address(
        self, files: DocumentFiles, file_of: Mapping[str, str], example: Example, side: Side, number: int
    ) -> str | None:
        summary_id = example["summary_id"] if side == "before" else example["repaired_id"]
        if (found := self._found.get(summary_id)) is None:
            return None
        summary, query = found
        claim = next((one for one in _claims(example, summary, query) if number in one.passages), None)
        spans = files.spans.get(query["haystack"], ())
        file = next((file for file, first, last in spans if first <= number <= last), None)
        if file is None or claim is None:
            return None
        named: dict[str, str | int] = {"haystack": query["haystack"], "document": number, claim.what: claim.words}
        if (passage := claim.passages[number]) is not None:
            named |= {"sentence": passage[0], "sentences": passage[1]}
        if summary_id in file_of:
            named |= {"page": file_of[summary_id], "summary": summary_id}
        return f"{file}#{urlencode(named, quote_via=quote)}"


def _claims(example: Example, summary: SummaryFacts, query: QueryFacts) -> Iterator[_Claim]:
    """Yield the bullet with the documents that it cites, then the insight with those that state it."""
    for bullet in summary["bullets"]:
        if without_citations(bullet["text"]) == example["bullet"] and "passages" in bullet:
            yield _Claim("bullet", bullet["text"], dict(zip(bullet["citations"], bullet["passages"], strict=True)))
    for target in query["targets"]:
        if target["text"] == example["insight"] and "passages" in target:
            yield _Claim("insight", target["text"], dict(zip(target["gold"], target["passages"], strict=True)))
