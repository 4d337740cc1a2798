"""Columns of a sensitivity to the order of documents, the same for every score."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from longform.metrics.paired_differences import ALPHA
from longform.tables.table import Column

_NOT_IN_ALL = "no query has a score in every order"


def sensitivity_columns(told: str) -> list[Column]:
    """Return the columns; *told* says which distance a sensitivity is."""
    return [
        Column("sensitivity", "points", "sensitivity", told, "lower", unknown=_NOT_IN_ALL),
        Column(
            "chance",
            "points",
            "by chance",
            "the mean sensitivity when orders are exchanged at random within each query, or haystack where these are "
            "taken as independent, which is never 0",
            unknown=_NOT_IN_ALL,
        ),
        Column(
            "chance_high", "points", "by chance, 95 %", "what 95 of 100 exchanges do not exceed", unknown=_NOT_IN_ALL
        ),
        Column("p", "p", "p by itself", "the same, adjusted for nothing", shown=False, unknown=_NOT_IN_ALL),
        Column(
            "p_holm",
            "p",
            "p",
            "the share of such exchanges with at least the sensitivity found, adjusted for the rows (Holm)",
            unknown=_NOT_IN_ALL,
        ),
        Column("finding", unknown=_NOT_IN_ALL),
        Column(
            "n_independent",
            "count",
            "independent",
            "queries or haystacks with a score in every order, on which these rest",
        ),
    ]


def finding(row: Mapping[str, Any]) -> str | None:
    """Say if a sensitivity exceeds what chance gives; None: it was not tested."""
    p, high, value = row.get("p_holm"), row.get("chance_high"), row.get("sensitivity")
    if p is None:
        return None
    if p <= ALPHA:
        return "exceeds chance"
    alone = high is not None and value is not None and value > high
    return "exceeds chance by itself, not among all rows" if alone else "within chance"
