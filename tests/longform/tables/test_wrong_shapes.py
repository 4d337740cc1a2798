"""Tables of results that were changed by hand."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.errors import UsageError
from longform.tables.packed import unpacked
from longform.tables.table import Column, Table

TABLE = Table("t", [Column("a", "text")], [{"a": "x"}]).as_json()
NO_LIST = st.one_of(st.none(), st.integers(), st.text(), st.dictionaries(st.text(), st.integers()))


@given(part=st.sampled_from(["columns", "rows"]), wrong=st.one_of(NO_LIST, st.lists(st.integers(), min_size=1)))
def test_a_part_of_another_form_is_named(part: str, wrong: Any) -> None:
    with pytest.raises(UsageError, match=f"table t: expected {part} as a list of objects, found"):
        unpacked({"t": {**TABLE, part: wrong}})


@given(wrong=st.one_of(NO_LIST.filter(lambda one: not isinstance(one, dict)), st.lists(st.integers())))
def test_what_is_no_table_is_named(wrong: Any) -> None:
    with pytest.raises(UsageError, match="table t: expected columns"):
        unpacked({"t": wrong})


def test_a_table_as_it_was_written_is_read() -> None:
    assert unpacked({"t": TABLE}) == {"t": TABLE}
