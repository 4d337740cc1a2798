"""The first cells of a table's rows: what a row is about."""

from __future__ import annotations

from collections.abc import Sequence

from longform.report.parts import NO_DATASET, has_datasets, judge_cell
from longform.report.tables import Column, reason, setting_cell, summarizer_cell
from longform.results.columns import Columns
from longform.results.results import Results
from longform.tables.cells import Cell, words

NAMES = ("judge", "dataset", "support_judge", "setting", "summarizer", "system")
"""Columns whose cells say what a row is about, with marks beside a name."""


def named(results: Results, row: Columns, names: Sequence[str]) -> list[Cell]:
    """The texts that say what a row is about; a judge with the scale of its scores."""
    return [_name_cell(results, row, name) for name in names]


def _name_cell(results: Results, row: Columns, name: str) -> Cell:
    if name == "judge":
        return judge_cell(results, row.get(name), reason="the measure needs none")
    if name == "summarizer":
        return summarizer_cell(row)
    if name in ("setting", "system"):
        return setting_cell(row, name)
    return words(row.get(name), reason=NO_DATASET if name == "dataset" else reason(row, name))


_HEADS = {"a": "first", "b": "second", "dataset": "data set", "support_judge": "support by", "system": "documents by"}


def with_dataset(rows: Sequence[Columns], *names: str) -> tuple[str, ...]:
    """*names*, and before them the data set where *rows* are of several."""
    return ("dataset", *names) if has_datasets(rows) else names


def name_columns(names: Sequence[str]) -> list[Column]:
    """Return the columns of `named`."""
    return [Column(_HEADS.get(name, name), numeric=False) for name in names]
