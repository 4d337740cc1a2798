"""Parts that sections of a report share: their form, the cells that head the report, names of judges."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from longform.metrics.statistics import LEVEL
from longform.report.tables import IN_SAMPLE, Cell, Table, is_position_row, words
from longform.results.cells import CellRow
from longform.results.columns import Columns, OfJudge, text_in
from longform.results.faithfulness_rows import FaithfulCell
from longform.results.repair import Example
from longform.results.results import JudgeRow, Results

NO_CARD = "no card: how well it agrees with people is not known"
NO_DATASET = "not stated"
INTERVAL = f"Brackets: {100 * LEVEL:.0f} % interval."


NO_INTERVAL = "No interval: that takes two or more independent queries."


def as_shown(table: Table) -> Table:
    """
    The table without columns of which nothing is known, and with a caption of what it holds.

    A column of unknowns that share a reason is named in the caption, which announces brackets only if there are some.
    """
    unknown = {place: reason for place in range(len(table.columns)) if (reason := _why_nothing(table, place))}
    caption = table.caption
    if not any(cell.detail and "[" in cell.detail for row in table.rows for cell in row):
        caption = caption.replace(INTERVAL, NO_INTERVAL)
    for reason in dict.fromkeys(unknown.values()):
        names = ", ".join(table.columns[place].name for place in unknown if unknown[place] == reason)
        caption = f"{_without_definitions(caption, unknown, table)} Left out: {names} ({reason})."
    kept = [place for place in range(len(table.columns)) if place not in unknown]
    return Table(
        caption, [table.columns[place] for place in kept], [[row[place] for place in kept] for row in table.rows]
    )


def _without_definitions(caption: str, places: Iterable[int], table: Table) -> str:
    """The caption without the sentences "Name: what it is." of columns that are not shown."""
    for place in places:
        caption = re.sub(rf" ?\b{re.escape(table.columns[place].name.capitalize())}: [^.:]*\.", "", caption)
    return caption


def _why_nothing(table: Table, place: int) -> str | None:
    """Return why no cell of an ungrouped column is known, if all have one reason."""
    column, cells = table.columns[place], [row[place] for row in table.rows]
    reasons = {cell.reason for cell in cells if cell.text is None}
    if not cells or column.group or not column.numeric or any(cell.text is not None for cell in cells):
        return None
    return reasons.pop() if len(reasons) == 1 else None


class Section(NamedTuple):
    anchor: str
    title: str
    paragraphs: list[str]
    tables: list[Table]
    listing: str | None = None  # shown as it is, in a fixed-width face
    examples: Sequence[Example] = ()  # bullets before and after repair
    chooser: str | None = None  # data of the chooser of pairs, safe within a script; None: there is none


def main_cells(results: Results) -> list[CellRow]:
    """Return the cells that head the report: those whose documents were not ordered on purpose."""
    return [cell for cell in results.get("cells") or [] if not is_position_row(cell)]


class Judged(NamedTuple):
    """Identifies one table: a judge, and a data set if there are several."""

    judge: str | None  # None: measures that need none
    dataset: str | None


JudgedRow = TypeVar("JudgedRow", bound=OfJudge)


def by_judge(rows: Sequence[JudgedRow]) -> Iterator[tuple[Judged, list[JudgedRow]]]:
    """Yield each judge with its rows, those of each data set by themselves, in order of appearance."""
    several = has_datasets(rows)
    for judge in dict.fromkeys(row["judge"] for row in rows):
        own = [row for row in rows if row["judge"] == judge]
        for dataset in dict.fromkeys(_dataset(row) for row in own):
            found = [row for row in own if _dataset(row) == dataset]
            yield Judged(judge, (dataset or NO_DATASET) if several else None), found


def by_panel(rows: Sequence[JudgedRow]) -> Iterator[tuple[Judged, dict[str, list[JudgedRow]]]]:
    """Yield each judge with its rows by data set, for a figure with a panel each; an empty name: there is only one."""
    several = has_datasets(rows)
    for judge in dict.fromkeys(row["judge"] for row in rows):
        panels: dict[str, list[JudgedRow]] = {}
        for row in rows:
            if row["judge"] == judge:
                panels.setdefault((_dataset(row) or NO_DATASET) if several else "", []).append(row)
        yield Judged(judge, None), panels


def _dataset(row: Columns) -> str | None:
    return text_in(row, "dataset")  # rows of older results have none


def has_datasets(rows: Sequence[Columns]) -> bool:
    """Return whether *rows* are of more than one data set."""
    return len({_dataset(row) for row in rows}) > 1


def repeats_told(rows: Sequence[CellRow] | Sequence[FaithfulCell]) -> list[str]:
    """Say which systems of *rows* summarised each context several times, and how that counts."""
    named = {f"{row['summarizer']}, {row['setting']}": row["n_repeats"] for row in rows if row.get("n_repeats", 1) > 1}
    if not named:
        return []
    told = "; ".join(f"{name} ({n})" for name, n in named.items())
    words = f"Summarised several times from the same documents: {told}. The repeats of a query are averaged within it"
    return [f"{words} and count as one summary; counts of summaries are of all."]


def failures_told(rows: Sequence[CellRow]) -> list[str]:
    """Say of which systems of *rows* summaries failed, and why."""
    found = {
        f"{row['summarizer']}, {row['setting']}": f"{row['n_failed']} of {row['n_summaries']} ({_reasons(row)})"
        for row in rows
        if row.get("failures")
    }
    if not found:
        return []
    told = "; ".join(f"{name}: {failed}" for name, failed in found.items())
    return [f"Summaries that failed stand in no mean. {told}."]


def _reasons(row: CellRow) -> str:
    return ", ".join(f"{reason} {n}" for reason, n in (row.get("failures") or {}).items())


def dataset_words(row: Columns) -> str:
    """Name the data set of a row."""
    return f"Data set {_dataset(row) or NO_DATASET}"


def judge_line(results: Results, judge: Judged | str) -> str:
    """The data set, the judge's name, and its card's line, which names its scale, or plainly that it has none."""
    name, dataset = (judge, None) if isinstance(judge, str) else judge
    if name is None:
        return "Without a judge" if dataset is None else f"Data set {dataset}, without a judge"
    row = _judge_row(results, name)
    told = row.get("card") or "; ".join(part for part in (row.get("scale"), card_words(row)) if part)
    in_brackets = "; ".join(part for part in (row.get("in_sample"), told) if part)
    return f"{'' if dataset is None else f'Data set {dataset}. '}Judge {name} ({in_brackets})"


def short_judge_line(results: Results, judge: str) -> str:
    """The judge's name with its scale, if its card has been told before; `judge_line` of a judge without a card."""
    row = _judge_row(results, judge)
    if not row.get("card"):
        return judge_line(results, judge)
    in_brackets = "; ".join(part for part in (row.get("in_sample"), row.get("scale"), "card: above") if part)
    return f"Judge {judge} ({in_brackets})"


def with_short_cards(results: Results, caption: str) -> str:
    """Return *caption* with the name and the scale alone of each judge, whose card another caption tells."""
    for row in results.get("judges") or []:
        caption = caption.replace(judge_line(results, row["judge"]), short_judge_line(results, row["judge"]))
    return caption


def card_words(row: JudgeRow) -> str:
    """The line of a judge's card, or why it has none."""
    reason = f" ({row['card_reason']})" if row.get("card_reason") else ""
    return str(row.get("card") or f"{NO_CARD}{reason}")


def judge_cell(results: Results, judge: object, *, reason: str | None = None) -> Cell:
    """A judge's name in a table, with its scale where it has one: scores on two scales are not comparable."""
    row = _judge_row(results, judge)
    marks = [part for part in (IN_SAMPLE if row.get("in_sample") else None, row.get("scale")) if part]
    return words(judge, reason=reason)._replace(detail="; ".join(marks) or None)


def in_sample_told(results: Results) -> str | None:
    """Explain the mark in the tables; return None if nothing bears it."""
    rows = [*(results.get("cells") or []), *(results.get("retrieval") or [])]
    judges = [row for row in results.get("judges") or [] if row.get("in_sample")]
    if not judges and not any(row.get("in_sample") for row in rows):
        return None
    return (
        f"{IN_SAMPLE.capitalize()}: a model that ships made the figure (citations of a twin, summaries, a ranking or "
        "verdicts), and was fitted on insights of these very data. Such figures are higher than on other data."
    )


def _judge_row(results: Results, judge: object) -> JudgeRow:
    unknown: JudgeRow = {"judge": str(judge), "scale": None, "card": None, "card_reason": None}
    return next((row for row in results.get("judges") or [] if row["judge"] == judge), unknown)
