"""Pages that unfold summaries one by one, by haystack."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from longform.report.document_pages import NO_FILES, DocumentFiles
from longform.report.haystacks import haystack_name
from longform.report.page import rendered
from longform.report.site import SUMMARIES, Site, SummaryPage, numbered
from longform.results.drilldown import PackedPage
from longform.results.results import Results


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
        site: Whose pages they are.
        results: Of the run: the topics of its haystacks.
        pages: What they unfold.
        documents: Where the documents stand that they cite.
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
