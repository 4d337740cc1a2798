"""One verdict a pair out of the repeats of a judge."""

from __future__ import annotations

from typing import cast

from longform.judges.kinds import KINDS
from longform.judges.means import merged_repeats
from longform.rows import VerdictRow


def row(repeat: int, answer: str | None, *, target: str = "t", **more: object) -> VerdictRow:
    given = {
        "summary_id": "s", "mode": "full", "unit_index": None, "target_id": target, "repeat": repeat, "answer": answer,
        "probability": None, "linked_unit": None, "failure": None if answer else "length", "reply": f"r{repeat}",
    }  # fmt: skip
    return cast("VerdictRow", given | more)


def merged(*rows: VerdictRow) -> VerdictRow:
    (found,) = merged_repeats(KINDS["coverage"], rows)
    return found


def test_the_answer_is_that_of_most_repeats_and_the_number_their_mean() -> None:
    found = merged(row(0, "full", linked_unit=2), row(1, "none"), row(2, "full", linked_unit=1), row(3, "full"))
    assert (found["answer"], found["probability"], found["reply"]) == ("full", 0.75, '["r0", "r1", "r2", "r3"]')


def test_a_tie_goes_to_the_answer_nearest_to_the_mean_then_to_the_lower() -> None:
    assert merged(row(0, "full"), row(1, "none"))["answer"] == "none"
    assert merged(row(0, "full"), row(1, "partial"), row(2, "none"))["answer"] == "partial"


def test_the_link_is_that_of_most_repeats_with_the_answer() -> None:
    rows = [row(0, "full", linked_unit=2), row(1, "full", linked_unit=1), row(2, "full", linked_unit=1)]
    assert merged(*rows, row(3, "none"))["linked_unit"] == 1


def test_an_unread_repeat_counts_in_nothing_and_only_unread_ones_leave_a_pair_unjudged() -> None:
    found = merged(row(0, None), row(1, "full"))
    assert (found["answer"], found["probability"], found["failure"]) == ("full", None, None)
    assert merged(row(0, None), row(1, None))["failure"] == "length"


def test_rows_without_repeats_stay_as_they_are() -> None:
    rows = [row(0, "full"), row(0, "none", target="other")]
    assert all(one is other for one, other in zip(merged_repeats(KINDS["coverage"], rows), rows, strict=True))
