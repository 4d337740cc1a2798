"""Tables as text for other programs and for people: CSV, LaTeX and a terminal; JSON is `Table.as_json`."""

from __future__ import annotations

import csv
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from longform.metrics.statistics import Estimate
from longform.tables.cells import TextCell, cell_rows
from longform.tables.layout import visible
from longform.tables.table import Column, Table
from longform.text.visible import plain_cell

_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{mark: f"\\{mark}" for mark in "&%$#_{}"},
    }
)


def csv_text(table: Table) -> str:
    """
    Return a table as CSV in the numbers that it has, which no unit has scaled.

    An estimate is a column of its value and two of its bounds, NAME_low and NAME_high; the reasons of a column's
    unknowns stand in NAME_reason.
    """
    parts = {column.name: list(_parts(table, column)) for column in table.columns}
    rows = [
        {f"{name}{part}": value for name, found in parts.items() for part, value in found[place].items()}
        for place in range(len(table.rows))
    ]
    whole = {name: list(dict.fromkeys(part for row in found for part in row)) for name, found in parts.items()}
    return csv_of([f"{name}{part}" for name, kinds in whole.items() for part in kinds], rows)


def _parts(table: Table, column: Column) -> Iterator[Mapping[str, Any]]:
    for place, row in enumerate(table.rows):
        value, reason = row.get(column.name), table.reason(place, column.name)
        bounds = {"_low": value.low, "_high": value.high} if isinstance(value, Estimate) else {}
        alone = value.value if isinstance(value, Estimate) else value
        yield {"": alone, **bounds, **({"_reason": reason} if reason is not None and alone is None else {})}


def csv_of(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Return *rows* as CSV: lists and mappings are JSON, null is empty, and no cell is a formula."""
    lines: list[str] = []
    ended = SimpleNamespace(write=lambda line: lines.append(line.removesuffix("\r\n")))
    writer = csv.writer(ended, lineterminator="\r\n")  # a carriage return is quoted only if it ends lines
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_field(row.get(name)) for name in columns])
    return "".join(f"{line}\n" for line in lines)


def _field(value: Any) -> Any:
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value
    return plain_cell(text) if isinstance(text, str) else text


def latex_tabular(table: Table) -> str:
    """Return a table as a `tabular` of the package `booktabs`, below its title as a comment; a dash is an unknown."""
    shown = visible(table)
    return "\n".join(
        [
            f"% {' '.join((table.title or table.name).split())}",
            rf"\begin{{tabular}}{{{''.join('l' if column.unit == 'text' else 'r' for column in shown)}}}",
            r"\toprule",
            _latex_row(column.head for column in shown),
            r"\midrule",
            *(_latex_row(with_detail(cell, unknown="--") for cell in row) for row in cell_rows(table)),
            r"\bottomrule",
            r"\end{tabular}",
            "",
        ]
    )


def _latex_row(texts: Iterable[str]) -> str:
    return " & ".join(text.translate(_LATEX) for text in texts) + r" \\"


def with_detail(cell: TextCell, *, unknown: str) -> str:
    """Return the text of a cell with what stands beside it."""
    if cell.text is None:
        return unknown
    return cell.text if cell.detail is None else f"{cell.text} {cell.detail}"


def aligned_text(rows: Sequence[Sequence[str]], *, left: Collection[int]) -> str:
    """Return rows of texts as lines: the columns at *left* begin together, the others end together."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        [
            text.ljust(width) if place in left else text.rjust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        for row in rows
    )
    return "\n".join("  ".join(line).rstrip() for line in lines)
