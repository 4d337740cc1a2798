"""Numbers and texts that are taken can be stored, summed and written as JSON, whatever they are drawn from."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from longform.given import Count, Dollars, Number, Share, Text, storable
from tests.any_values import ANY_TEXT, ANY_VALUE

LEAST_AND_MOST = {"number": (-1e30, 1e30), "share": (0, 1), "dollars": (0, 1e9), "count": (0, 10**9)}
FORMS: dict[str, TypeAdapter[Any]] = {
    "number": TypeAdapter(Number),
    "share": TypeAdapter(Share),
    "dollars": TypeAdapter(Dollars),
    "count": TypeAdapter(Count),
}


@pytest.mark.parametrize("form", FORMS)
@given(ANY_VALUE)
def test_what_is_taken_is_a_finite_number_in_its_range(form: str, value: Any) -> None:
    least, most = LEAST_AND_MOST[form]
    try:
        found = FORMS[form].validate_python(value)
    except ValidationError:
        plain = isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most
        assert not plain or (form == "count" and value != int(value)), "a plain number in its range is taken"
        return
    assert type(found) is (int if form == "count" else float)
    assert least <= found <= most
    assert isfinite(float(json.dumps(found, allow_nan=False)))
    assert not isinstance(value, bool | str | bytes | np.bool_)


@pytest.mark.parametrize("half", [np.float32(0.5), np.array(0.5), Fraction(1, 2), Decimal("0.5")])
def test_a_number_of_a_library_is_a_number(half: Any) -> None:
    assert [FORMS[form].validate_python(half) for form in ("number", "share", "dollars")] == [0.5] * 3
    assert FORMS["count"].validate_python(half * 4) == 2
    with pytest.raises(ValidationError):
        FORMS["count"].validate_python(half)


@given(ANY_TEXT)
def test_a_text_can_be_stored_and_stays_what_it_was_if_it_could_be(text: str) -> None:
    kept = TypeAdapter[str](Text).validate_python(text)
    assert kept.encode().decode() == kept == storable(kept)
    assert len(kept) == len(text)
    assert [one for one, other in zip(kept, text, strict=True) if one != other] == ["?"] * sum(
        "\ud800" <= one <= "\udfff" for one in text
    )


@given(st.integers() | st.binary() | st.none())
def test_what_is_no_text_is_none(value: Any) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter[str](Text).validate_python(value)
