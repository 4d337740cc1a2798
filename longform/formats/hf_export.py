"""
A run as a data set of Hugging Face: Parquet files in `data/`, and a card that names them as configurations.

`datasets.load_dataset(FOLDER, "summaries", split="test")` loads it, from disk or once it is pushed. Documents stay out:
they belong to the benchmark, and may not be anybody's to publish.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from longform.formats.exported import Export, ExportedFile, HaystackOfRun, RunToExport
from longform.formats.table_export import CELLS, cell_rows

SPLIT = "test"
_ABOUT = (
    "A run of longform: what systems wrote about many documents, and how judges found it. Documents are not part of "
    "this data set; queries and targets are under the terms of the benchmark that they are from."
)
_TABLES = ("summaries", "scores", "units", "verdicts", "contexts", "rankings")
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
        sink = io.BytesIO()
        pq.write_table(table, sink, compression="zstd")
        n_summaries = table.num_rows if name == "summaries" else 0
        yield ExportedFile(f"data/{name}.parquet", sink.getvalue(), n_summaries)
    yield ExportedFile("README.md", _card(run.results, tables).encode())


def _tables(run: RunToExport, haystacks: Sequence[HaystackOfRun]) -> Iterator[tuple[str, pa.Table]]:
    texts = {query.query_id: query.text for haystack in haystacks for query in haystack.queries}
    summaries = run.table("summaries")
    queries = pa.array([texts.get(query_id) for query_id in summaries["query_id"].to_pylist()], pa.string())
    yield "summaries", summaries.append_column("query", queries)
    yield "cells", pa.Table.from_pylist(list(cell_rows(run.results)), schema=CELLS)
    for name in _TABLES[1:]:
        yield name, run.table(name)
    for name, records in (
        ("queries", [one for haystack in haystacks for one in haystack.queries]),
        ("targets", [one for haystack in haystacks for one in haystack.targets]),
        ("qrels", [one for haystack in haystacks for one in haystack.qrels]),
    ):
        yield name, pa.Table.from_pylist([_record(one) for one in records])


def _record(record: Any) -> dict[str, Any]:
    return record._asdict() if hasattr(record, "_asdict") else asdict(record)


# ---------------------------------------------------------------- the card


def _card(results: Mapping[str, Any], tables: Mapping[str, pa.Table]) -> str:
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
            *_provenance(results["run"]),
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


def _provenance(facts: Mapping[str, Any]) -> list[str]:
    bench = facts["benchmark"]
    return [f"- benchmark `{bench['url']}`, dataset hash `{bench['dataset_hash']}`", f"- verb `{facts['verb']}`"]


def _row(name: str, table: pa.Table) -> str:
    features = ", ".join(f"`{field.name}` {field.type}" for field in table.schema)
    return f"| {name} | {table.num_rows:,} | {_MEANINGS[name]} | {features} |"


EXPORT = Export(hf_export, "a data set of Hugging Face: Parquet files and a card")
