"""Large tables are written a column at a time and read as rows."""

from __future__ import annotations

import json
from typing import Any

import pytest

from longform.metrics.statistics import Estimate
from longform.tables.packed import MOST_ROWS, column, packed, unpacked, values_of
from longform.tables.table import Column, Table


def content(n: int, **more: Any) -> dict[str, Any]:
    rows = [
        {"name": f"s{at % 3}", "other": None, "value": Estimate(0.5, None, 1.0, at), "p": 0.1 * at} for at in range(n)
    ]
    columns = [Column("name"), Column("other"), Column("value", "number"), Column("p", "p"), Column("more")]
    return Table("pairs", columns, [{**row, **more} for row in rows]).as_json()


@pytest.mark.parametrize("more", [{}, {"more": ["a"]}])
def test_many_rows_are_written_as_columns_and_read_as_they_were(more: dict[str, Any]) -> None:
    large = content(MOST_ROWS + 1, **more)
    written = packed({"pairs": large})["pairs"]

    assert written["rows"] == []
    assert written["packed"]["name"]["texts"] == ["s0", "s1", "s2"]
    assert unpacked({"pairs": written}) == {"pairs": large}


def test_few_rows_stay() -> None:
    one = content(MOST_ROWS)
    assert packed({"pairs": one}) == unpacked({"pairs": one}) == {"pairs": one}


@pytest.mark.parametrize(
    "values",
    [
        [],
        [None, None],
        [[1, 2], None, []],
        [[], []],
        ["a", ["a"]],
        [{"name": "a", "more": [{"at": 1}, {"at": None}]}, {"name": "b", "more": []}],
        [{"a": 1}, None],
    ],
)
def test_values_of_any_kind_are_read_as_they_were(values: list[Any]) -> None:
    assert values_of(json.loads(json.dumps(column(values)))) == values
