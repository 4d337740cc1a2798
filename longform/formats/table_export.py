"""
A run's tables as files of spreadsheets, data frames and papers: CSV, Parquet, LaTeX.

`cells` has a row for each system, judge and measure: the mean with its interval, in the unit that the report prints.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from longform.errors import UsageError
from longform.formats.exported import ExportedFile
from longform.metrics.statistics import Estimate
from longform.tables.files import csv_of, csv_text, latex_tabular
from longform.tables.layout import laid_out
from longform.tables.table import Column, Table

CELLS = pa.schema(
    [
        ("dataset", pa.string()),
        ("judge", pa.string()),
        ("setting", pa.string()),
        ("summarizer", pa.string()),
        ("cited_by", pa.string()),
        ("measure", pa.string()),
        ("unit", pa.string()),
        ("value", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("reason", pa.string()),
        ("n_summaries", pa.int64()),
    ]
)
_PACKAGE = r"% \usepackage{booktabs}"
_OF_CSV = ("scores", "summaries")
_OF_PARQUET = ("rankings", "contexts", "summaries", "units", "verdicts", "scores")


class TablesOfRun(NamedTuple):
    """
    A run as tables.

    Attributes:
        results: Of `results.json`.
        table: Name -> the rows of a table that the run's configuration asks for.
    """

    results: Mapping[str, Any]
    table: Callable[[str], pa.Table]


def csv_export(run: TablesOfRun) -> Iterator[ExportedFile]:
    """Yield a CSV file of cells, scores, summaries and each table of a study; lists are JSON, no cell is a formula."""
    yield ExportedFile("cells.csv", csv_of(CELLS.names, cell_rows(run.results)).encode(), 0, {})
    for name, content in (run.results.get("tables") or {}).items():
        yield ExportedFile(f"study_{name}.csv", csv_text(Table.from_json(name, content)).encode(), 0, {})
    for name in _OF_CSV:
        rows = run.table(name)
        yield ExportedFile(f"{name}.csv", csv_of(rows.column_names, rows.to_pylist()).encode(), 0, {})


def parquet_export(run: TablesOfRun) -> Iterator[ExportedFile]:
    """Yield a Parquet file of the cells and of each table of the run."""
    yield _parquet("cells", pa.Table.from_pylist(list(cell_rows(run.results)), schema=CELLS))
    for name in _OF_PARQUET:
        yield _parquet(name, run.table(name))


def latex_export(run: TablesOfRun) -> Iterator[ExportedFile]:
    """
    Yield one file with a `tabular` of systems and measures for each judge and data set, and one for each table of a
    study; they need `booktabs`.

    Raises:
        UsageError: The run has no cells.
    """
    cells = run.results["cells"]
    if not cells:
        raise UsageError("expected a run with scored systems, found none: there is no table to write")
    families = dict.fromkeys((cell["dataset"], cell["judge"]) for cell in cells)
    parts = [
        latex_tabular(_systems(run.results, [c for c in cells if (c["dataset"], c["judge"]) == one]))
        for one in families
    ]
    yield ExportedFile("systems.tex", "\n".join([_PACKAGE, *parts]).encode(), 0, {})
    for name, content in (run.results.get("tables") or {}).items():
        own = laid_out(Table.from_json(name, content))
        text = "\n".join([_PACKAGE, *(latex_tabular(part.titled) for part in own)])
        yield ExportedFile(f"study_{name}.tex", text.encode(), 0, {})


def cell_rows(results: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a row of CELLS for each cell and measure that has a value, or a reason why there is none."""
    units = {measure["name"]: measure["unit"] for measure in results["measures"]}
    for cell in results["cells"]:
        of_system = {name: cell.get(name) for name in CELLS.names if name in cell}
        for name, unit in units.items():
            value, reason = cell.get(name), cell["reasons"].get(name)
            if value is not None or reason is not None:
                low, high = cell["intervals"].get(name) or (None, None)
                yield {
                    **of_system,
                    "measure": name,
                    "unit": unit,
                    "value": value,
                    "low": low,
                    "high": high,
                    "reason": reason,
                }


def _parquet(name: str, table: pa.Table) -> ExportedFile:
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd")
    return ExportedFile(f"{name}.parquet", sink.getvalue(), 0, {})


def _systems(results: Mapping[str, Any], cells: Sequence[Mapping[str, Any]]) -> Table:
    """Return the table of one judge and data set; what no system has a value of is left out."""
    measures = [one for one in results["measures"] if any(cell.get(one["name"]) is not None for cell in cells)]
    columns = [Column(one["name"], unit="number", title=str(one["title"] or one["name"])) for one in measures]
    rows = [{"system": _system(cell), **{one.name: _estimate(cell, one.name) for one in columns}} for cell in cells]
    title = " ".join(filter(None, [cells[0]["dataset"], f"judge {cells[0]['judge']}"]))
    return Table("systems", [Column("system"), *columns], rows, title)


def _system(cell: Mapping[str, Any]) -> str:
    twin = f", citations by {cell['cited_by']}" if cell.get("cited_by") else ""
    return f"{cell['summarizer']}, {cell['setting']}{twin}"


def _estimate(cell: Mapping[str, Any], name: str) -> Estimate | None:
    value = cell.get(name)
    low, high = cell["intervals"].get(name) or (None, None)
    return None if value is None else Estimate(float(value), low, high, cell.get("n_summaries") or 0)
