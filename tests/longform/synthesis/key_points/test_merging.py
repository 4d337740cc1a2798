"""Points that say the same: every point ends in exactly one group, whatever a model replies."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from longform.synthesis.asking import Log
from longform.synthesis.key_points.points import FoundPoint, Grounds, faults_of, mended, merge, passages
from longform.synthesis.key_points.steps import Group
from tests.longform.synthesis.synthesizing import Told

PASSAGES = [Grounds(doc_id=f"d{n}", start=0, end=7, exact=True, text="passage") for n in (1, 2, 3, 4)]
POINTS = [FoundPoint(text=f"Point {n}.", grounds=(one,)) for n, one in enumerate(PASSAGES, start=1)]

MISPLACED = "numbers 4: in no group; numbers 3: in more than one group"


def grouped(*groups: Sequence[int]) -> str:
    return json.dumps(
        {"groups": [{"point": f"Group of {list(numbers)}", "numbers": list(numbers)} for numbers in groups]}
    )


def merged(*replies: str) -> tuple[list[tuple[int, ...]], Log, Told]:
    told, log = Told(merge_points=replies), Log()
    groups = told.run(merge("Why?", POINTS, tries=2, log=log))
    return [group.numbers for group in groups], log, told


def test_a_partition_is_taken_as_it_is() -> None:
    groups, log, told = merged(grouped([1, 3], [2], [4]))
    assert groups == [(1, 3), (2,), (4,)]
    assert [one.verdict for one in log.attempts] == ["accepted"]
    assert len(told.asks) == 1


def test_missing_and_double_numbers_are_asked_about_once_and_then_mended_by_rule() -> None:
    groups, log, told = merged(grouped([1, 3], [3, 2]), grouped([1, 3], [3, 2, 9], []))
    assert groups == [(1, 3), (2,), (4,)]
    assert "numbers 4: in no group" in told.asks[1].fields["notes"]
    assert [(one.check, one.verdict, one.reason) for one in log.attempts] == [
        ("points merged", "rejected", MISPLACED),
        (
            "points merged",
            "exhausted",
            f"{MISPLACED}; numbers 9: no point's; 1 groups without a number",
        ),
        ("point in one group", "rejected", "point 4 in no group: it stays a point of its own"),
        ("point in one group", "rejected", "point 3 more than once: it stays in its first group"),
    ]


def test_the_second_list_may_be_the_right_one() -> None:
    groups, log, _ = merged(grouped([1]), grouped([4, 1], [2, 3]))
    assert groups == [(4, 1), (2, 3)]
    assert [one.verdict for one in log.attempts] == ["rejected", "accepted"]


@pytest.mark.parametrize(
    "reply", ["Point 1: [1], [2]", "!empty_reply", '{"groups": [{"point": "x", "numbers": ["a"]}]}']
)
def test_without_a_readable_list_every_point_stays(reply: str) -> None:
    groups, log, _ = merged(reply)
    assert groups == [(1,), (2,), (3,), (4,)]
    assert [(one.check, one.verdict) for one in log.attempts[:2]] == [
        ("points merged", "rejected"),
        ("points merged", "exhausted"),
    ]


def test_nobody_is_asked_about_a_single_point() -> None:
    told = Told()
    assert told.run(merge("Why?", POINTS[:1], tries=2, log=Log())) == [Group(point="Point 1.", numbers=(1,))]
    assert told.run(merge("Why?", [], tries=2, log=Log())) == []


def test_a_mended_list_is_always_a_partition() -> None:
    groups = [Group(point="a", numbers=numbers) for numbers in ((2, 2, 5), (), (2, 1), (0, -1))]
    assert not faults_of(mended(groups, POINTS), len(POINTS)).told()


def test_a_group_has_the_passages_of_all_its_points() -> None:
    assert [one.doc_id for one in passages(Group(point="Both.", numbers=(1, 3)), POINTS)] == ["d1", "d3"]
