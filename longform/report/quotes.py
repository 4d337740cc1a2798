"""Three summaries that a report's first page quotes: the best, the worst, and the one that judges differ about most."""

from __future__ import annotations

import re
from collections.abc import Mapping
from textwrap import shorten
from urllib.parse import quote

from longform.report.measures import head_of, main_measure
from longform.report.parts import main_cells
from longform.report.shown_names import short_systems
from longform.results.drilldown import Unfolded
from longform.results.results import Results

_QUERY_CHARACTERS, _TEXT_CHARACTERS = 200, 360
_MARK = re.compile(r"^\s*[-*•]\s+")  # of a line in a list
_LEAST_SUMMARIES = 3  # of which the best and the worst are two


Quote = Mapping[str, str | None]
"""
A summary in a few lines: `head` says why it is shown, with its scores; `system` wrote it; `query` and `text` are
shortened; `address` is the place of the whole summary, None if no page holds it.
"""


class Quotes:
    """The summaries to quote, found while all summaries of the results pass."""

    def __init__(self, results: Results) -> None:
        cells = [cell for cell in main_cells(results) if not cell.get("twin_of")]
        self._measure = main_measure(cells[0]) if cells else ""
        self._head = head_of(results, self._measure)
        self._judges = list(dict.fromkeys(cell["judge"] or "" for cell in cells if self._measure in cell))
        self._systems = {(cell["summarizer"], cell["setting"]) for cell in cells}
        self._names = short_systems(results)
        self._n = 0
        self._chosen: dict[str, tuple[float, Unfolded]] = {}

    def add(self, one: Unfolded) -> None:
        """Keep a summary if it is the best, the worst or the most disputed so far."""
        own = (one.summary["summarizer"], one.summary["setting"]) in self._systems and one.summary["bullets"]
        if not own or not (scores := self._scores(one)):
            return
        self._n += 1
        sign = -1 if self._head.better == "lower" else 1
        apart = max(scores.values()) - min(scores.values())
        if (first := scores.get(self._judges[0])) is not None:
            self._choose("Best", sign * first, one)
            self._choose("Worst", -sign * first, one)
        if apart > 0:
            self._choose("Most disputed", apart, one)

    def _choose(self, why: str, value: float, one: Unfolded) -> None:
        if why not in self._chosen or value > self._chosen[why][0]:
            self._chosen[why] = value, one

    def _scores(self, one: Unfolded) -> dict[str, float]:
        found = {judge: one.summary["scores"].get(judge, {}).get(self._measure) for judge in self._judges}
        return {judge: value for judge, value in found.items() if value is not None}

    def quotes(self, file_of: Mapping[str, str]) -> list[Quote]:
        """Return the best, the worst and the most disputed summary, as far as there are some; each once."""
        few = self._n < _LEAST_SUMMARIES
        shown: dict[str, Quote] = {}
        for why in ("Most disputed",) if few else ("Best", "Worst", "Most disputed"):
            if why in self._chosen:
                one = self._chosen[why][1]
                shown.setdefault(one.summary["summary_id"], self._quote(why, one, file_of))
        return list(shown.values())

    def _quote(self, why: str, one: Unfolded, file_of: Mapping[str, str]) -> Quote:
        summary_id = one.summary["summary_id"]
        factor = 100 if self._head.unit in ("points", "share") else 1
        scores = self._scores(one)
        several = len(scores) > 1
        told = [f"{factor * value:.0f}{f' by {judge}' if several and judge else ''}" for judge, value in scores.items()]
        system = f"{one.summary['summarizer']}, {one.summary['setting']}"
        text = " ".join(_MARK.sub("", bullet["text"]) for bullet in one.summary["bullets"])
        file = file_of.get(summary_id)
        return {
            "head": f"{why}: {', '.join(told)}",
            "system": self._names.get(system, system),
            "query": shorten(one.query["text"], _QUERY_CHARACTERS, placeholder=" …"),
            "text": shorten(text, _TEXT_CHARACTERS, placeholder=" …"),
            "address": None if file is None else f"{quote(file)}#summary={quote(summary_id, safe='')}",
        }
