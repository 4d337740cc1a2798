"""
The formats that `longform ingest` reads.

A new format is a file beside this one with a function from named files to what they hold, its place in this list, and
its name in `longform.formats.names`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from longform.formats.beir import beir_files
from longform.formats.files import Found
from longform.formats.folder import folder_files
from longform.formats.hf_folder import hf_files
from longform.formats.jsonl import jsonl_files
from longform.formats.key_points import key_point_files
from longform.formats.longformfact import longformfact_files
from longform.formats.msrs import msrs_files
from longform.formats.own_tables import csv_files
from longform.formats.summhay import summhay_files
from longform.formats.trec_files import trec_files

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
