"""The answer of a verb: sentences, and tables that describe themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from longform.metrics.measure import Description
from longform.tables.table import Table


class VerbAnswer(NamedTuple):
    """Sentences and tables, from which pages, a terminal's lines and a JSON document are made."""

    title: str
    told: Sequence[str]  # paragraphs above the tables, under `head`
    tables: Sequence[Table]
    measures: Sequence[Description] = ()  # those that the tables name
    head: str = "What to conclude"
    beside: Mapping[str, Any] = {}  # keys that stand beside the document's tables, those of older versions among them
    pages_only: Sequence[str] = ()  # names of tables that a terminal leaves out

    @property
    def document(self) -> dict[str, Any]:
        """The answer as JSON values; `tables` has the form that it has in `results.json`."""
        return {**self.beside, "tables": {table.name: table.as_json() for table in self.tables}}

    @property
    def shown_tables(self) -> list[Table]:
        """The tables as they are shown: a half of systems' names that is the same for all of a table is left out."""
        return [_without_constant_half(table) for table in self.tables]


_SYSTEMS = ("system", "first_system", "second_system")


def _without_constant_half(table: Table) -> Table:
    names = {str(row[name]) for row in table.rows for name in _SYSTEMS if row.get(name)}
    halves = [name.partition(", ")[::2] for name in names]
    left_out = next((side for side in (0, 1) if len({half[side] for half in halves}) == 1), None)
    if len(names) < 2 or left_out is None or not all(map(all, halves)):
        return table
    short = {name: half[1 - left_out] for name, half in zip(names, halves, strict=True)}
    rows = [{**row, **{name: short[str(row[name])] for name in _SYSTEMS if row.get(name)}} for row in table.rows]
    told = f"The names of systems leave out {halves[0][left_out]}, which all have."
    return table._replace(rows=rows, told=f"{table.told} {told}".strip())
