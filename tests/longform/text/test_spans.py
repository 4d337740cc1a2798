"""Passages found in a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.text.spans import Span, locate

TEXT = "One  line.\nAnother line (with a bracket)."


@pytest.mark.parametrize(
    ("passage", "found"),
    [
        ("Another line", Span(11, 23, exact=True)),
        ("One line. Another", Span(0, 18, exact=False)),
        ("line (with a\tbracket)", Span(19, 40, exact=False)),
        ("another line", None),
        ("line", Span(5, 9, exact=True)),
        ("  ", None),
        ("", None),
    ],
)
def test_white_space_may_differ_and_nothing_else(passage: str, found: Span | None) -> None:
    assert locate(passage, TEXT) == found


@given(st.text("ab .\n", max_size=30), st.integers(0, 30), st.integers(0, 30))
def test_every_passage_of_a_text_is_found(text: str, start: int, end: int) -> None:
    passage = text[start:end]
    found = locate(passage, text)

    assert (found is None) == (not passage.strip())
    assert found is None or text[found.start : found.end] == passage
