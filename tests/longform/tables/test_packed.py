"""Large tables are written a column at a time and read as rows."""

from __future__ import annotations

from typing import Any

from longform.metrics.statistics import Estimate
from longform.tables.packed import MOST_ROWS, packed, unpacked
from longform.tables.table import Column, Table


def content(n: int, **more: Any) -> dict[str, Any]:
    rows = [
        {"name": f"s{at % 3}", "other": None, "value": Estimate(0.5, None, 1.0, at), "p": 0.1 * at} for at in range(n)
    ]
    columns = [Column("name"), Column("other"), Column("value", "number"), Column("p", "p"), Column("more")]
    return Table("pairs", columns, [{**row, **more} for row in rows]).as_json()


def test_many_rows_are_written_as_columns_and_read_as_they_were() -> None:
    large = content(MOST_ROWS + 1)
    written = packed({"pairs": large})["pairs"]

    assert written["rows"] == []
    assert written["packed"]["name"]["texts"] == ["s0", "s1", "s2"]
    assert unpacked({"pairs": written}) == {"pairs": large}


def test_few_rows_and_rows_with_lists_stay() -> None:
    for one in (content(MOST_ROWS), content(MOST_ROWS + 1, more=["a"])):
        assert packed({"pairs": one}) == unpacked({"pairs": one}) == {"pairs": one}
