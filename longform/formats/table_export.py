"""
A run's tables as files of spreadsheets, data frames and papers: CSV, Parquet, LaTeX, and a data set of Hugging Face.

`cells` has a row for each system, judge and measure: the mean with its interval, in the unit that the report prints.

A data set has Parquet files in `data/`, and a card that names them as configurations:
`datasets.load_dataset(FOLDER, "summaries", split="test")` loads it, from disk or once it is pushed. Documents stay out:
they belong to the benchmark, and may not be anybody's to publish.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from longform.errors import UsageError
from longform.formats.exported import Export, ExportedFile, HaystackOfRun, RunToExport
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
    yield _parquet("cells", _cells(run))
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
    """Yield the tables of studies that have rows: all but those of cells."""
    for name, content in results["tables"].items():
        if content["rows"] and name not in ("cells", "measures", "failures"):
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


def _cells(run: RunToExport) -> pa.Table:
    return pa.Table.from_pylist(list(cell_rows(run.results)), schema=CELLS)


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row.get(name) for name in ("judge", "dataset", "summarizer", "setting"))


def _parquet(name: str, table: pa.Table, n_summaries: int = 0) -> ExportedFile:
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd")
    return ExportedFile(f"{name}.parquet", sink.getvalue(), n_summaries)


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

# ---------------------------------------------------------------- a data set of Hugging Face

SPLIT = "test"
_ABOUT = (
    "A run of longform: what systems wrote about many documents, and how judges found it. Documents are not part of "
    "this data set; queries and targets are under the terms of the benchmark that they are from."
)
_OF_DATA_SET = ("scores", "units", "verdicts", "contexts", "rankings")
_MEANINGS: Mapping[str, str] = {
    "summaries": "each text that a system wrote, with its query",
    "scores": "each measure of each summary, by judge",
    "cells": "the report's means of systems, with intervals",
    "units": "bullets or sentences of summaries",
    "verdicts": "each answer of a judge",
    "contexts": "prompts, as ids of documents in their order",
    "rankings": "documents by query and retriever",
    "queries": "the questions",
    "targets": "insights, key points or references that a summary is judged by",
    "qrels": "which document states which target",
}


def hf_export(run: RunToExport) -> Iterable[ExportedFile]:
    """Yield the Parquet files of a run's tables, of its queries and targets, and the card."""
    haystacks = list(run.haystacks)
    tables = {name: table for name, table in _tables(run, haystacks) if table.num_rows}
    for name, table in tables.items():
        yield _parquet(f"data/{name}", table, table.num_rows if name == "summaries" else 0)
    yield ExportedFile("README.md", _card(run.results, tables).encode())


def _tables(run: RunToExport, haystacks: Sequence[HaystackOfRun]) -> Iterator[tuple[str, pa.Table]]:
    texts = {query.query_id: query.text for haystack in haystacks for query in haystack.queries}
    summaries = run.table("summaries")
    queries = pa.array([texts.get(query_id) for query_id in summaries["query_id"].to_pylist()], pa.string())
    yield "summaries", summaries.append_column("query", queries)
    yield "cells", _cells(run)
    for name in _OF_DATA_SET:
        yield name, run.table(name)
    for name in ("queries", "targets", "qrels"):
        records = (one for haystack in haystacks for one in getattr(haystack, name))
        yield name, pa.Table.from_pylist([one._asdict() for one in records])


def _card(results: Mapping[str, Any], tables: Mapping[str, pa.Table]) -> str:
    bench = results["run"]["benchmark"]
    return "\n".join(
        [
            "---",
            "configs:",
            *(line for name in tables for line in _config(name)),
            "tags: [longform, evaluation, summarization]",
            "---",
            "",
            f"# {' '.join(str(results['title']).split())}",
            "",
            _ABOUT,
            "",
            f"- benchmark `{bench['url']}`, dataset hash `{bench['dataset_hash']}`",
            f"- verb `{results['run']['verb']}`",
            "",
            f"Each configuration has the split `{SPLIT}`:",
            "",
            "| configuration | rows | has | features |",
            "| --- | --: | --- | --- |",
            *(_row(name, table) for name, table in tables.items()),
            "",
        ]
    )


def _config(name: str) -> list[str]:
    default = ["    default: true"] if name == "summaries" else []
    return [f"  - config_name: {name}", f"    data_files: [{{split: {SPLIT}, path: data/{name}.parquet}}]", *default]


def _row(name: str, table: pa.Table) -> str:
    features = ", ".join(f"`{field.name}` {field.type}" for field in table.schema)
    return f"| {name} | {table.num_rows:,} | {_MEANINGS[name]} | {features} |"


HF = Export(hf_export, "a data set of Hugging Face: Parquet files and a card")
