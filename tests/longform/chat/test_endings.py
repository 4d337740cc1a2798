"""Words that say that a text is whole, and texts without a word."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from longform.chat.call import ChatReply, ChatRequest, Message, Usage
from longform.chat.failures import SILENT_REPLIES, Endings, ending_failure

REQUEST = ChatRequest(messages=(Message("user", "q"),), max_tokens=50)
SILENT = ChatReply(text="a text", failure=None, is_whole=None, usage=Usage(output_tokens=20))
SAID = ChatReply(text="a text", failure=None, finish_reason="stop")


@pytest.mark.parametrize(
    "word", ["stop", "STOP", "end_turn", "eos", "eos_token", "COMPLETE", "stop_sequence", "", None]
)
def test_words_of_finished_texts_are_no_failure(word: str | None) -> None:
    assert ending_failure(word) is None


@pytest.mark.parametrize(
    ("word", "failure"),
    [
        ("length", "length"),
        ("content_filter", "content_filter"),
        *((word, f"not_finished_{word}") for word in ("error", "abort", "insufficient_system_resource", "SAFETY")),
        ("model_length", "not_finished_model_length"),
        ("tool_calls", "not_finished_tool_calls"),
        ("\x1b[31m red: " * 9, "not_finished__31m_red_31m_red_31m_red_31m_r"),
        (5, "not_finished_int"),
        ({"a": [1]}, "not_finished_dict"),
    ],
)
def test_any_other_word_is_the_reason_in_a_form_that_may_be_shown(word: Any, failure: str) -> None:
    assert ending_failure(word) == failure


def test_without_a_word_a_text_is_whole_until_its_server_says_one() -> None:
    endings = Endings()
    endings.hear(SILENT)
    assert not endings.known
    assert endings.judged(SILENT, REQUEST) == SILENT
    endings.hear(SAID)
    assert endings.known
    assert endings.judged(SILENT, REQUEST).failure == "not_finished_null"
    assert endings.judged(SAID, REQUEST) == SAID


def test_a_text_without_a_word_that_used_all_its_tokens_is_cut() -> None:
    full = replace(SILENT, usage=Usage(output_tokens=20, reasoning_tokens=30))
    assert Endings().judged(full, REQUEST).failure == "length"


def test_a_server_that_gives_no_word_for_long_is_held_to_give_none() -> None:
    endings = Endings()
    for _ in range(SILENT_REPLIES):
        assert not endings.known
        endings.hear(SILENT)
    assert endings.known


def test_a_text_that_an_older_ledger_kept_is_judged_by_its_word() -> None:
    kept = replace(SAID, finish_reason="MAX_TOKENS")
    assert Endings().judged(kept) == replace(kept, text=None, failure="not_finished_MAX_TOKENS")
