"""Tables of the report for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from longform.report.tables import Table
from longform.tables.files import aligned


def plain_lines(table: Table) -> Iterator[str]:
    """Yield the caption and the aligned rows; an unknown is a dash."""
    yield table.caption
    yield from aligned([column.name for column in table.columns], table.rows)
