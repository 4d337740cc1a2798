"""Columns, names and reasons that the tables of faithfulness share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from longform.tables.names import AXES, DATASET, JUDGE, SYSTEM
from longform.tables.table import Column

Row = Mapping[str, Any]
TOP = "faithfulness"
CURVES = "faithfulness_curves"
NO_SCORE = "no sentence could be scored"
NOTHING_THERE = "no sentence is attributed to this place"
SHORTER = "prompts of this system are shorter"
NAMED_BY = (DATASET, *SYSTEM[:2], JUDGE)
SETTING = (*AXES, Column("order", shown=False))
KEY = ("judge", "dataset", "setting", "summarizer")
APART = ("judge", "dataset")


def flat(row: Row) -> dict[str, Any]:
    """Return the columns that name a row, those of its setting each by itself."""
    names = {name: row.get(name) for name in ("judge", "dataset", "summarizer", "setting")}
    axes = row.get("axes") or {}
    return {**names, **{column.name: axes.get(column.name) for column in SETTING}}


def nothing_there(rows: Sequence[Row]) -> list[dict[str, str]]:
    """Return the reason of each value that is unknown because no sentence stands at its place."""
    return [{} if row["value"] and row["value"]["value"] is not None else {"value": NOTHING_THERE} for row in rows]
