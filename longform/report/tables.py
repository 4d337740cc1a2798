"""The tables of a report, before anything is said about Markdown or HTML: rows of cells under heads."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple
from urllib.parse import quote, urlencode

from longform.repair.twins import twin_label
from longform.results.cells import AnyRow, Columns, main_measure, number_in, text_in, within
from longform.settings.systems import SystemName
from longform.tables.cells import NOT_RECORDED, TextCell, words
from longform.tables.layout import below_originals
from longform.tables.table import Column

NOT_RUN = "not run with this setting"

_ORDERS = ("top", "middle", "bottom", "random")
_SETTINGS = {"random": -1, "Rand": -1, "oracle": 1, "Orac": 1, "full": 2, "Full": 2}
"""Places of settings by our names and by SummHay's; others stand at 0, as they come."""

EXTREMES = ("oracle", "Orac", "full", "Full")
"""Settings that SummHay's table 5 shows."""

_ORACLES = ("oracle", "Orac")


class ShownTable(NamedTuple):
    """
    Cells by the names of their columns, with what is said of them in a caption of at most about two lines.

    `how` says what each number means and which direction is better. `judged`: the caption names a judge of the page on
    judges. The first `n_names` columns say what a row is about; if there is none, all columns stand together.
    """

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Mapping[str, TextCell]]
    how: str = ""
    judged: bool = False
    n_names: int = 0

    @property
    def cells(self) -> list[list[TextCell]]:
        """The cells of each row in the order of the columns."""
        return [[row[column.name] for column in self.columns] for row in self.rows]


def whole_head(column: Column) -> str:
    """Return the head of a column behind that of its group, for places without upper heads."""
    return f"{column.group}: {column.head}" if column.group else column.head


_WIDTH = 160
"""Characters of a row that fit a window of 1280 pixels."""
_WRAPPED = 24
"""Characters of a column of texts, which are wrapped."""


def cut_wide(table: ShownTable) -> list[ShownTable]:
    """Return *table*, or parts of it of about the same width if its columns do not fit a window."""
    names, values = table.columns[: table.n_names], table.columns[table.n_names :]
    widths = [_width(table, column) for column in values]
    n_parts = -(-sum(widths) // max(1, _WIDTH - sum(_width(table, column) for column in names)))
    if n_parts < 2 or not names or any(column.group for column in table.columns):
        return [table]
    parts = groupby(range(len(values)), lambda place: sum(widths[:place]) * n_parts // sum(widths))
    return [
        table._replace(
            caption=f"{table.caption} Columns {places[0] + 1} to {places[-1] + 1} of {len(values)}.".strip(),
            columns=[*names, *(values[place] for place in places)],
            how="" if places[0] else table.how,
        )
        for places in ([*own] for _, own in parts)
    ]


def _width(table: ShownTable, column: Column) -> int:
    cells = [row[column.name] for row in table.rows]
    width = 3 + max(len(text or "") for cell in cells for text in (cell.text, cell.detail, column.head))
    return min(width, _WRAPPED) if column.unit == "text" else width


def reason(row: Columns, field: str) -> str:
    """Say why *field* of *row* is unknown."""
    return str(within(row, "reasons").get(field) or NOT_RECORDED)


def is_position_row(row: Columns) -> bool:
    """Return whether the documents of a row's system were ordered on purpose."""
    return within(row, "axes").get("order") in _ORDERS


IN_SAMPLE = "in sample"
ELSEWHERE = "written elsewhere"
TWIN = "↳ "
"""Before what a twin differs by, in the row below its original."""


def summarizer_cell(row: Columns) -> TextCell:
    """Name the summarizer of a row; a twin below its original says that it is one, and what chose its citations."""
    name, chosen_by = row.get("summarizer"), text_in(row, "cited_by")
    cell = words(name, reason=reason(row, "summarizer"))._replace(detail=mark_of(row, "summarizer"))
    if name is None or not row.get("twin_of"):
        return cell
    return cell._replace(text=f"{TWIN}repaired twin{f': {twin_label(chosen_by)}' if chosen_by else ''}", beside=True)


def mark_of(row: Columns, part: str) -> str | None:
    """Return the marks of what a part of a row is: made by a fitted model, or written elsewhere; None: nothing."""
    marked = row.get("in_sample")
    said = [IN_SAMPLE] if isinstance(marked, list) and part in marked else []
    said += [ELSEWHERE] if part == "summarizer" and row.get("elsewhere") else []
    return f"({', '.join(said)})" if said else None


def system_of(row: Columns) -> SystemName:
    """Return the system of a row."""
    return SystemName(str(row["summarizer"]), str(row["setting"]))


def distinct(rows: Iterable[Columns], field: str) -> list[str]:
    """The values of *field*, each once, in order of appearance."""
    return list(dict.fromkeys(str(row[field]) for row in rows))


def settings_of(cells: Iterable[Columns]) -> list[str]:
    """Random first, oracle and full last, as SummHay's table 2 has them; the rest as they come."""
    return sorted(distinct(cells, "setting"), key=lambda setting: _SETTINGS.get(setting, 0))


def has_oracle(cells: Iterable[Columns]) -> bool:
    """Tell whether a cell is of the oracle retriever."""
    return any(cell["setting"] in _ORACLES for cell in cells)


def oracle_told(cells: Iterable[Columns]) -> list[str]:
    """Say what the oracle retriever is given, if a cell is of it."""
    told = "The setting oracle reads the gold labels to choose its documents: a bound for its budget, and no rival."
    return [told] if has_oracle(cells) else []


def is_wide(cells: Collection[Columns]) -> bool:
    """Return whether a grid of summarizers by settings reads better than a row a system."""
    originals = [cell for cell in cells if not cell.get("twin_of")]
    n_settings, n_summarizers = len(settings_of(cells)), len(distinct(originals, "summarizer"))
    return n_summarizers > 1 and n_settings <= n_summarizers


def is_grid(cells: Collection[Columns]) -> bool:
    """Return whether several settings are columns; systems of one setting are rows with their intervals."""
    return is_wide(cells) and len(settings_of(cells)) > 1


def best_first(cells: Iterable[AnyRow]) -> list[AnyRow]:
    """Cells by their main measure, unknown ones last, each with its twin below it."""

    def value(cell: Columns) -> float:
        known = number_in(cell, main_measure(cell))
        return -1.0 if known is None else known

    return below_originals(sorted(cells, key=value, reverse=True), "setting", "judge", "dataset")


def summarizers_by_joint(cells: Sequence[Columns]) -> list[str]:
    """
    Return summarizers by their joint score with the oracle retriever, by their best if nobody has one.

    A twin stands behind its original.
    """
    oracle = [cell for cell in cells if cell["setting"] in _ORACLES]
    ranked = [*best_first(oracle), *best_first(cells)]
    once = {cell["summarizer"]: {name: cell.get(name) for name in ("summarizer", "twin_of")} for cell in ranked}
    return distinct(below_originals(once.values()), "summarizer")


MATRIX = "matrix.html"
"""The page of queries and systems, beside the pages with tables."""

_FIELDS = ("summarizer", "setting", "judge", "dataset")


def summaries_fragment(row: Columns, measure: str) -> str:
    """
    Return the fragment that names the summaries whose mean a row states, and the measure that is meant.

    It has the form of a query string, `summarizer=S&setting=T&judge=J&dataset=D&measure=M`, which stands behind
    `matrix.html#`. A field that a row lacks is left out: without `judge` the measure is without a judge, and without
    `dataset` the run has one data set or states none.
    """
    named = [(field, value) for field in _FIELDS if (value := text_in(row, field))]
    return urlencode([*named, ("measure", measure)], quote_via=quote, safe="")
