"""
The tables between the stages: their schemas and keys. `rows.py` has their columns and the meaning of null.

A benchmark and a run are folders; each table is a folder of Parquet parts in one of them. `unit_index`, `linked_unit`,
`doc_index` and `doc_position` count from 0; citations in text count from 1. In a run every row carries `work_id`, a
content hash of the inputs and the configuration that made it: rows of one `work_id` are written together, and a later
command skips the work ids it finds.

Tables of a benchmark

    documents   key doc_id
    queries     key query_id
    targets     key target_id: what a summary is compared with (insight, key_point, reference)
    qrels       key (query_id or target_id, doc_id); target_id is null for judgements of whole queries, whose
                document may be missing if that was asked for: every ranking misses it
    summaries   as in a run, where a release ships them
    labels      human or released judgements of those summaries: verdicts with an annotator
    rankings    as in a run, where a release ships retriever scores
    released_scores
                key (summary_id, measure): scores that a release ships of those summaries

Tables of a run

    rankings    key (work_id, doc_id, passage): one retriever's list for one query
    contexts    key context_id: the documents of one prompt, in prompt order
    summaries   key summary_id; text is null if the summary failed, with the reason in failure
    units       key (summary_id, unit_index): the lines of a summary with their citations
    verdicts    key (judge, summary_id, unit_index, target_id, mode, text_index, repeat);
                a context (all documents of a prompt as one text) is a target of its own kind;
                answer is null if there is no readable judgement, with the reason in failure
    scores      key (judge, summary_id, measure, repeat); value is null if the measure is undefined,
                with the reason; total / n is the value, kept apart so that means can be pooled

Tables of a synthesis (in the benchmark's folder `synthesis`, but for `attempts`)

    haystacks   key haystack_id: the rows of a haystack and what was planted in it, as JSON; there until the benchmark
                is written
    audits      key haystack_id: one haystack looked at from outside, as JSON; there until audit.json is written
    pieces      key work_id: what a work of a step came to, as JSON, with its verdicts
    attempts    key (haystack_id, doc_index, check, subject, number): each verdict of each check; a table of the
                benchmark

The ledger

    calls       key attempt_id: one attempt of one model call; an unsettled one has no receipt
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from types import NoneType
from typing import Annotated, Any, NotRequired, get_args, get_origin, get_type_hints, is_typeddict

import pyarrow as pa

from longform import rows

_PLAIN = {str: pa.string(), int: pa.int64(), float: pa.float64(), datetime: pa.timestamp("ms", tz="UTC")}


def _fields(row: type) -> list[tuple[str, pa.DataType]]:
    """Return the columns of a class of rows, in its order."""
    return [(name, _column(hint)) for name, hint in get_type_hints(row, include_extras=True).items()]


def _column(hint: Any) -> pa.DataType:
    """Return the type of a column whose values are of the type *hint*; every column may hold null."""
    if get_origin(hint) is Annotated:
        return hint.__metadata__[0]
    if get_origin(hint) is NotRequired:
        return _column(*get_args(hint))
    if get_origin(hint) is list:
        return pa.list_(_column(*get_args(hint)))
    if is_typeddict(hint):
        return pa.struct(_fields(hint))
    if NoneType in get_args(hint):
        return _column(*(one for one in get_args(hint) if one is not NoneType))
    return _PLAIN[hint]


_ROWS = {
    "documents": rows.DocumentRow,
    "queries": rows.QueryRow,
    "targets": rows.TargetRow,
    "qrels": rows.QrelRow,
    "labels": rows.LabelRow,
    "released_scores": rows.ReleasedScoreRow,
    "rankings": rows.RankingRow,
    "contexts": rows.ContextRow,
    "summaries": rows.SummaryRow,
    "units": rows.UnitRow,
    "verdicts": rows.VerdictRow,
    "scores": rows.ScoreRow,
    "attempts": rows.AttemptRow,
    "pieces": rows.PieceRow,
    "haystacks": rows.HaystackRow,
    "audits": rows.AuditRow,
    "calls": rows.CallRow,
}
SCHEMAS: Mapping[str, pa.Schema] = {table: pa.schema(_fields(row)) for table, row in _ROWS.items()}

DOCUMENTS = SCHEMAS["documents"]
QUERIES = SCHEMAS["queries"]
TARGETS = SCHEMAS["targets"]
RANKINGS = SCHEMAS["rankings"]
CONTEXTS = SCHEMAS["contexts"]
SUMMARIES = SCHEMAS["summaries"]
UNITS = SCHEMAS["units"]
VERDICTS = SCHEMAS["verdicts"]
LABELS = SCHEMAS["labels"]
RELEASED_SCORES = SCHEMAS["released_scores"]
SCORES = SCHEMAS["scores"]
CALLS = SCHEMAS["calls"]


def conform(table: Iterable[rows.TableRow], schema: pa.Schema) -> pa.Table:
    """
    Return the rows of a *table* as one of exactly *schema*; a column that all rows leave out is null.

    Raises:
        ValueError: A row has a column that the schema lacks.
    """
    content = list(table)
    known = set(schema.names)
    for row in content:
        if unknown := row.keys() - known:
            raise ValueError(f"columns {sorted(unknown)} are not in the schema {schema.names}")
    return pa.Table.from_pylist(content, schema=schema)
