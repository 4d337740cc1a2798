"""Members that are made when they are asked for make a sequence as a list of them does."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jobs.stages.items import Made

BASES = st.lists(st.lists(st.integers(), max_size=4), max_size=4)
ENDS = st.none() | st.integers(-20, 20)


def double(base: int) -> int:
    return 2 * base


def made(bases: list[list[int]]) -> Made[int]:
    return Made(*((double, part) for part in bases))


@given(BASES, ENDS, ENDS, st.integers(-20, 20))
def test_it_is_read_as_the_list_of_its_members(
    bases: list[list[int]], start: int | None, stop: int | None, place: int
) -> None:
    of_them, listed = made(bases), [2 * base for part in bases for base in part]
    assert (len(of_them), [*of_them]) == (len(listed), listed)
    assert [*of_them[start:stop]] == listed[start:stop]
    if -len(listed) <= place < len(listed):
        assert of_them[place] == listed[place]


def test_nothing_is_made_before_it_is_asked_for() -> None:
    asked: list[int] = []
    of_them = Made((asked.append, [0, 1, 2]))
    assert len(of_them) == 3
    assert asked == []
    of_them[-1]
    assert asked == [2]
