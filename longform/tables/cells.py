"""
Values as they are shown: text with an order to sort by; an unknown is a cell without text and with a reason.

The unit of a column alone decides scale and digits, on a page, in Markdown, in LaTeX and in a terminal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import isfinite
from typing import NamedTuple

from longform.errors import LongformError
from longform.metrics.statistics import Estimate
from longform.tables.table import Column, Table, Unit, Value, names_in, stated_unit

NOT_RECORDED = "no reason recorded"


class TextCell(NamedTuple):
    """Text, with what a click on the column's head sorts by."""

    text: str | None  # None: unknown
    order: float | None = None  # None: sorted by its text
    detail: str | None = None  # smaller, beside the text: an interval or a share
    reason: str | None = None  # why the text is None
    beside: bool = False  # its row belongs below the row above, however the table is sorted
    link: str | None = None  # a page beside this one; None: the text is no link
    mean_of: str | None = None  # the fragment that names the summaries behind the number; None: it is no such mean


class _Shown(NamedTuple):
    factor: float
    digits: int
    before: str = ""
    behind: str = ""
    sign: bool = False
    grouped: bool = False  # by thousands


_SHOWN: Mapping[Unit, _Shown] = {
    "points": _Shown(1, 1),
    "difference": _Shown(1, 1, sign=True),
    "coefficient": _Shown(1, 2),
    "p": _Shown(1, 4),
    "share": _Shown(100, 1, behind=" %"),
    "count": _Shown(1, 0, grouped=True),
    "words": _Shown(1, 1),
    "usd": _Shown(1, 4, before="$", grouped=True),
    "seconds": _Shown(1, 1, behind=" s"),
    "rating": _Shown(1, 2),
    "number": _Shown(1, 1),
}
_SMALL_USD, _SMALL_DIGITS = 0.001, 6  # dollars of which four decimals show hardly a digit
_MANY = 100  # a mean of so many things needs no digit of a part of one


def cell_rows(table: Table) -> list[list[TextCell]]:
    """Return the cells of a table, a row for each of its rows and a cell for each column that is shown."""
    return [
        [row_cell(row, column, table.reason(place, column.name)) for column in table.columns if column.shown]
        for place, row in enumerate(table.rows)
    ]


def with_beside(cell: TextCell, row: Mapping[str, Value], column: Column, table: Table) -> TextCell:
    """Return the cell of a row in a column with what stands beside it."""
    told = [
        f"{other.head}: {text}"
        for other in map(table.column, names_in(column.beside))
        if (text := _text_beside(row, other, but=cell.text)) is not None
    ]
    details = [one for one in (cell.detail, "; ".join(told)) if one]
    return cell if cell.text is None else cell._replace(detail=" ".join(details) or None)


def _text_beside(row: Mapping[str, Value], column: Column, *, but: str | None) -> str | None:
    value = row.get(column.name)
    known = [one for one in value if one != but] if isinstance(value, list) else value
    text = row_cell({**row, column.name: known}, column).text if known else None
    return None if text == but and column.unit == "text" else text


def row_cell(row: Mapping[str, Value], column: Column, reason: str | None = None) -> TextCell:
    """Return the cell of a row in a column, which may hang on other columns of the row: its unit, or a whole."""
    value = row.get(column.name)
    if column.of:
        part, whole = (int(one) if isinstance(one, int | float) else None for one in (value, row.get(column.of)))
        share = f"{100 * part / whole:.0f} %" if part is not None and whole else None
        return words(part, reason=reason)._replace(order=None if part is None else float(part), detail=share)
    cell = value_cell(value, column._replace(unit=stated_unit(row, column)), reason=reason)
    link = row.get(column.link) if column.link else None
    return cell if link is None else cell._replace(link=str(link))


def value_cell(value: Value, column: Column, *, reason: str | None = None) -> TextCell:
    """Return a value in the unit of its column; an estimate has its interval beside it."""
    if isinstance(value, list):
        return words("; ".join(value) or "none")
    if value is None or isinstance(value, str):
        return words(column.none or None if value is None else value, reason=reason)
    unit: Unit = column.unit if column.unit in _SHOWN else "number"  # a number among texts
    how = _SHOWN[unit]
    alone, low, high, _ = value if isinstance(value, Estimate) else Estimate(value, None, None, 1)
    is_small_mean = (isinstance(value, Estimate) or value % 1 != 0) and abs(alone or high or 0) < _MANY
    digits = int(is_small_mean) if unit == "count" else 0 if isinstance(value, int) and unit == "number" else how.digits
    digits = _SMALL_DIGITS if unit == "usd" and alone and abs(alone) < _SMALL_USD else digits
    digits = digits if column.digits is None else column.digits
    digits = 0 if unit == "usd" and alone == 0 else digits  # nothing is no small amount
    shown = partial(number, digits=digits, factor=how.factor, sign=how.sign or column.signed, grouped=how.grouped)
    if alone is None and low is not None and high is not None:
        bounds = [f"{how.before}{shown(bound).text}{how.behind}" for bound in dict.fromkeys((low, high))]
        return TextCell(f"[{', '.join(bounds)}]" if len(bounds) > 1 else bounds[0], order=float(high))
    cell = shown(alone, interval=(low, high), reason=reason)
    sign = cell.text[:1] if cell.text and cell.text[0] in "+-" else ""
    return cell if cell.text is None else cell._replace(text=f"{sign}{how.before}{cell.text[len(sign) :]}{how.behind}")


def number(
    value: float | None,
    *,
    digits: int = 1,
    factor: float = 1,
    sign: bool = False,
    grouped: bool = False,
    interval: Sequence[float | None] | None = None,
    reason: str | None = None,
) -> TextCell:
    """
    Return *value* times *factor* with its interval, or an unknown with its reason.

    Raises:
        LongformError: The value is NaN or infinite, which no number of a report may be.
    """
    if value is None:
        return TextCell(None, reason=reason or NOT_RECORDED)
    if not isfinite(value):
        msg = f"results: expected a finite number or None for an unknown, found {value}; let its maker write None"
        raise LongformError(msg)
    shape, detail = f"{'+' if sign else ''}z{',' if grouped else ''}", None
    if interval is not None and None not in interval:
        bounds = [bound * factor for bound in interval if bound is not None]
        fine = _digits_beside_zero(bounds, digits) if sign else digits
        detail = f"[{', '.join(f'{bound:{shape}.{fine}f}' for bound in bounds)}]"
    return TextCell(f"{value * factor:{shape}.{digits}f}", order=float(value), detail=detail)


def _digits_beside_zero(bounds: Sequence[float], digits: int) -> int:
    """Return at least *digits*, and up to three more if a bound would be shown as the 0 that it is not."""
    for more in range(digits, digits + 3):
        if all(bound == 0 or round(bound, more) != 0 for bound in bounds):
            return more
    return digits + 3


def words(value: object, *, reason: str | None = None) -> TextCell:
    """Return a text; None is unknown."""
    return TextCell(None, reason=reason or NOT_RECORDED) if value is None else TextCell(str(value))
