"""Tables that describe themselves as sections of a report, with their figures: nothing here knows a study."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile

from longform.keys import in_groups
from longform.metrics.statistics import Estimate
from longform.report.parts import (
    INTERVAL,
    NAMES,
    NO_INTERVAL,
    Section,
    dataset_words,
    has_datasets,
    is_judge,
    judge_line,
    name_cell,
    split_caption,
)
from longform.report.tables import ShownTable, summaries_fragment, whole_head
from longform.results.cells import capitalized, head_of
from longform.results.results import Results
from longform.tables.cells import TextCell, row_cell, with_beside, words
from longform.tables.layout import LayoutPart, below_originals, headed, laid_out, visible
from longform.tables.table import Column, Table, Value

FURTHER = "studies"
"""The page of tables that name none."""

_JUDGE = ("judge", "dataset")
NO_MEANS: Mapping[str, Mapping[str, str]] = {}


def anchor_of(name: str) -> str:
    """Return the address of a table's section on its page."""
    return f"table-{name.replace('_', '-')}"


def tables_of(results: Results) -> Iterator[Table]:
    """Yield the tables that a page shows."""
    for name, content in (results.get("tables") or {}).items():
        if content.get("shown", True):
            yield Table.from_json(name, content)


def table_sections(results: Results) -> Iterator[Section]:
    """Yield one section for each table with something to show that heads one, with the tables below its head."""
    tables = [table for table in tables_of(results) if table.rows and table.shown and visible(table)]
    headed = {table.name for table in tables if not table.section}
    for head in tables:
        if not head.section or head.section not in headed:
            own = [head, *(table for table in tables if table.section == head.name and table is not head)]
            told = [words for table in own for words in _paragraphs(table)]
            shown_tables = [shown for table in own for shown in shown_of(results, table)]
            yield Section(anchor_of(head.name), head.title or head.name, told, shown_tables, page=head.page or FURTHER)


def told_above(table: Table) -> bool:
    """Return true if what is told of a table stands above it: above its parts, or in paragraphs of its own."""
    return bool(table.told and not table.section and (table.apart or "\n\n" in table.told))


def shown_of(results: Results, table: Table) -> list[ShownTable]:
    """Return a table's parts as heads and cells, with what its columns say of themselves behind the first."""
    told = [*told_of(visible(table))]
    if asides := _asides(table):
        told.append(("", f"Rows that stand in files alone: {asides}."))
    parts = enumerate(laid_out(of_report(table)))
    return [shown_part(results, table, part, told if place == 0 else ()) for place, part in parts]


def of_report(table: Table) -> Table:
    """Return the table without the rows that stand in files alone."""
    if not table.aside:
        return table
    places = [place for place, row in enumerate(table.rows) if row.get(table.aside) is None]
    reasons = [table.reasons[place] for place in places] if table.reasons else ()
    return table._replace(rows=[table.rows[place] for place in places], reasons=reasons)


def _asides(table: Table) -> str:
    """Say why rows are not shown; empty if all are."""
    whys = (row.get(table.aside) for row in table.rows) if table.aside else ()
    return "; ".join(dict.fromkeys(str(why) for why in whys if why is not None))


def _paragraphs(table: Table) -> Iterator[str]:
    """Yield what is told of a table above it: of one with parts, or of one without a row that is shown."""
    if not of_report(table).rows:
        yield f"{table.told} {capitalized(_asides(table))}.".strip()
    elif told_above(table):
        yield from table.told.split("\n\n")


def shown_part(
    results: Results,
    table: Table,
    part: LayoutPart,
    told: Iterable[tuple[str, str]],
    *,
    means: Mapping[str, Mapping[str, str]] = NO_MEANS,
) -> ShownTable:
    """
    Return a part of *table* as heads and cells, with what is *told* of the columns that have a known cell.

    *means* are columns of means of summaries: the measure, and what else of these summaries no row says.
    """
    own = part.table
    columns = [one for one in visible(own) if one.name != "dataset" or has_datasets(table.rows)]
    if all(row.get("judge") is None for row in table.rows):
        columns = [one for one in columns if one.name != "judge"]
    columns.sort(key=lambda column: column.name not in NAMES)
    of_measures = table.across == "measure"
    columns = [
        one._replace(
            title=titled(results, table, one, own.rows),
            group=head_of(results, one.group).head if one.group and of_measures else one.group,
        )
        for one in columns
    ]
    places = {id(row): place for place, row in enumerate(own.rows)}
    rows = [
        {one.name: _cell(results, own, places[id(row)], one, means.get(one.name)) for one in columns}
        for row in below_originals(own.rows, *(name for name in own.key if name != "summarizer"))
    ]
    unknown = [one for one in columns if all(row[one.name].text is None for row in rows)]
    kept = [one for one in columns if one not in unknown]
    words = [*line_of(results, table, part), "" if told_above(table) else table.told]
    meant = list(_brackets(part))
    words += [f"Brackets: {one}." for one in meant if one]
    if "" in meant:
        intervals = any(cell.detail and "[" in cell.detail for row in rows for cell in row.values())
        words.append(INTERVAL if intervals else NO_INTERVAL)
    caption, rest = split_caption(" ".join(filter(None, words)))
    untold = {one.head for one in unknown} - {one.head for one in kept}
    how = [rest, *(text for head, text in told if head not in untold), *_left_out(unknown, rows)]
    return ShownTable(
        caption,
        kept,
        rows,
        how=" ".join(filter(None, how)),
        judged="judge" in part.values and is_judge(results, part.values["judge"]),
        n_names=len([*takewhile(lambda column: column.name in (*NAMES, *own.key), kept)]),
    )


def _left_out(columns: Iterable[Column], rows: Sequence[Mapping[str, TextCell]]) -> Iterator[str]:
    """Name the columns of which nothing is known by their reasons."""
    reasons = ((dict.fromkeys(str(row[one.name].reason) for row in rows), whole_head(one)) for one in columns)
    for why, names in in_groups(("; ".join(own), head) for own, head in reasons).items():
        yield f"Left out: {', '.join(names)} ({why})."


def _cell(results: Results, table: Table, place: int, column: Column, mean: Mapping[str, str] | None) -> TextCell:
    row = table.rows[place]
    if column.name in NAMES:
        return name_cell(results, row, column.name)
    if column.name == "measure":
        return words(head_of(results, str(row.get("measure"))).head)
    cell = with_beside(row_cell(row, column, table.reason(place, column.name)), row, column, table)
    known = mean is not None and cell.text is not None
    return cell._replace(mean_of=summaries_fragment({**row, **mean}, mean["measure"])) if known and mean else cell


def titled(results: Results, table: Table, column: Column, rows: Sequence[Mapping[str, Value]]) -> str:
    """Return the head of a column; a measure stands under its title."""
    if (head := headed(column, rows)) is not None:
        return head_of(results, head).head if column.headed == "measure" else head
    known = table.across == "measure" and column.name not in {one.name for one in table.columns} and not column.group
    return head_of(results, column.name).head if known else column.head


def _brackets(part: LayoutPart) -> Iterable[str]:
    """Return what the brackets of a part are, each once; empty: intervals of statistics, even if none is known."""
    shown = [(column, row.get(column.name)) for column in visible(part.table) for row in part.table.rows]
    estimates = [(column, value) for column, value in shown if isinstance(value, Estimate)]
    return dict.fromkeys(column.brackets for column, value in estimates if value.low is not None or not column.brackets)


def line_of(results: Results, table: Table, part: LayoutPart) -> Iterator[str]:
    """Yield what names a part: the measure by others, in a sentence, and its judge."""
    words_of = {
        name: head_of(results, str(value)).head if name == "measure" else f"{table.column(name).head} {value}"
        for name, value in part.values.items()
        if name not in _JUDGE
    }
    if words_of:
        yield f"{capitalized(' '.join(words_of.values()))}."
    if "judge" in part.values:
        several = "dataset" in part.values and has_datasets(table.rows)
        dataset = dataset_words(part.values).removeprefix("Data set ") if several else None
        judge = part.values["judge"]
        yield f"{judge_line(results, None if judge is None else str(judge), dataset)}."


def told_of(columns: Sequence[Column]) -> Iterator[tuple[str, str]]:
    """Yield the head of each column that says what its values are with a sentence, and which direction is better."""
    numeric = [column for column in columns if column.unit != "text"]
    for column in columns:
        if column.told:
            yield column.head, f"{capitalized(column.head)}: {column.told.rstrip('.')}."
    for better in ("higher", "lower"):
        if heads := [column.head for column in columns if column.better == better]:
            named_heads = f": {', '.join(heads)}" if len(numeric) > 1 else ""
            yield "", f"{better.capitalize()} is better{named_heads}."
