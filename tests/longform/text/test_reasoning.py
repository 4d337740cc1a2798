"""The reasoning in a reply is no part of its answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.text.reasoning import set_aside, without_reasoning


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


NAMES = [
    "think",
    "Thinking",
    "THOUGHT",
    "antThinking",
    "inner_monologue",
    "chain_of_thought",
    "cot",
    "plan",
    "internal",
]
FRAMES = [("<", ">", "</", ">"), ("<|", "|>", "<|/", "|>"), ("<|begin_of_", "|>", "<|end_of_", "|>")]
FRAMES += [("&lt;", "&gt;", "&lt;/", "&gt;"), ("\\<", "\\>", "\\</", "\\>"), ("<", ' type="x">', "</", " >")]
MARKS = [(f"{a}{name}{b}", f"{c}{name}{d}") for name in NAMES for a, b, c, d in FRAMES] + [
    ("<unused94>thought", "<unused95>"),
    ("<details>\n<summary>Thinking</summary>", "</details>"),
    ("<tool_call>", "</tool_call>"),
    ("Thinking...", "...done thinking."),
    ("Here is my thought process:", "Here is my response:"),
    ("**Reasoning:**", "**Answer:**"),
    ("## Thinking", "\n## Answer\n"),
    ("analysis", "assistantfinal"),
]
ANSWER = "The bridge opens in May [1]. It costs 3 million [2]."


@pytest.mark.parametrize(("opening", "closing"), MARKS)
@pytest.mark.parametrize("between", ["", "\n"])
def test_reasoning_is_told_by_the_words_in_its_marks(opening: str, closing: str, between: str) -> None:
    reply = f"{opening}\nThe user asks [8]. Let me see [7].{between}{closing}{between}{ANSWER}"
    found = set_aside(reply)
    assert found.answer.strip() == ANSWER
    assert "Let me see [7]." in found.thought


@pytest.mark.parametrize(
    "text",
    [
        "The tag </think> ends the reasoning [1].",
        "Models write <think> before they answer [1].",
        "Use `<think>` and `</think>` around it [1].",
        "In `<think>...</think>` the model thinks [1].",
        'The marks "<think>" and "</think>" frame it [1].',
        "The <planet> tag and the <internals> tag [1].",
        "Thinking about it is hard [1]. Answer: no.",
        "## Analysis\nIt rose [1].\n\n## Answer\nNo [2].",
        "<details><summary>Data</summary>It rose [1].</details>\nEnd [2].",
        "**Answer:** It rose [1].\n**Reasoning:** since [2].",
        "analysis of the data shows it [1].",
    ],
)
def test_a_text_that_speaks_of_such_marks_stays(text: str) -> None:
    assert set_aside(text) == (text, "")


@pytest.mark.parametrize("part", ["<think ", "a_-:", "<a_a_", "analysis", "<details><summary>", "`<think>", "&lt;\\"])
def test_long_replies_take_no_longer(part: str) -> None:
    assert set_aside(part * 30_000).answer
