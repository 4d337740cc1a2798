"""The mean of judges' numbers: known answers, and what it does where one of them has none."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.judges.mean_coverage import mean_verdicts

CUTS = (0.25, 0.75)


def verdict(answer, probability=None, link=None, *, target="t", failure=None, version="v@1"):
    return {
        "summary_id": "s",
        "target_kind": "insight",
        "target_id": target,
        "answer": answer,
        "probability": probability,
        "linked_unit": link,
        "failure": failure,
        "prompt_version": version,
    }


def mean_of(*members, cuts=CUTS):
    named = {f"judge{place}": [member] for place, member in enumerate(members)}
    (row,) = mean_verdicts(named, judge="both", cuts=cuts)
    return row


@pytest.mark.parametrize(
    ("first", "second", "mean", "answer"),
    [
        (verdict("partial", 0.6), verdict("full"), 0.8, "full"),
        (verdict("partial", 0.5), verdict("full"), 0.75, "full"),
        (verdict("partial"), verdict("none"), 0.25, "partial"),
        (verdict("none", 0.2), verdict("none"), 0.1, "none"),
        (verdict("none", 0.0), verdict("full"), 0.5, "partial"),
    ],
)
def test_mean_is_of_probabilities_and_of_what_an_answer_counts_where_there_is_none(first, second, mean, answer):
    row = mean_of(first, second)

    assert (row["probability"], row["answer"], row["failure"]) == (mean, answer, None)
    assert row["judge"] == "both"


def test_other_cuts_change_the_answer_and_not_the_number():
    row = mean_of(verdict("partial", 0.6), verdict("full"), cuts=(0.4, 0.9))

    assert (row["probability"], row["answer"]) == (0.8, "partial")


def test_member_without_an_answer_leaves_no_mean_and_is_named():
    """An unknown is not 0, and not the other member's number either."""
    row = mean_of(verdict("full", 0.9, 1), verdict(None, failure="not_json"))

    assert (row["answer"], row["probability"], row["linked_unit"]) == (None, None, None)
    assert row["failure"] == "judge1: not_json"
    assert json.loads(row["reply"]) == {"judge0": 0.9, "judge1": None}


def test_probability_without_an_answer_is_no_number():
    row = mean_of(verdict("full", 0.9), verdict(None, 0.4, failure="cut off"))

    assert row["probability"] is None


def test_target_that_one_member_never_saw_is_unjudged():
    rows = mean_verdicts(
        {"a": [verdict("full"), verdict("none", target="u")], "b": [verdict("full")]}, judge="m", cuts=CUTS
    )

    assert [(row["target_id"], row["answer"], row["failure"]) for row in rows] == [
        ("t", "full", None),
        ("u", None, "b: no_verdict"),
    ]


def test_link_is_of_the_first_member_that_linked():
    assert mean_of(verdict("full", link=2), verdict("full", link=5))["linked_unit"] == 2
    assert mean_of(verdict("none"), verdict("full", link=0))["linked_unit"] == 0
    assert mean_of(verdict("none", 0.1, link=3), verdict("none"))["linked_unit"] is None


def test_version_names_what_made_the_members():
    """A card of this judge is of these versions."""
    row = mean_of(verdict("full", version="offline@2"), verdict("full", version=None))

    assert row["prompt_version"] == "mean@1: offline@2 + judge1"


@given(st.lists(st.floats(0, 1), min_size=2, max_size=4))
def test_mean_lies_between_its_members_whatever_their_order(numbers):
    members = [verdict("partial", number) for number in numbers]
    row, reverse = mean_of(*members), mean_of(*reversed(members))

    assert min(numbers) - 1e-6 <= row["probability"] <= max(numbers) + 1e-6
    assert row["answer"] == reverse["answer"]
