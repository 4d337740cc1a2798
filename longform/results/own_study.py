"""The result of a user's study: a table of named columns, with the words of its section."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

from longform.metrics.statistics import Estimate, EstimateColumns

OwnValue = str | float | EstimateColumns | None
"""A cell; None is an unknown."""

OwnRow = Mapping[str, OwnValue | Estimate]
"""A row as a user's class returns it: an Estimate is shown with its interval."""


class OwnStudy(TypedDict):
    title: str
    told: str  # of the table
    rows: Sequence[Mapping[str, OwnValue]]
