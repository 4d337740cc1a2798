"""Rows become tables of exactly their schema."""

from __future__ import annotations

import pyarrow as pa
import pytest

from longform.tables import SCHEMAS, VERDICTS, conform


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
