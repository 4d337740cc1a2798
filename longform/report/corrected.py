"""Means and differences that people's labels correct, as a page and for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from longform.metrics.statistics import EstimateColumns
from longform.report.measures import capitalized
from longform.report.parts import NO_DATASET, JudgedRow, Section, as_shown, has_datasets
from longform.report.plain_tables import plain_lines
from longform.report.tables import Column, Table
from longform.results.corrected import CorrectedDifference, CorrectedRow, Correction
from longform.tables.cells import Cell, number

_DIGITS = {"points": 1, "words": 1, "count": 2}
_TEXTS = frozenset({"measure", "system", "first", "second"})
_HOW = (
    "Corrected: the judge's mean of the summaries that nobody labelled, moved by how far the judge is from people on "
    "the labelled ones (prediction-powered inference). Its 95 % interval is over queries or haystacks; each holds by "
    "itself. Weight: how much of the judge is in it, from 0 (labels alone) to 1. Labels alone: the mean of the "
    "labelled summaries. All of it is right whatever the judge's errors are, if these were drawn at random."
)


def correction_sections(found: Correction) -> list[Section]:
    """Return the sections of the page."""
    people = [f"Labels of {task} by {', '.join(names)}." for task, names in found["annotators"].items()]
    told = [*people, *found["samples"], *found["cautions"], *_unknown(found)]
    sections = [Section("systems", "Systems, corrected by people's labels", told, list(_system_tables(found)))]
    if found["differences"]:
        sections.append(Section("differences", "Differences of two systems", [], list(_difference_tables(found))))
    return [section._replace(tables=[as_shown(table) for table in section.tables]) for section in sections]


def correction_words(found: Correction) -> str:
    """Return the tables, and what to mind, for a terminal."""
    lines = [f"labels of {task} by {', '.join(names)}" for task, names in found["annotators"].items()]
    lines += [*found["samples"], *(f"Mind: {one}" for one in found["cautions"])]
    for table in (*_system_tables(found), *_difference_tables(found)):
        lines += ["", *plain_lines(table)]
    return "\n".join([*lines, "", *_unknown(found)]).rstrip()


def _unknown(found: Correction) -> list[str]:
    """Say why numbers, or their intervals, are unknown."""
    rows = [*found["systems"], *found["differences"]]
    reasons = sorted({reason for row in rows for reason in (row["reason"], row["labels_reason"]) if reason})
    return [f"Without an interval, or unknown: {'; '.join(reasons)}."] if reasons else []


def _system_tables(found: Correction) -> Iterator[Table]:
    for caption, rows in _by_judge(found["systems"]):
        heads = ("measure", "system", "by the judge", "corrected", "labels alone", "weight", "labelled", "summaries")
        columns = [Column(name, numeric=name not in _TEXTS) for name in heads]
        yield Table(f"{caption}: means.", columns, [_system(row) for row in rows], _HOW)


def _difference_tables(found: Correction) -> Iterator[Table]:
    for caption, rows in _by_judge(found["differences"]):
        heads = ("measure", "first", "second", "by the judge", "corrected", "labels alone")
        columns = [Column(name, numeric=name not in _TEXTS) for name in heads]
        yield Table(f"{caption}: the first system less the second.", columns, [_pair(row) for row in rows], "")


def _by_judge(rows: Sequence[JudgedRow]) -> Iterator[tuple[str, list[JudgedRow]]]:
    several = has_datasets(rows)
    for dataset, judge in dict.fromkeys((row["dataset"], row["judge"]) for row in rows):
        on = f"Data set {dataset or NO_DATASET}, judge" if several else "Judge"
        yield capitalized(f"{on} {judge}"), [row for row in rows if (row["dataset"], row["judge"]) == (dataset, judge)]


def _system(row: CorrectedRow) -> list[Cell]:
    return [
        Cell(row["title"]),
        Cell(row["system"]),
        *_estimates(row, sign=False),
        number(row["weight"], digits=2, reason=row["reason"]),
        Cell(f"{row['n_labelled']:,}", order=float(row["n_labelled"])),
        Cell(f"{row['n_summaries']:,}", order=float(row["n_summaries"])),
    ]


def _pair(row: CorrectedDifference) -> list[Cell]:
    return [Cell(row["title"]), Cell(row["first_system"]), Cell(row["second_system"]), *_estimates(row, sign=True)]


def _estimates(row: CorrectedRow | CorrectedDifference, *, sign: bool) -> list[Cell]:
    digits = _DIGITS.get(row["unit"], 2)

    def cell(one: EstimateColumns, reason: str | None) -> Cell:
        shown = number(one["value"], digits=digits, sign=sign, interval=(one["low"], one["high"]), reason=reason)
        no_interval = one["value"] is not None and one["low"] is None
        return shown._replace(detail="(no interval)") if no_interval else shown

    return [
        cell(row["by_judge"], None),
        cell(row["corrected"], row["reason"]),
        cell(row["by_labels"], row["labels_reason"]),
    ]
