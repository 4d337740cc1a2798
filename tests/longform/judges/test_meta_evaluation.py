"""Several judges of coverage beside each other: bias by family, differences, parts, and what was not judged."""

from __future__ import annotations

from typing import Any

import pytest

from longform.judges.meta_evaluation import HeldJudge
from longform.judges.worth import ALL
from tests.longform.judges.labelled import by_targets, compared_by_targets

N = 12
"""Summaries, of two insights each: the first third by one family, the others by another."""

PEOPLE = ["full", "none", "partial", "full"] * (N // 2)
SUMMARIES = {
    f"s{place}": {
        "summarizer": "few" if place < N // 3 else "many",
        "text": "\n".join(["one two"] * (place + 1)),
        "haystack_id": "news" if place < N // 2 else "talk",
        "text_kind": "news" if place < N // 2 else "conversation",
    }
    for place in range(N)
}


def judge(name: str, answers: list[str | None], *, fitted: frozenset[str] = frozenset()) -> HeldJudge:
    return by_targets(name, PEOPLE, answers, SUMMARIES, fitted=fitted)


def meta(*judges: HeldJudge) -> dict[str, Any]:
    return compared_by_targets(judges)


def test_bias_is_the_mean_of_summaries_in_each_family_and_the_average_counts_families_once() -> None:
    """A judge that gives full marks to all: of few (full, none), (partial, full) and so on by hand."""
    (found,) = meta(judge("generous", ["full"] * len(PEOPLE)))["judges"]
    bias = {row["summarizer"]: row["value"] for row in found["bias"]["by_summarizer"]}

    # summaries are (full, none) and (partial, full) in turn: people's means 0.5 and 0.75
    assert bias == {"few": pytest.approx(0.375), "many": pytest.approx(0.375)}
    assert found["bias"]["average"]["value"] == pytest.approx(0.375)


def test_the_average_over_families_is_not_the_mean_over_summaries() -> None:
    answers = ["full"] * (2 * (N // 3)) + PEOPLE[2 * (N // 3) :]
    (found,) = meta(judge("kind to few", [*answers]))["judges"]

    assert found["bias"]["average"]["value"] == pytest.approx((0.375 + 0) / 2)
    assert found["bias"]["average"]["n"] == N


def test_judges_are_compared_on_the_labels_that_both_judged() -> None:
    right: list[str | None] = list(PEOPLE)
    wrong = [{"full": "none", "none": "full", "partial": "partial"}[answer] for answer in PEOPLE]
    silent: list[str | None] = [None, *right[1:]]
    found = meta(judge("silent", silent), judge("wrong", [*wrong]))
    (whole, *parts) = found["differences"]

    assert (whole["first"], whole["second"], whole["part"]) == ("silent", "wrong", ALL)
    assert whole["difference"]["n"] == len(PEOPLE) - 1
    assert whole["difference"]["value"] == pytest.approx(2.0)
    assert [row["part"] for row in parts] == ["conversation", "news"]
    assert found["judges"][0]["parts"][ALL]["n_unjudged"] == 1


def test_a_judge_with_itself_does_not_differ() -> None:
    answers: list[str | None] = ["full", "none", "none", "full"] * (N // 2)
    found = meta(judge("a", answers), judge("b", answers))

    assert found["differences"][0]["difference"]["value"] == 0
    assert found["differences"][0]["difference"]["p"] == 1.0


def test_what_a_judge_was_fitted_on_is_marked_in_its_parts_and_differences() -> None:
    fitted = judge("fitted", [*PEOPLE], fitted=frozenset({"news"}))
    found = meta(fitted, judge("other", [*PEOPLE]))
    marks = {part: one["in_sample"] for part, one in found["judges"][0]["parts"].items()}

    assert marks == {ALL: True, "conversation": False, "news": True}
    assert {row["part"]: row["in_sample"] for row in found["differences"]} == {
        ALL: ["fitted"],
        "conversation": [],
        "news": ["fitted"],
    }


def test_one_annotator_is_no_ceiling_and_says_so() -> None:
    found = meta(judge("a", [*PEOPLE]))

    assert found["people"] is None
    assert found["people_reason"] == "no item has labels of two annotators"


def test_a_judge_without_any_answer_is_unknown() -> None:
    (found,) = meta(judge("dumb", [None] * len(PEOPLE)))["judges"]

    assert found["parts"][ALL]["pearson"]["value"] is None
    assert found["parts"][ALL]["n_unjudged"] == len(PEOPLE)
    assert found["bias"]["average"]["value"] is None
