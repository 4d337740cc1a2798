"""Tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from longform.report.tables import Cell, Table


def plain_lines(table: Table) -> Iterator[str]:
    """Yield the caption and the aligned rows; an unknown is a dash."""
    heads = [column.name for column in table.columns]
    rows = [heads, *([_plain(cell) for cell in row] for row in table.rows)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(heads))]
    yield table.caption
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _plain(cell: Cell) -> str:
    if cell.text is None:
        return "-"
    return cell.text if cell.detail is None else f"{cell.text} {cell.detail}"
