"""Rows become tables of exactly their schema."""

from __future__ import annotations

import pyarrow as pa
import pytest

from longform.rows import PieceRow, SummaryRow, VerdictRow
from longform.schemas import CALLS, CONTEXTS, LABELS, RANKINGS, SCHEMAS, SUMMARIES, UNITS, VERDICTS, conform

PASSAGE = pa.struct([("start", pa.int64()), ("end", pa.int64())])


def test_column_of_nothing_but_nulls_keeps_its_type() -> None:
    """Without it a part whose failures are all null would be of type null beside parts of strings."""
    table = conform([{"judge": "j", "answer": None}], VERDICTS)

    assert table.schema == VERDICTS
    assert table["failure"].type == pa.string()


def test_unknown_column_is_an_error_that_names_it() -> None:
    with pytest.raises(ValueError, match="anwser"):
        conform([{"anwser": "full"}], VERDICTS)


def test_no_rows_make_an_empty_table_of_each_schema() -> None:
    assert all(conform([], schema).schema == schema for schema in SCHEMAS.values())


def test_columns_stand_in_the_order_of_the_rows_and_of_the_rows_they_begin_with() -> None:
    assert VERDICTS.names == list(VerdictRow.__annotations__)
    assert VERDICTS.names[:3] == ["work_id", "judge", "summary_id"]
    assert LABELS.names[:2] == ["annotator", "summary_id"]
    assert SUMMARIES.names == list(SummaryRow.__annotations__)
    assert SUMMARIES.names[-4:] == ["dataset", "repeat", "cause", "cited_by"]


@pytest.mark.parametrize(
    ("schema", "column", "expected"),
    [
        (UNITS, "text", pa.string()),
        (UNITS, "unit_index", pa.int32()),
        (UNITS, "citations", pa.list_(pa.int32())),
        (CONTEXTS, "n_tokens", pa.int64()),
        (CONTEXTS, "budget_tokens", pa.int64()),
        (CONTEXTS, "permutation", pa.int32()),
        (CONTEXTS, "doc_ids", pa.list_(pa.string())),
        (CONTEXTS, "passages", pa.list_(PASSAGE)),
        (RANKINGS, "passage", PASSAGE),
        (SUMMARIES, "parents", pa.list_(pa.string())),
        (SUMMARIES, "cost_usd", pa.float64()),
        (SCHEMAS["pieces"], "doc_index", pa.int32()),
        (CALLS, "asked_at", pa.timestamp("ms", tz="UTC")),
        (CALLS, "answered_at", pa.timestamp("ms", tz="UTC")),
    ],
)
def test_column_is_of_the_type_of_its_values(schema: pa.Schema, column: str, expected: pa.DataType) -> None:
    assert schema.field(column).type == expected


def test_rows_within_rows_are_structs() -> None:
    attempts = SCHEMAS["pieces"].field("attempts").type.value_type

    assert list(PieceRow.__annotations__)[-1] == "attempts"
    assert [field.name for field in attempts] == ["check", "subject", "number", "verdict", "reason", "call_id"]
    assert attempts.field("number").type == pa.int32()
