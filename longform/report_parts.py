"""What the sections of a report share: their form, the cells that head the report, how a judge is named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from longform.report_tables import Cell, Row, Table, distinct, is_position_setting, words
from longform.statistics import LEVEL

Results = Mapping[str, Any]

NO_CARD = "no card: how well it agrees with people is not known"
INTERVAL = f"Brackets: {100 * LEVEL:.0f} % interval."


class Section(NamedTuple):
    anchor: str
    title: str
    paragraphs: list[str]
    tables: list[Table]
    listing: str | None = None  # shown as it is, in a fixed-width face
    examples: Sequence[Row] = ()  # bullets before and after repair, as the results have them


def main_cells(results: Results) -> list[Row]:
    """The cells that head the report: those whose documents were not ordered on purpose."""
    return [cell for cell in results.get("cells") or [] if not is_position_setting(cell["setting"])]


def by_judge(rows: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
    """Each judge with its rows, in order of appearance."""
    for judge in distinct(rows, "judge"):
        yield judge, [row for row in rows if row["judge"] == judge]


def judge_line(results: Results, judge: str) -> str:
    """A judge's name with its card's line, which names its scale, or plainly that it has none."""
    row = _judge_row(results, judge)
    told = row.get("card") or "; ".join(part for part in (row.get("scale"), NO_CARD) if part)
    return f"Judge {judge} ({told})"


def judge_cell(results: Results, judge: object, *, reason: str | None = None) -> Cell:
    """A judge's name in a table, with its scale where it has one: scores on two scales are not comparable."""
    return words(judge, reason=reason)._replace(detail=_judge_row(results, judge).get("scale"))


def _judge_row(results: Results, judge: object) -> Row:
    return next((row for row in results.get("judges") or [] if row["judge"] == judge), {})
