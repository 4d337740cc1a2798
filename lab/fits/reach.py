"""Tables of what the fitted components reach."""

from __future__ import annotations

from collections.abc import Sequence

from longform.judges.card_columns import Reach

INTERVALS = {"seed": 1, "resamples": 2000}
"""The seed and the resamples of every interval of a reach table."""


def reach_table(rows: Sequence[Reach]) -> str:
    """The rows as a Markdown table."""
    lines = [f"| {row.measure} | {_interval(row)} | {row.n:,} | {row.fitted_on} | {row.scored_on} |" for row in rows]
    header = ["| measure | value [95 %] | n | fitted on | measured on |", "| --- | --- | --- | --- | --- |"]
    return "\n".join([*header, *lines])


def _interval(row: Reach) -> str:
    digits = 1 if max(abs(row.value), abs(row.high or 0)) > _SHARE_AT_MOST else 3
    value = f"{row.value:.{digits}f}"
    return value if row.low is None or row.high is None else f"{value} [{row.low:.{digits}f}, {row.high:.{digits}f}]"


_SHARE_AT_MOST = 2.0
"""Larger values are percent or points, and have one decimal."""
