"""
The report of a run as a small static site: which pages there are, and what stands on each.

A part of results that is empty or missing leaves its section out, and a page without a section is not there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, pairwise
from typing import NamedTuple, TypeVar, cast

from longform.report.findings import findings
from longform.report.first_page import Quote, forest, leaderboard
from longform.report.overview import clusters_told, facts
from longform.report.page import INDEX, Here, PageLink, check, rendered, sections_html
from longform.report.page_data import fitting
from longform.report.parts import Section, main_cells
from longform.report.plots import Plot
from longform.report.result_tables import shown_of
from longform.report.scores import budgets_told
from longform.report.sections import DocumentOf, figures, sections
from longform.report.tables import ShownTable
from longform.results.cells import all_heads
from longform.results.results import Results
from longform.results.run_status import REFRESH_S, Status, banner

Page = TypeVar("Page")

_SCORES = ("unscored", "table-several-models", "scores")
_MADE = ("table-elsewhere", "made")
GROUPS = {
    PageLink(f"{name}.html", title, line): anchors
    for name, title, line, *anchors in (
        ("scores", "Scores", "Every system on every measure, with intervals.", *_SCORES),
        ("cells", "Every system", "One row for each system, judge and data set, with all counts.", "cells"),
        ("comparisons", "Comparisons", "Which differences are more than chance."),
        ("position", "Position", "Whether the place of a fact in the prompt decides if it is found."),
        ("faithfulness", "Faithfulness", "Whether the documents support what is written."),
        ("retrieval", "Retrieval", "Whether the right documents were found."),
        ("citations", "Citations", "Which citations are right, and what repair changes.", "citation"),
        ("cost", "Cost", "Quality beside what it cost, and every stage's calls."),
        ("judges", "Judges", "How far each judge agrees with people.", "table-judges"),
        ("benchmark", "Benchmark", "How far to trust the questions and insights.", "audit"),
        ("ran", "How it ran", "Which actors made what, when, and what waited for what.", "ran"),
        ("provenance", "Provenance", "How the numbers were made, and the whole configuration.", *_MADE),
    )
}
"""The pages of tables, in reading order, with the anchors of sections that ask for no page."""

OTHERS = PageLink("studies.html", "Further studies", "Studies of this run's own.")
"""The page of sections that no group names."""

SUMMARIES = PageLink("summaries-0001.html", "Summaries", "Each summary, bullet by bullet.")

_NUMBERED = ("summaries", "documents", "report-summaries")
_SINGLE = ("index", "matrix", "report")


def is_page(file: str) -> bool:
    """Return whether a file bears the name of a page of some report, of this version or an older one."""
    groups = [link.file.removesuffix(".html") for link in (*GROUPS, OTHERS)]
    alone, numbered = "|".join([*groups, *_SINGLE]), "|".join([*groups, *_NUMBERED])
    return re.fullmatch(rf"({alone}|({numbered})-\d{{4,}})\.html", file) is not None


class SummaryPage(NamedTuple):
    """A page of summaries, as the first page links to it."""

    file: str
    summary_ids: Sequence[str]
    topic: str
    first: str
    last: str


class ReportSite(NamedTuple):
    """
    The pages of a report before they are written.

    The first page stands first among the entries of `nav`; `tables` are the pages of tables with their sections.
    """

    title: str
    nav: Sequence[PageLink]
    tables: Sequence[tuple[PageLink, Sequence[Section]]]
    so_far: Status | None = None  # of a run that goes on; None: it is done

    def here(self, file: str, *, title: str | None = None) -> Here:
        """Return the place of the page of an entry in `nav`, which has the title of the entry if none is given."""
        entry = next(link for link in self.nav if link.file == file)
        placed = Here(self.nav, file, None if file == INDEX else title or entry.title)
        if self.so_far is None:
            return placed
        anew = file == INDEX and self.so_far["goes_on"]  # on other pages a reader's filters would be lost
        return placed._replace(banner=banner(self.so_far, anew=anew), refresh=str(REFRESH_S) if anew else None)


def site_of(results: Results, *, beside: Sequence[PageLink] = ()) -> ReportSite:
    """
    Lay the sections that *results* have anything for out over pages; *beside* are pages that are made otherwise.

    Raises:
        LongformError: `results` lack a title, or say something that cannot be reported.
    """
    check(results)
    left = {section.anchor: section for section in sections(results)}
    asked = {link: [one.anchor for one in left.values() if f"{one.page}.html" == link.file] for link in GROUPS}
    tables = [
        (link, [left.pop(anchor) for anchor in (*anchors, *asked[link]) if anchor in left])
        for link, anchors in GROUPS.items()
    ]
    tables.append((OTHERS, list(left.values())))
    filled = [(link, own) for link, own in tables if own]
    first = PageLink(INDEX, "Overview", "What was run, and what came out.")
    nav = [first, *(link for link, _ in filled), *beside]
    return ReportSite(results["title"], nav, filled, results.get("so_far"))


def site_pages(
    site: ReportSite,
    results: Results,
    *,
    summaries: Sequence[SummaryPage] = (),
    file_of: Mapping[str, str] | None = None,
    document_of: DocumentOf | None = None,
    quotes: Sequence[Quote] = (),
) -> Iterator[tuple[str, str]]:
    """
    Yield the file and the text of each page of tables, and of the first page last: it stands if all others do.

    *file_of* names the page that holds a summary by its id; the first page quotes *quotes*.
    """
    made = partial(sections_html, file_of=file_of, document_of=document_of)
    for link, own in site.tables:
        shown = [(section, figures(section.anchor, results)) for section in own]
        yield from _in_parts(site, link, shown, made)
    yield (
        INDEX,
        rendered(
            "index.html.j2",
            site.title,
            site.here(INDEX),
            findings=findings(results),
            told=[*clusters_told(results.get("clusters")), *budgets_told(main_cells(results))],
            facts=facts(results),
            forest=forest(results),
            leaderboard=None if (board := leaderboard(results)) is None else shown_of(results, board)[0],
            quotes=quotes,
            pages=summaries,
            n_summaries=sum(len(page.summary_ids) for page in summaries),
        ),
    )


def _in_parts(
    site: ReportSite, link: PageLink, shown: Sequence[Shown], made: Callable[..., str]
) -> Iterator[tuple[str, str]]:
    """Yield the page of an entry, or the pages that it takes to keep each of them small."""

    def page(some: Sequence[Shown], part: int | None = None, files: Sequence[str] = ()) -> str:
        here = site.here(link.file, title=None if part is None else f"{link.title}, part {part}")
        return made(site.title, some, here=here, parts=files)

    found = in_parts(shown, page)
    if len(found) == 1:
        yield link.file, found[0][1]
        return
    name = link.file.removesuffix(".html")
    files = [link.file, *(f"{name}-{part:04d}.html" for part in range(2, len(found) + 1))]
    for number, (file, (some, _)) in enumerate(zip(files, found, strict=True), start=1):
        yield file, page(some, number, files)


def moved_html(to: str) -> str:
    """Return a page that stands in place of a first page, and leads to the one at the address *to*."""
    return rendered("base.html.j2", "This run is done", Here(refresh=f"0; url={to}"), to=to)


class Numbered(NamedTuple):
    """A page's place among those of its kind; None: it is the first, or the last."""

    file: str
    number: int  # from 1
    before: str | None
    after: str | None

    @property
    def alone(self) -> bool:
        return self.before is None and self.after is None


def numbered(kind: str, pages: Iterable[Page]) -> Iterator[tuple[Numbered, Page]]:
    """Yield pages with their places, in files of a kind that `is_page` knows; two pages are in memory at a time."""
    for number, (page, after) in enumerate(pairwise(chain(pages, [None])), start=1):
        before, file, behind = (f"{kind}-{number + step:04d}.html" for step in (-1, 0, 1))
        place = Numbered(file, number, before if number > 1 else None, None if after is None else behind)
        yield place, cast("Page", page)


def points(results: Results) -> list[str]:
    """Return the measures that are shown in points."""
    return [head.name for head in all_heads(results) if head.unit == "points"]


# ---------------------------------------------------------------- pages that would grow without end

MOST_BYTES = 2_900_000
"""Most bytes of a page with all its markup."""

Shown = tuple[Section, Sequence[Plot]]


def in_parts(
    shown: Sequence[Shown], render: Callable[[Sequence[Shown]], str], *, most_bytes: int = MOST_BYTES
) -> list[tuple[Sequence[Shown], str]]:
    """Return *shown* with its page as *render* makes it, or the fewest halvings of it whose pages are small."""
    return list(fitting(shown, render, _halves, most_bytes))


def _halves(shown: Sequence[Shown]) -> Sequence[Sequence[Shown]]:
    """Cut between sections, else between a section's figures and tables, tables, or rows; none: it is one thing."""
    if len(shown) > 1:
        middle = len(shown) // 2
        return shown[:middle], shown[middle:]
    section, drawn = shown[0]
    bare = section._replace(paragraphs=[], listing=None, examples=(), chooser=None)
    tables = section.tables
    if drawn and tables:
        return [(section, ())], [(bare._replace(tables=[]), drawn)]
    if len(tables) > 1:
        middle = len(tables) // 2
        return [(section._replace(tables=tables[:middle]), drawn)], [(bare._replace(tables=tables[middle:]), ())]
    rows = _row_halves(tables[0]) if tables else None
    if rows is None:
        return []
    return [(section._replace(tables=[rows[0]]), drawn)], [(bare._replace(tables=[rows[1]]), ())]


def _row_halves(table: ShownTable) -> tuple[ShownTable, ShownTable] | None:
    """Cut a table between two rows, but not between an original and the twin below it."""
    for middle in range(len(table.rows) // 2, 0, -1):
        if not any(cell.beside for cell in table.rows[middle].values()):
            return table._replace(rows=table.rows[:middle]), table._replace(rows=table.rows[middle:])
    return None
