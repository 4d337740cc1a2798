"""The formats that ship, by import path: a command line lists them without loading their files."""

from __future__ import annotations

from collections.abc import Mapping

FORMATS: Mapping[str, str] = {
    "summhay": "longform.formats.summhay:summhay_files",
    "longformfact": "longform.formats.longformfact:longformfact_files",
    "msrs": "longform.formats.msrs:msrs_files",
    "key_points": "longform.formats.key_points:key_point_files",
    "beir": "longform.formats.beir:beir_files",
    "jsonl": "longform.formats.jsonl:jsonl_files",
    "folder": "longform.formats.folder:folder_files",
    "csv": "longform.formats.own_tables:csv_files",
    "hf": "longform.formats.hf_folder:hf_files",
    "trec": "longform.formats.trec_files:trec_files",
}
"""Name -> the function from named files, and the options of the format, to what they hold (`longform ingest`)."""

EXPORTS: Mapping[str, str] = {
    "summhay": "longform.formats.summhay_run:EXPORT",
    "trec": "longform.formats.trec:EXPORT",
    "ir_measures": "longform.formats.ir_measures_export:EXPORT",
    "beir": "longform.formats.beir_export:EXPORT",
    "csv": "longform.formats.table_export:CSV",
    "parquet": "longform.formats.table_export:PARQUET",
    "inspect": "longform.formats.inspect_export:EXPORT",
    "hf": "longform.formats.hf_export:EXPORT",
    "latex": "longform.formats.table_export:LATEX",
}
"""Name -> a `longform.formats.exported.Export` (`longform export --as`)."""

FULL_CONTEXT = "full"
"""The setting of summaries of all documents, where a release says it of itself."""
