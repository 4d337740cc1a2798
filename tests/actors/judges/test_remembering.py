"""A pair that several summaries have is judged once, and its verdict is that of the judge."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from actors.judges.backend import Remembering
from longform.judges.kind import Group, Verdict, Verdicts
from longform.judges.kinds.support import SUPPORT


class Counting:
    """Supports what stands in the text."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    async def ask(self, groups: Sequence[Group]) -> Verdicts:
        self.asked += [(group.text, item) for group in groups for item in group.items]
        return [[SUPPORT.by_number(float(item in group.text), (0.5,)) for item in group.items] for group in groups]


def test_no_pair_is_asked_twice() -> None:
    judge = Counting()
    remembering = Remembering(SUPPORT, judge)
    first = asyncio.run(remembering.ask([Group("x", ("a b",), ("a", "c")), Group("y", ("a b",), ("b",))]))
    again = asyncio.run(remembering.ask([Group("z", ("a b",), ("c", "d", "a", " "))]))

    assert sorted(judge.asked) == [("a b", item) for item in "abcd"]
    assert [[one.answer for one in of] for of in first] == [["supported", "unsupported"], ["supported"]]
    assert [one.answer for one in again[0]] == ["unsupported", "unsupported", "supported", None]
    assert isinstance(again[0][0], Verdict)


def test_repeats_of_a_question_are_questions_of_their_own() -> None:
    judge = Counting()
    remembering = Remembering(SUPPORT, judge)
    for repeat in (0, 1):
        asyncio.run(remembering.ask([Group("x", ("a",), ("a",), repeat=repeat)]))
    assert len(judge.asked) == 2
