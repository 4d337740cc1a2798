"""
A table of results: its columns say in which unit their values are and which direction is better.

A value is a text, several texts, a number, an estimate with its interval, or None with a reason. `results.json` holds
tables as `as_json` writes them, under `tables` by name; a study of a user may return some, as those that ship do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, Literal, NamedTuple, get_args

from longform.given import fitted
from longform.metrics.statistics import Estimate

Unit = Literal[
    "points", "difference", "share", "count", "words", "usd", "seconds", "text", "rating", "coefficient", "p", "number",
    "stated",
]  # fmt: skip
"""
points: 0 to 100; difference: of points, with its sign; share: 0 to 1, shown as per cent; rating: on the scale of
whoever rates; coefficient: -1 to 1; p: a probability by chance; number: none of these; stated: each row states a unit
in its column `unit`, or in NAME_unit if its table has several such columns.
"""

Form = Literal["line", "dots", "scatter", "change", "forest"]
Value = str | float | Estimate | list[str] | None


class Column(NamedTuple):
    """A column of a table."""

    name: str  # the key of its values in each row
    unit: Unit = "text"  # decides scale and digits wherever a value is shown
    title: str = ""  # the head; empty: the name
    told: str = ""  # a sentence that says what the values are
    better: Literal["higher", "lower"] | None = None  # direction of a better value; None: neither
    of: str = ""  # column of counts whose share stands beside each value; empty: none does
    shown: bool = True  # False if only programs and marks beside other cells read it
    digits: int | None = None  # None: as many as the unit has
    unknown: str = ""  # why a value is unknown if its row says nothing else
    group: str = ""  # the head above it and its neighbours of the same; empty: there is none
    none: str = ""  # text of a None that is no unknown, such as no limit; empty: None is an unknown
    # columns, joined by commas, whose values stand smaller beside each value, below their heads; 0, none and the same
    # text do not
    beside: str = ""
    brackets: str = ""  # the bounds of its estimates in words; empty: intervals of statistics
    headed: str = ""  # column whose value is its head in a part that has one such value; empty: none is
    signed: bool = False  # values are differences, whose sign is shown in any unit
    # column of pages that its values lead to, addresses beside the page that shows them; empty: none does
    link: str = ""

    @property
    def head(self) -> str:
        return self.title or self.name


class Axes(NamedTuple):
    """
    A table's figure.

    In the form `line` a figure has the values of *y* over *x*, a line for each *by*; in `dots` the same, not joined, as
    *x* has no order; in `scatter` a point a row, which *label* names; in `change` a band a value of *y*, in it a line
    for each *by* from *x* to *to*; in `forest` the estimates of *x*, one below the other, which *y* names.
    """

    form: Form
    x: str  # column of numbers, or of texts, which stand in their order of appearance
    y: str  # column of numbers or estimates, or of texts that name bands
    by: str | None = None  # column of texts, or several joined by commas, a series each; None: one series
    label: str | None = None  # column that names a point of a scatter; None: the key
    # columns whose values make figures of their own; None: those that the table keeps apart
    apart: Sequence[str] | None = None
    first: Sequence[str] | None = None  # columns of whose values a figure draws the first alone; None: there are none
    to: str | None = None  # column of numbers at which a change ends
    but: str | None = None  # column that says why a row is not drawn; None: all rows are
    joined: str | None = None  # the series of a scatter whose points steps join; None: none is
    # column of texts: a line joins only points of one value of it; None: all points of a series
    within: str | None = None
    # column whose values stand side by side in one figure, on one scale; None: a figure has one panel
    panels: str | None = None
    # column of labels of series: a series that has one is drawn beside that one, a few a figure; None: all series stand
    # in one figure
    beside: str | None = None


class Table(NamedTuple):
    """Rows of values under columns that describe them."""

    name: str  # key in `results.json`, and name of the file when it is exported
    columns: Sequence[Column]  # in the order in which they are shown
    rows: Sequence[Mapping[str, Value]]  # column -> value; a name left out is unknown
    title: str = ""  # the head of its section; empty: the name
    told: str = ""  # sentences about the table as a whole; an empty line parts paragraphs
    key: Sequence[str] = ()  # columns that tell rows apart
    # for each row, why a value is unknown, by column; empty: no reason is recorded
    reasons: Sequence[Mapping[str, str]] = ()
    plot: Axes | None = None  # the figure of the table; None: it has none
    # columns whose values make tables, and figures, of their own, below a line that names these values
    apart: Sequence[str] = ()
    across: str = ""  # column whose values are heads, above the values of the next column that is shown
    under: Sequence[str] = ()  # columns that stand below each such head; empty: that next column alone
    section: str = ""  # table below whose head it stands; empty: it has a section of its own
    page: str = ""  # page of a report that it stands on, such as scores; empty: that of further studies
    aside: str = ""  # column that says why a row stands in files alone, and not in a report; empty: all rows do in both
    shown: bool = True  # False if only programs read it

    def column(self, name: str) -> Column:
        """
        Return the column of this *name*.

        Raises:
            KeyError: There is none.
        """
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(f"table {self.name} has no column {name}")

    def reason(self, place: int, column: str) -> str | None:
        """Return why the value of a row is unknown; None: no reason is recorded."""
        own = self.reasons[place].get(column) if place < len(self.reasons) else None
        return own or next((one.unknown for one in self.columns if one.name == column), "") or None

    def as_json(self) -> dict[str, Any]:
        """Return the table as JSON values; see `from_json`."""
        return {
            "title": self.title,
            "told": self.told,
            "key": list(self.key),
            "columns": [column._asdict() for column in self.columns],
            "rows": [
                {name: value.as_json() if isinstance(value, Estimate) else value for name, value in row.items()}
                for row in self.rows
            ],
            "reasons": [dict(row) for row in self.reasons],
            "plot": self.plot and self.plot._asdict(),
            "apart": list(self.apart),
            "across": self.across,
            "under": list(self.under),
            "section": self.section,
            "page": self.page,
            "aside": self.aside,
            "shown": self.shown,
        }

    @classmethod
    def from_json(cls, name: str, content: Mapping[str, Any]) -> Table:
        """Return the table that `as_json` wrote."""
        return cls(
            name,
            columns=[Column(**column) for column in content["columns"]],
            rows=[{key: _read(value) for key, value in row.items()} for row in content["rows"]],
            title=content["title"],
            told=content["told"],
            key=content["key"],
            reasons=content["reasons"],
            plot=content["plot"] and Axes(**content["plot"]),
            apart=tuple(content.get("apart", ())),
            under=tuple(content.get("under", ())),
            **{name: content[name] for name in ("across", "section", "page", "aside", "shown") if name in content},
        )

    def having(self, rows: Iterable[Mapping[str, Any]]) -> Table:
        """Return the table with other rows, in which an estimate may be the mapping that JSON has of it."""
        return self._replace(rows=[{key: _read(value) for key, value in row.items()} for row in rows])


def _read(value: Any) -> Value:
    return Estimate(**value) if isinstance(value, dict) else value


def table_of(name: str, rows: Sequence[Mapping[str, Value]], *, title: str = "", told: str = "") -> Table:
    """Return *rows* whose columns nobody described: texts, whole numbers as counts, and other numbers."""
    names = list(dict.fromkeys(key for row in rows for key in row))
    return Table(name, [Column(key, _unit([row.get(key) for row in rows])) for key in names], rows, title, told)


def _unit(values: Sequence[Value]) -> Unit:
    if any(isinstance(value, str) for value in values):
        return "text"
    return "number" if any(isinstance(value, float | Estimate) for value in values) else "count"


def checked(table: Table) -> Table:
    """
    Return the table, once it is known to describe itself.

    Raises:
        ValueError: A column stands twice or has an unknown unit or direction, or a row, key or figure names a column
            that is not there, or a number is not finite.
        TypeError: A value is of another kind than its column says.
    """
    names = [column.name for column in table.columns]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"table {table.name}: expected different columns, found {', '.join(twice)} more than once")
    for column in table.columns:
        fitted(Column, column, ValueError, f"table {table.name}, column {column.name}")
    plotted = [] if table.plot is None else list(_plotted(table.plot))
    laid_out = [*table.apart, table.across, *table.under, table.aside, *(column.of for column in table.columns)]
    laid_out += [name for column in table.columns for name in (*names_in(column.beside), column.headed, column.link)]
    named = [name for name in (*table.key, *plotted, *laid_out, *(name for row in table.rows for name in row)) if name]
    if unknown := sorted({*named} - {*names}):
        raise ValueError(f"table {table.name}: expected columns of {', '.join(names)}, found {', '.join(unknown)}")
    for place, row in enumerate(table.rows):
        for column in table.columns:
            _check_value(f"table {table.name}, row {place}, column {column.name}", row.get(column.name), column.unit)
    return table


def _plotted(plot: Axes) -> Iterator[str]:
    """Yield the columns that a figure names, once its form is known."""
    if plot.form not in get_args(Form):
        raise ValueError(f"plot: expected a form of {', '.join(get_args(Form))}, found {plot.form!r}")
    yield from (*names_in(plot.by or ""), *(plot.apart or ()), *(plot.first or ()), plot.x, plot.y)
    yield from (one for one in (plot.label, plot.to, plot.but, plot.within, plot.panels, plot.beside) if one)


def stated_unit(row: Mapping[str, Value], column: Column) -> Unit:
    """Return the unit of a row's value: that of its column, or the one that the row states."""
    if column.unit != "stated":
        return column.unit
    stated = row.get(f"{column.name}_unit") or row.get("unit")
    return next((unit for unit in get_args(Unit) if unit == stated), "number")


def names_in(joined: str) -> list[str]:
    """Return the names of columns that commas join."""
    return [name.strip() for name in joined.split(",") if name.strip()]


def _check_value(where: str, value: Value, unit: Unit) -> None:
    if value is None or (isinstance(value, list) and all(isinstance(one, str) for one in value)):
        return
    if not isinstance(value, str | int | float | Estimate):
        raise TypeError(f"{where}: expected a text, texts, a number, an Estimate or None, found {value!r}")
    if unit != "text" and isinstance(value, str):
        raise TypeError(f"{where}: expected a number or an Estimate in {unit}, found the text {value!r}")
    numbers = value[:3] if isinstance(value, Estimate) else [value]
    if any(isinstance(number, float) and not isfinite(number) for number in numbers):
        raise ValueError(f"{where}: expected a finite number, or None for an unknown; found {value}")
    if isinstance(value, Estimate) and (ends := [one for one in value[1:3] if one is not None]) != sorted(ends):
        raise ValueError(f"{where}: expected an interval from low to high, found {value}")


DATASET = Column("dataset", title="data set")
JUDGE = Column("judge")
SYSTEM = (
    Column("summarizer"),
    Column("setting"),
    Column("twin_of", told="the summarizer whose summaries a twin repeats with other citations", shown=False),
    Column("cited_by", told="what chose the citations of a twin", shown=False),
    Column("elsewhere", told="written elsewhere, in a run that writes, too", shown=False),
    Column("in_sample", told="what a model made that was fitted on these data", shown=False),
)
"""The writer of a summary, the documents that it had, and marks beside these names."""

NAMED = (DATASET, *SYSTEM, JUDGE)
"""A system under a judge; null: the data set is not stated, the measure needs no judge."""

AXES = (
    Column("retriever", shown=False),
    Column("reranker", shown=False),
    Column("budget_tokens", "count", shown=False),
    Column("n_documents", "count", shown=False),
    Column("length_tokens", "count", shown=False),
    Column("permutation", "count", shown=False),
    Column("method", shown=False),
    Column("document_tokens", "count", shown=False),
)
"""The parts of a setting, but for the order of the documents; see `longform.axes.Axes`."""

CUT = Column("cut_share", "share", "share cut", "of the retrieved tokens, what the limit took away", "lower")
