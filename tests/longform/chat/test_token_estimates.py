"""Estimates of the tokens of calls."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.chat.call import ChatRequest, Message, Usage
from longform.chat.token_estimates import TokenEstimates, counted_input, most_input_tokens


def asking(text: str = "x" * 400, *, max_tokens: int = 50, input_tokens: int | None = None) -> ChatRequest:
    return ChatRequest(messages=(Message("user", text),), max_tokens=max_tokens, input_tokens=input_tokens)


def test_before_any_reply_the_whole_output_limit_is_expected() -> None:
    assert TokenEstimates().tokens(asking()) == 100 + 50


def test_a_count_goes_before_characters() -> None:
    assert counted_input(asking(input_tokens=7)) == 7


def test_expectation_comes_to_what_calls_take() -> None:
    estimates = TokenEstimates()
    for _ in range(300):
        assert estimates.learn(asking(), Usage(100, 20, 8, 2)) == 130
    assert estimates.tokens(asking()) == pytest.approx(130, rel=0.001)


def test_a_reply_without_usage_teaches_nothing() -> None:
    estimates = TokenEstimates()
    assert estimates.learn(asking(), Usage()) is None
    assert estimates.tokens(asking()) == 150


@given(st.text())
def test_no_tokenizer_makes_more_tokens_than_bytes(text: str) -> None:
    assert most_input_tokens(asking(text)) >= len(text.encode())
