"""Units of a summary: lines and sentences as releases count them."""

from __future__ import annotations

import pytest

from longform.text.units import units_of

VOTE, COST = "The council voted 7 to 2.", "It costs 3.4 million euros."


@pytest.mark.parametrize("text", [
    "The council voted 7 to 2 [1]. It costs 3.4 million euros [2, 3].",
    "The council voted 7 to 2. [1] It costs 3.4 million euros. [2][3]",
    "The council voted 7 to 2. [1]. It costs 3.4 million euros. [2, 3].",
    "The council voted 7 to 2.[1] It costs 3.4 million euros.[2][3]",
    "The council voted 7 to 2.\n[1]\nIt costs 3.4 million euros. [2, 3]",
])  # fmt: skip
def test_citations_belong_to_the_sentence_that_they_follow(text: str) -> None:
    assert units_of(text, "sentences") == [(f"{VOTE} [1]", [1]), (f"{COST} [2, 3]", [2, 3])]


def test_sentences_without_citations_are_those_of_each_line() -> None:
    text = "- It fell:\n- [Article 3] rose. [2-4] Then\n\nthe rest"

    assert units_of(text, "sentences") == [
        ("- It fell:", []), ("- [Article 3] rose.", []), ("[2-4] Then", []), ("the rest", []),
    ]  # fmt: skip


def test_bullets_are_lines_with_numbers_in_square_brackets() -> None:
    text = "# Head [1-2]\n\n- So [2, 1].\n  it is [99999999999] [" + "9" * 5000 + "]"

    assert [one.citations for one in units_of(text, "bullets")] == [[], [1, 2], [2**31 - 1]]
