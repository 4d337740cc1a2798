"""The page of a benchmark: tables that its maker kept beside it, shown and drawn by their columns alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from longform.report.haystacks import haystack_name
from longform.report.parts import Section
from longform.report.plots import Plot
from longform.report.result_figures import figures_of
from longform.report.result_tables import shown_of
from longform.results.results import Results
from longform.tables.table import Table, Value

_READER = "longform.synthesis.tables"
"""The annex that makes tables of audits and accounts of benchmarks that keep none."""

_MOST_ROWS = 40  # that one still reads; the file has all


def audit_sections(results: Results) -> Iterator[Section]:
    """Yield one section if the benchmark says of itself how it was made and audited; else none."""
    if described := _described(results):
        tables = [_first_rows(results, table) for table in _tables(described) if table.plot is None]
        shown = [part for table in tables for part in shown_of(results, table)]
        yield Section("audit", described["title"], list(described["told"]), shown)


def benchmark_figures(results: Results) -> Iterator[tuple[Plot | None, str]]:
    """Yield the figures of the benchmark's tables; a table with a figure is shown by it."""
    for place, table in enumerate(_tables(_described(results) or {"tables": {}})):
        yield from figures_of(results, table, name=f"benchmark{place}-")


def _described(results: Results) -> Mapping[str, Any] | None:
    """Return the title, the sentences and the tables of the benchmark; None: it has none of them."""
    kept = results.get("benchmark_tables")
    audit, account = results.get("audit"), results.get("synthesis")
    if kept or not (audit or account):
        return kept
    made: Mapping[str, Any] = import_module(_READER).benchmark_tables(audit, account)
    return made


def _tables(described: Mapping[str, Any]) -> Iterator[Table]:
    return (Table.from_json(name, content) for name, content in described["tables"].items())


def _first_rows(results: Results, table: Table) -> Table:
    """Return what a page has room for, with haystacks under the names of pages."""
    rows = [_named(results, row) for row in table.rows[:_MOST_ROWS]]
    if len(rows) == len(table.rows):
        return table._replace(rows=rows)
    more = f"The first {len(rows)} of {len(table.rows):,}; the files beside the benchmark have all."
    return table._replace(rows=rows, told=f"{table.told} {more}".strip())


def _named(results: Results, row: Mapping[str, Value]) -> Mapping[str, Value]:
    named = row.get("haystack")
    return {**row, "haystack": haystack_name(results, named)} if isinstance(named, str) else row
