"""The reasoning in a reply is no part of its answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.text.reasoning import without_reasoning


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("plain [1]", "plain [1]"),
        ("<think>hm</think>yes", "yes"),
        ("hm, no</think>\nyes", "yes"),
        ("<think>not yet done: yes", ""),
        ("a<THINK>hm</Think>b<thinking>hm</thinking>c", "a b c"),
        ("[THINK]hm[/THINK]yes", "yes"),
        ("◁think▷hm◁/think▷yes", "yes"),
        ("<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>yes<|return|>", "yes"),
        ("<|channel|>analysis<|message|>hm", ""),
    ],
)
def test_reasoning_is_set_aside(reply: str, answer: str) -> None:
    assert without_reasoning(reply).split() == answer.split()


@given(st.lists(st.sampled_from(["<think>", "</think>", "yes", " ", "<|channel|>final<|message|>", "["])).map("".join))
def test_every_place_of_the_answer_stays_where_it_was(reply: str) -> None:
    shown = without_reasoning(reply)
    assert len(shown) == len(reply)
    assert all(after in (before, " ") for before, after in zip(reply, shown, strict=True))
