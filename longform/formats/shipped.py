"""
The formats that `longform ingest` reads, and those that `longform export` writes.

A new format is a file beside this one with a function from named files to what they hold, or from a run to files, its
place in a list below, and its name in `longform.formats.names`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from longform.formats.beir import beir_files
from longform.formats.beir_export import beir_export
from longform.formats.exported import ExportedFile, Exporter, RowExporter
from longform.formats.files import Found
from longform.formats.folder import folder_files
from longform.formats.hf_export import hf_export
from longform.formats.hf_folder import hf_files
from longform.formats.inspect_export import inspect_export
from longform.formats.ir_measures_export import ir_measures_export
from longform.formats.jsonl import jsonl_files
from longform.formats.key_points import key_point_files
from longform.formats.longformfact import longformfact_files
from longform.formats.msrs import msrs_files
from longform.formats.own_tables import csv_files
from longform.formats.summhay import summhay_files
from longform.formats.summhay_run import summhay_export
from longform.formats.table_export import TablesOfRun, WholeExporter, csv_export, latex_export, parquet_export
from longform.formats.trec import trec_export
from longform.formats.trec_files import trec_files

EXPORTS: Mapping[str, Exporter] = {"summhay": summhay_export}
"""Name on the command line -> haystacks of a run, and whose labels are written, to files."""

ROW_EXPORTS: Mapping[str, RowExporter] = {"trec": trec_export, "beir": beir_export}
"""The same of formats that have no place for labels."""

TABLE_EXPORTS: Mapping[str, Callable[[TablesOfRun], Iterable[ExportedFile]]] = {
    "csv": csv_export,
    "parquet": parquet_export,
    "latex": latex_export,
}
"""The same of formats that are made of a run's tables and results."""

WHOLE_EXPORTS: Mapping[str, WholeExporter] = {
    "inspect": inspect_export,
    "hf": hf_export,
    "ir_measures": ir_measures_export,
}
"""The same of formats that put rows and results beside each other."""

FORMATS: Mapping[str, Callable[..., Found]] = {
    "summhay": summhay_files,
    "longformfact": longformfact_files,
    "msrs": msrs_files,
    "key_points": key_point_files,
    "beir": beir_files,
    "jsonl": jsonl_files,
    "folder": folder_files,
    "csv": csv_files,
    "hf": hf_files,
    "trec": trec_files,
}
"""Name on the command line -> named files, and the options of the format, to what they hold."""
