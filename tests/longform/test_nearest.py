"""The name that was meant."""

from __future__ import annotations

from longform.errors import meant


def test_a_slip_is_mended_and_another_word_is_not() -> None:
    assert meant("evalute", ["judge", "evaluate"]) == "; did you mean 'evaluate'?"
    assert meant("zebra", ["judge", "evaluate"]) == ""
