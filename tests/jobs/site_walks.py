"""Read a run from its tables, and look at its pages: for tests that walk through a site."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from actors.storage.folder import Folder
from jobs.results.documents import kept_documents, kept_unfolded
from longform.results.evidence import QueryFacts, SummaryFacts, Unfolded

CHOSEN = "(select) => select.selectedOptions[0].textContent"
SHOWN = "(all) => all.filter((one) => one.checkVisibility()).map((one) => one.outerHTML.slice(0, 80))"
HIDDEN = SHOWN.replace("one.check", "!one.check")
FIRST_ROWS = "document.querySelectorAll('tbody tr:nth-child(n+13)').forEach((row) => row.remove())"
CUT = """() => [...document.querySelectorAll("main :is(a[href], h2, h3, p, li, tr)")].filter((one) => {
  if (!one.checkVisibility()) return false;
  const clips = (holder) => getComputedStyle(holder).overflowX !== "visible"
    && (holder.scrollWidth > holder.clientWidth + 1 || holder.scrollHeight > holder.clientHeight + 1);
  for (let holder = one.parentElement; holder.localName !== "main"; holder = holder.parentElement) {
    if (clips(holder)) return true;
  }
  return [...one.getClientRects()].some((box) => box.right > document.documentElement.clientWidth + 1 || box.left < -1);
}).map((one) => one.outerHTML.slice(0, 120))"""
"""Scripts for a page: what is chosen, shown or hidden; removes rows behind the twelfth; finds what is cut on paper."""


class System(NamedTuple):
    summarizer: str
    setting: str

    @property
    def in_matrix(self) -> str:
        return f"{self.summarizer} · {self.setting}"

    @property
    def in_tables(self) -> str:
        return f"{self.summarizer}, {self.setting}"


class Stored:
    """The summaries and documents that a run stored for its pages."""

    def __init__(self, run: Path) -> None:
        folder = Folder(str(run))
        self.unfolded: Mapping[str, Unfolded] = {one.summary["summary_id"]: one for one in kept_unfolded(folder)}
        kept = kept_documents(folder).documents
        self.documents = {(one["haystack"], one["number"]): one for one in kept}

    def of(self, system: System) -> list[Unfolded]:
        wanted = tuple(system)
        found = (one for one in self.unfolded.values())
        return [one for one in found if (one.summary["summarizer"], one.summary["setting"]) == wanted]


def insights_apart(first: Unfolded, second: Unfolded) -> tuple[set[str], set[str]]:
    """Return the texts of the insights that only one of two summaries of a query covers: the first's, the second's."""
    one, other = (_covered(unfolded.summary, unfolded.query) for unfolded in (first, second))
    return one - other, other - one


def _covered(summary: SummaryFacts, query: QueryFacts) -> set[str]:
    texts = {target["target_id"]: target["text"] for target in query["targets"]}
    return {texts[verdict["target_id"]] for verdict in summary["verdicts"] if verdict["answer"] in ("full", "partial")}


def wrong_pairs(one: Unfolded) -> list[int]:
    """Return the cited documents that do not state the insight that their bullet covers, once for each such insight."""
    gold = {target["target_id"]: target["gold"] for target in one.query["targets"]}
    found: list[int] = []
    for verdict in one.summary["verdicts"]:
        if verdict["answer"] in ("full", "partial") and verdict["linked_unit"] is not None:
            cited = one.summary["bullets"][verdict["linked_unit"]]["citations"]
            found += [number for number in cited if number not in gold[verdict["target_id"]]]
    return found


# ---------------------------------------------------------------- looking at a page


def pages_of_each_kind(site: Sequence[Path]) -> list[Path]:
    """Return every page of tables, and of the numbered ones the first of its kind."""
    return [path for path in site if not re.search(r"-(?!0001)\d{4}\.html$", path.name)]


def views_of(site: Sequence[Path], stored: Stored, first: System, second: System, judge: str) -> list[tuple[Path, str]]:
    """Return every kind of page as it opens, and what a reader opens on it: two summaries, a passage, a system."""
    of = {path.name: path for path in site}
    one = stored.of(first)[0]
    other = next(two for two in stored.of(second) if two.query == one.query)
    file = next(
        path
        for path in site
        if path.name.startswith("summaries") and f'"{one.summary["summary_id"]}"' in path.read_text("utf-8")
    )
    beside = f"#compare={one.summary['summary_id']}&with={other.summary['summary_id']}"
    system = f"#summarizer={first.summarizer}&setting={first.setting}&judge={judge}&measure=joint"
    passage = f"#haystack={one.query['haystack']}&document=3&bullet=words&sentence=4&sentences=2"
    opened = [(file, beside), (of["matrix.html"], system), (of["documents-0001.html"], passage)]
    return [*((path, "") for path in pages_of_each_kind(site)), *opened]


def open_summary(run: Path, browse: Any, wanted: Callable[[Unfolded], bool], stored: Stored) -> tuple[Any, Unfolded]:
    """Open the first summary that is wanted, on the page of the matrix that holds its address."""
    one = next(one for one in stored.unfolded.values() if wanted(one))
    page = browse(run / "report" / "matrix.html")
    page.locator(f".matrix a[href$='#summary={one.summary['summary_id']}']").click()
    page.wait_for_selector(".summary .scores")
    return page, one


def shown_rows(table: Any) -> list[str]:
    return [row.inner_text() for row in table.locator("tbody tr").all() if row.is_visible()]


def put_clipboard(page: Any) -> None:
    """Give the page a clipboard that `copied` reads; a page from a disk has none."""
    page.evaluate(
        "window.copied = []; Object.defineProperty(navigator, 'clipboard', {configurable: true,"
        " value: {writeText: async (text) => { window.copied.push(text); }}})"
    )


def copied(page: Any, table: Any, name: str) -> str:
    table.get_by_role("button", name=f"Copy as {name}").click()
    page.wait_for_function("window.copied.length > 0")
    return str(page.evaluate("window.copied.pop()"))


def in_window(page: Any, place: Any) -> bool:
    """Return whether an element stands wholly or, if it is higher than the window, in part within the window."""
    box, window = place.bounding_box(), page.viewport_size
    if box is None or not box["width"] or not box["height"]:
        return False
    top, bottom = max(box["y"], 0), min(box["y"] + box["height"], window["height"])
    return bool(bottom - top >= min(box["height"], window["height"] / 2) and box["x"] < window["width"])


class Focused(NamedTuple):
    """
    The element that has the focus.

    Attributes:
        tag: Name of the element.
        words: Accessible name, or text.
        seen: True if it stands within the window, with an outline of its own.
    """

    tag: str
    words: str
    seen: bool


_FOCUSED = """() => {
  const one = document.activeElement, box = one.getBoundingClientRect(), style = getComputedStyle(one);
  const label = one.getAttribute("aria-label") ?? one.closest("label")?.firstChild.textContent ?? one.textContent;
  const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
  const inside = box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth && box.height > 0;
  return [one.localName, label.trim().slice(0, 80), outlined && inside];
}"""


def focused(page: Any) -> Focused:
    return Focused(*page.evaluate(_FOCUSED))


def tab_to(page: Any, tag: str, words: str, *, most: int = 80) -> list[Focused]:
    """
    Press Tab until the element of *tag* whose name begins with *words* has the focus; return all that had it.

    Raises:
        AssertionError: It is not among the next *most*.
    """
    passed: list[Focused] = []
    for _ in range(most):
        page.keyboard.press("Tab")
        passed.append(focused(page))
        if passed[-1].tag == tag and passed[-1].words.startswith(words):
            return passed
    raise AssertionError(f"expected {tag} {words!r} within {most} presses of Tab, found {passed}")


def unseen(passed: Iterable[Focused]) -> Sequence[Focused]:
    return [one for one in passed if not one.seen]
