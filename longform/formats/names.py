"""The formats that ship, by import path, and their options: a command line lists them without loading their files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

FORMATS: Mapping[str, str] = {
    "summhay": "longform.formats.summhay:summhay_files",
    "longformfact": "longform.formats.longformfact:longformfact_files",
    "msrs": "longform.formats.msrs:msrs_files",
    "key_points": "longform.formats.key_points:key_point_files",
    "beir": "longform.formats.beir:beir_files",
    "jsonl": "longform.formats.jsonl:jsonl_files",
    "folder": "longform.formats.own_files:folder_files",
    "csv": "longform.formats.own_files:csv_files",
    "hf": "longform.formats.own_files:hf_files",
    "trec": "longform.formats.trec_files:trec_files",
}
"""Name -> the function from named files, and the options of the format, to what they hold (`longform ingest`)."""

EXPORTS: Mapping[str, str] = {
    "summhay": "longform.formats.summhay_export:EXPORT",
    "trec": "longform.formats.ranking_exports:TREC",
    "ir_measures": "longform.formats.ranking_exports:IR_MEASURES",
    "beir": "longform.formats.ranking_exports:BEIR",
    "csv": "longform.formats.table_export:CSV",
    "parquet": "longform.formats.table_export:PARQUET",
    "inspect": "longform.formats.inspect_export:EXPORT",
    "hf": "longform.formats.table_export:HF",
    "latex": "longform.formats.table_export:LATEX",
}
"""Name -> a `longform.formats.exported.Export` (`longform export --as`)."""

FULL_CONTEXT = "full"
"""The setting of summaries of all documents, where a release says it of itself."""


class FormatOption(NamedTuple):
    """An option of a format that the command line takes; it is a keyword argument of the format's reader."""

    format: str  # names of formats, with commas between
    name: str  # the name of the keyword argument, and of the option on the command line
    help: str
    # key of the note in the benchmark's manifest of an option that takes any text, which is noted as it is; None: it
    # takes a value of `told`, or names files
    key: str | None = None
    # value -> its note, as (key, words); None: nothing is noted. The first value is the default
    told: Mapping[str | bool, tuple[str, str] | None] = {"": None}
    files: bool = False  # the value names a file or folder, whose files the reader is given; they stand in the manifest

    @property
    def formats(self) -> list[str]:
        """The names of the formats."""
        return self.format.split(", ")

    def note(self, value: str | bool) -> tuple[str, str] | None:
        """Return what the manifest notes of a value that is not the default; files stand there themselves."""
        return self.told.get(value) if self.key is None else (self.key, str(value))

    @property
    def flag(self) -> str:
        """The option on the command line."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def default(self) -> str | bool:
        return next(iter(self.told))


OPTIONS = (
    FormatOption(
        "longformfact",
        "keep_empty",
        "keep documents without text",
        told={False: None, True: ("documents", "empty ones kept")},
    ),
    FormatOption(
        "longformfact",
        "likert_top",
        "the highest score of a Likert scale from 0 or 1 up to it: a label is faithful only at the top",
        "likert scale, top",
    ),
    FormatOption(
        "msrs",
        "missing_gold",
        "gold documents that the corpus lacks: drop leaves them out (default), keep counts them as missed, refuse is "
        "an error",
        told={"drop": None, "keep": ("gold", "documents that the corpus lacks count as missed"), "refuse": None},
    ),
    FormatOption(
        "folder, csv, hf, trec",
        "queries",
        "questions: .txt, one a line; .jsonl, .csv or .tsv with a column query; TREC topics",
        files=True,
    ),
    FormatOption(
        "folder, csv, hf",
        "insights",
        "what answers ought to say: .jsonl or .csv of query_id, text, doc_ids",
        files=True,
    ),
    FormatOption("trec", "qrels", "judgements: query 0 document relevance", files=True),
    FormatOption("trec", "run", "runs: query Q0 document rank score tag", files=True),
    FormatOption(
        "folder, csv, hf, trec, beir, jsonl",
        "skip_unreadable",
        "go on without files that give no text and rows that are not as they should be, and say which",
        told={False: None, True: ("unreadable", "left out")},
    ),
    FormatOption("csv, hf", "text_column", "the column of texts (default: text, content, body ...)", "text"),
    FormatOption("csv, hf", "id_column", "the column of ids (default: doc_id, id ...; else numbers)", "id"),
    FormatOption("csv, hf", "title_column", "the column of titles (default: title, headline)", "title"),
    FormatOption("hf", "split", "the split, of a data set that has several", "split"),
)
