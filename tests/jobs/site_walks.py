"""Read a run from its tables, and look at its pages: for tests that walk through a site."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from actors.storage.folder import Folder
from jobs.results.documents import kept_documents
from jobs.results.drilldown import kept_unfolded
from longform.results.drilldown import QueryFacts, SummaryFacts, Unfolded


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
        tag: Its name.
        words: That name it, or its text.
        seen: Whether it stands within the window, with an outline of its own.
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
