"""The mean of judges' numbers: known answers, and what it does where one of them has none."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.judges.kinds.coverage import COVERAGE
from longform.judges.kinds.support import SUPPORT
from longform.judges.means import mean_rows

CUTS = (0.25, 0.75)


def verdict(answer, probability=None, link=None, *, target="t", failure=None, version="v@1"):
    return {
        "summary_id": "s",
        "target_kind": "insight",
        "target_id": target,
        "mode": "full",
        "answer": answer,
        "probability": probability,
        "linked_unit": link,
        "failure": failure,
        "prompt_version": version,
    }


def mean_of(*members, cuts=CUTS):
    named = {f"judge{place}": [member] for place, member in enumerate(members)}
    (row,) = mean_rows(COVERAGE, named, judge="both", bounds=cuts)
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
    rows = mean_rows(
        COVERAGE, {"a": [verdict("full"), verdict("none", target="u")], "b": [verdict("full")]}, judge="m", bounds=CUTS
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


# ---------------------------------------------------------------- of support


def cell(answer, probability=None, *, unit=0, document="d", place=0, **more):
    return {
        "summary_id": "s",
        "unit_index": unit,
        "target_kind": "document",
        "target_id": document,
        "mode": "document",
        "doc_position": place,
        "chunk_index": None,
        "answer": answer,
        "probability": probability,
        "failure": None,
        "prompt_version": "v@1",
        **more,
    }


def support_mean_of(*members, threshold=0.5):
    named = {f"judge{place}": [member] for place, member in enumerate(members)}
    (row,) = mean_rows(SUPPORT, named, judge="both", bounds=[threshold])
    return row


@pytest.mark.parametrize(
    ("first", "second", "mean", "answer"),
    [
        (cell("supported", 0.9), cell("unsupported", 0.3), 0.6, "supported"),
        (cell("supported", 0.7), cell("unsupported", 0.3), 0.5, "unsupported"),
        (cell("supported"), cell("unsupported", 0.2), 0.6, "supported"),
        (cell("supported", 0.1), cell("unsupported"), 0.05, "unsupported"),
    ],
    ids=["above", "at-the-threshold", "yes-counts-1", "no-counts-0"],
)
def test_mean_of_support_is_of_probabilities_and_of_yes_and_no_where_there_is_none(first, second, mean, answer):
    row = support_mean_of(first, second)

    assert (row["probability"], row["answer"], row["failure"]) == (mean, answer, None)
    assert row["judge"] == "both"


def test_another_threshold_changes_the_answer_and_not_the_number():
    row = support_mean_of(cell("supported", 0.9), cell("unsupported", 0.3), threshold=0.7)

    assert (row["probability"], row["answer"]) == (0.6, "unsupported")


def test_member_without_an_answer_leaves_no_mean_of_support():
    row = support_mean_of(cell("supported", 0.9), cell(None, 0.4, failure="empty_reply"))

    assert (row["answer"], row["probability"], row["failure"]) == (None, None, "judge1: empty_reply")
    assert json.loads(row["reply"]) == {"judge0": 0.9, "judge1": None}


def test_cell_that_one_member_never_saw_is_unjudged():
    rows = mean_rows(
        SUPPORT,
        {"a": [cell("supported", 1.0), cell("supported", 1.0, unit=1)], "b": [cell("supported", 1.0)]},
        judge="m",
        bounds=[0.5],
    )

    assert [(row["unit_index"], row["failure"]) for row in rows] == [(0, None), (1, "b: no_verdict")]


def test_equal_documents_in_two_places_are_two_cells():
    members = [cell("supported", value, place=place) for place, value in enumerate((0.2, 0.6))]
    rows = mean_rows(SUPPORT, {"a": members, "b": members[::-1]}, judge="m", bounds=[0.5])

    assert [(row["doc_position"], row["probability"]) for row in rows] == [(0, 0.2), (1, 0.6)]


def test_chunk_keeps_its_place_and_a_judge_s_own_window_is_dropped():
    """Two judges read a document in windows of their own; a chunk of the joined text is the same for both."""
    windows = support_mean_of(cell("supported", 0.9, chunk_index=3), cell("supported", 0.9, chunk_index=7))
    given = {"mode": "chunk-64", "document": "same", "place": None}
    chunks = [cell("supported", 0.9, text_index=place, chunk_index=5, **given) for place in (0, 1)]
    rows = mean_rows(SUPPORT, {"a": chunks, "b": chunks}, judge="m", bounds=[0.5])

    assert windows["chunk_index"] is None
    assert [row["text_index"] for row in rows] == [0, 1]
    assert {(row["chunk_index"], row["doc_position"]) for row in rows} == {(None, None)}


def test_verdicts_made_before_texts_had_a_place_meet_those_made_after():
    documents = [(cell("supported", 0.8, place=1), cell("supported", 0.4, place=None, text_index=1))]
    chunk = {"mode": "chunk-64", "place": None}
    chunks = [(cell("supported", 0.8, chunk_index=2, **chunk), cell("supported", 0.4, text_index=2, **chunk))]

    for old, new in documents + chunks:
        assert support_mean_of(old, new)["probability"] == pytest.approx(0.6)


def test_version_of_a_mean_of_support_names_what_made_the_members():
    row = support_mean_of(cell("supported", prompt_version="offline@2"), cell("supported", prompt_version=None))

    assert row["prompt_version"] == "mean_support@1: offline@2 + judge1"
