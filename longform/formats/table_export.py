"""
A run's tables as files of spreadsheets, data frames and papers: CSV, Parquet, LaTeX.

`cells` has a row for each system, judge and measure: the mean with its interval, in the unit that the report prints.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from longform.errors import UsageError
from longform.formats.exported import Export, ExportedFile, RunToExport
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


def csv_export(run: RunToExport) -> Iterator[ExportedFile]:
    """Yield a CSV file of cells, scores, summaries and each table of a study; lists are JSON, no cell is a formula."""
    yield ExportedFile("cells.csv", csv_of(CELLS.names, cell_rows(run.results)).encode())
    for table in _of_studies(run.results):
        yield ExportedFile(f"study_{table.name}.csv", csv_text(table).encode())
    for name in _OF_CSV:
        rows = run.table(name)
        yield ExportedFile(f"{name}.csv", csv_of(rows.column_names, rows.to_pylist()).encode())


def parquet_export(run: RunToExport) -> Iterator[ExportedFile]:
    """Yield a Parquet file of the cells and of each table of the run."""
    yield _parquet("cells", pa.Table.from_pylist(list(cell_rows(run.results)), schema=CELLS))
    for name in _OF_PARQUET:
        yield _parquet(name, run.table(name))


def latex_export(run: RunToExport) -> Iterator[ExportedFile]:
    """
    Yield one file with a `tabular` of systems and measures for each judge and data set, and one for each table of a
    study; they need `booktabs`.

    Raises:
        UsageError: The run has no cells.
    """
    rows = list(cell_rows(run.results))
    if not rows:
        raise UsageError("expected a run with scored systems, found none: there is no table to write")
    parts = [latex_tabular(part) for part in _systems(run.results, rows)]
    yield ExportedFile("systems.tex", "\n".join([_PACKAGE, *parts]).encode())
    for table in _of_studies(run.results):
        text = "\n".join([_PACKAGE, *(latex_tabular(part.titled) for part in laid_out(table))])
        yield ExportedFile(f"study_{table.name}.tex", text.encode())


def _of_studies(results: Mapping[str, Any]) -> Iterator[Table]:
    """Yield the tables of studies: all but those of cells."""
    for name, content in results["tables"].items():
        if name not in ("cells", "measures", "failures"):
            yield Table.from_json(name, content)


def cell_rows(results: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a row of CELLS for each score of the table of cells, or for the reason why it has no value."""
    tables = results["tables"]
    known = {row["name"] for row in tables["measures"]["rows"] if not row.get("fact")}
    cells = list(zip(tables["cells"]["rows"], tables["cells"]["reasons"], strict=True))
    counts = {_key(row): row["value"] for row, _ in cells if row["measure"] == "n_summaries"}
    for row, reasons in cells:
        if row["measure"] in known:
            bounds = row["value"] or dict.fromkeys(("value", "low", "high"))
            own = {name: row.get(name) for name in CELLS.names} | {
                name: bounds[name] for name in ("value", "low", "high")
            }
            yield {**own, "reason": reasons.get("value"), "n_summaries": counts.get(_key(row))}


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row.get(name) for name in ("judge", "dataset", "summarizer", "setting"))


def _parquet(name: str, table: pa.Table) -> ExportedFile:
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd")
    return ExportedFile(f"{name}.parquet", sink.getvalue())


def _systems(results: Mapping[str, Any], rows: Iterable[Mapping[str, Any]]) -> Iterator[Table]:
    """Yield a table of systems and measures for each judge and data set; what no system has a value of is left out."""
    titles = {row["name"]: str(row["title"] or row["name"]) for row in results["tables"]["measures"]["rows"]}
    columns = [Column("dataset"), Column("judge"), Column("system"), Column("measure"), Column("value", "number")]
    flat = [{**{name: row[name] for name in ("dataset", "judge", "measure")}, **_shown(row)} for row in rows]
    cells = Table("systems", columns, flat, key=("system", "measure"), apart=("dataset", "judge"), across="measure")
    for part in laid_out(cells):
        known = [column for column in part.table.columns if any(row.get(column.name) for row in part.table.rows)]
        title = " ".join(filter(None, [str(part.values["dataset"] or ""), f"judge {part.values['judge']}"]))
        columns = [column._replace(title=titles.get(column.name, "")) for column in known]
        kept = [{column.name: row.get(column.name) for column in columns} for row in part.table.rows]
        yield part.table._replace(columns=columns, rows=kept, title=title)


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the name of a row's system and its value with its interval."""
    twin = f", citations by {row['cited_by']}" if row["cited_by"] else ""
    value = None if row["value"] is None else Estimate(row["value"], row["low"], row["high"], row["n_summaries"] or 0)
    return {"system": f"{row['summarizer']}, {row['setting']}{twin}", "value": value}


CSV = Export(csv_export, "scores, cells and summaries as CSV")
PARQUET = Export(parquet_export, "the run's tables as one Parquet file each")
LATEX = Export(latex_export, "the table of systems in LaTeX (booktabs)")
