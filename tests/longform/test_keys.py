"""Keys depend on content alone."""

from __future__ import annotations

import pytest

from longform.keys import content_key, stable_seed


def test_key_is_the_same_in_every_process() -> None:
    """A salted hash would make every resume start over."""
    assert content_key("a", 1, None, {"b": 2, "a": [1.5]}) == "7fe81d5ec661ba117097"


def test_key_ignores_the_order_of_a_mapping_and_nothing_else() -> None:
    assert content_key({"a": 1, "b": 2}) == content_key({"b": 2, "a": 1})
    assert content_key("ab", "c") != content_key("a", "bc")
    assert content_key(1) != content_key("1")


def test_nan_is_refused() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        content_key(float("nan"))


def test_seed_fits_a_generator() -> None:
    assert 0 <= stable_seed("x") < 2**63
    assert stable_seed("x") != stable_seed("y")
