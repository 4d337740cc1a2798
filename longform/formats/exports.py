"""The formats that `longform export` writes; `names.EXPORTED` has their names and meanings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from longform.formats.beir_export import beir_export
from longform.formats.exported import ExportedFile, Exporter, RowExporter
from longform.formats.hf_export import hf_export
from longform.formats.inspect_export import inspect_export
from longform.formats.ir_measures_export import ir_measures_export
from longform.formats.summhay_run import summhay_export
from longform.formats.table_export import TablesOfRun, csv_export, latex_export, parquet_export
from longform.formats.trec import trec_export
from longform.formats.whole_run import WholeExporter

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
