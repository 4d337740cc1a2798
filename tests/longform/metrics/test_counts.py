"""Refusals are counted as their own, and nothing is asked or scored of them."""

import pytest

from longform.judges.kind import Group
from longform.judges.kinds.coverage import COVERAGE
from longform.measures import SHIPPED
from longform.metrics.measure import Facts
from longform.text.units import units_of

CLAIM, REFUSAL = "The council rebuilt the bridge [1].", "The documents do not say when it will open."
MEASURES = {one.name: one for one in SHIPPED}


def facts(text: str) -> Facts:
    return Facts(text=text, units=units_of(text, "statements"))


@pytest.mark.parametrize(
    ("text", "total", "n"),
    [(f"{CLAIM} {REFUSAL}", 1, 2), (f"- {REFUSAL}\n- {CLAIM}", 1, 2), (REFUSAL, 1, 1), (CLAIM, 0, 1), ("", 0, 0)],
)
def test_the_share_of_sentences_that_refuse(text: str, total: int, n: int) -> None:
    found = MEASURES["refused"].per_summary(facts(text))
    assert (found.total, found.n, found.reason) == (total, n, None if n else "no_sentences")


def test_a_refusal_is_no_unit_but_where_a_release_counts_lines() -> None:
    text = f"{CLAIM} {REFUSAL}"
    assert units_of(text, "statements") == units_of(CLAIM, "statements")
    assert len(units_of(CLAIM, "statements")) == 1
    assert len(units_of(text, "sentences")) == 2
    assert len(units_of(text, "bullets")) == 1


@pytest.mark.parametrize("measure", ["faithfulness max-mean", "cited_support", "sentences_cited"])
def test_a_summary_that_only_refuses_has_no_support_and_the_reason(measure: str) -> None:
    found = MEASURES[measure].per_summary(facts(REFUSAL))
    assert (found.n, found.n_unjudged, found.reason) == (0, 0, "refused")
    assert MEASURES[measure].per_summary(facts("")).reason != "refused"


def test_a_summary_that_only_refuses_covers_nothing_and_no_judge_is_asked() -> None:
    group = Group("s", tuple(unit.text for unit in units_of(REFUSAL, "statements")), ("The bridge opens in May.",))
    settled = COVERAGE.settle(group, group.items[0])
    assert settled is not None
    assert settled.answer == "none"
