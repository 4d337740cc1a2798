"""Systems before and after repair: paired differences with known answers, and examples that nobody picked."""

from __future__ import annotations

import random

import pytest

from longform.evidence.scores import means
from longform.results.repaired_examples import SHOWN, Change, changes, drawn_examples
from longform.studies.repair import before_after
from tests.frames import Scored, SummaryInfo, frames_of

SETTINGS = {"judge": "j", "aggregate": "pooled", "seed": 1}


def scored(summary_id, query_id, summarizer, *, citation, joint, coverage=(1.5, 2)):
    info = SummaryInfo(summary_id, query_id, summarizer, "full", None, None, None, None)
    measures = {"citation": citation, "joint": joint, "coverage": coverage}
    return Scored(info, {name: (*value, 0) for name, value in measures.items()})


def repaired(summaries, originals, **settings):
    named = [one._replace(info=one.info._replace(original=originals.get(one.info.summary_id))) for one in summaries]
    scores, facts = frames_of(named)
    return before_after(means(scores), facts, **settings)


SUMMARIES = [
    scored("a", "q1", "sys", citation=(0.5, 2), joint=(0.5, 2)),
    scored("A", "q1", "sys, found", citation=(1.5, 2), joint=(1.0, 2)),
    scored("b", "q2", "sys", citation=(0.5, 1), joint=(0.5, 4), coverage=(1.0, 4)),
    scored("B", "q2", "sys, found", citation=(1.0, 1), joint=(2.0, 4), coverage=(1.0, 4)),
    scored("other", "q2", "never repaired", citation=(1.0, 1), joint=(1.0, 1)),
]
ORIGINALS = {"A": "a", "B": "b"}


def test_scores_are_pooled_over_the_same_insights_and_the_difference_is_theirs():
    (row,) = repaired(SUMMARIES, ORIGINALS, **SETTINGS)

    assert (row["summarizer"], row["setting"], row["judge"], row["n_summaries"]) == ("sys", "full", "j", 2)
    assert row["citation"]["before"] == pytest.approx(100 / 3)
    assert row["citation"]["after"] == pytest.approx(250 / 3)
    assert row["joint"]["difference"] == pytest.approx(100 * (3.0 - 1.0) / 6)
    assert row["joint"]["low"] is None  # two queries
    assert row["joint"]["finding"] == "too few clusters (2): no difference could be shown"


def test_finding_of_a_repair_is_what_its_interval_says():
    summaries = [
        scored(f"{name}{q}", f"q{q}", system, citation=(cited, 2), joint=(0.1 * (q % 3) * cited, 2))
        for q in range(8)
        for name, system, cited in (("a", "sys", 0.2), ("A", "sys, found", 1.5 + 0.02 * q))
    ]
    (row,) = repaired(summaries, {f"A{q}": f"a{q}" for q in range(8)}, **SETTINGS)

    assert row["citation"]["low"] > 0
    assert row["citation"]["finding"] == "better"
    assert row["coverage"]["finding"] == "not distinguishable"


def test_coverage_that_did_not_move_has_no_width():
    """The interval is of the paired difference: that both scores are uncertain is no part of it."""
    more = [
        scored(f"{name}{q}", f"m{q}", system, citation=(0.5, 1), joint=(0.5, 4), coverage=(1.0, 4))
        for q in range(6)
        for name, system in (("x", "sys"), ("X", "sys, found"))
    ]
    (row,) = repaired([*SUMMARIES, *more], ORIGINALS | {f"X{q}": f"x{q}" for q in range(6)}, **SETTINGS)

    assert (row["coverage"]["difference"], row["coverage"]["low"], row["coverage"]["high"]) == (0, 0, 0)


def test_means_of_summaries_count_each_summary_once():
    (row,) = repaired(SUMMARIES, ORIGINALS, **SETTINGS | {"aggregate": "per_summary"})

    assert row["citation"]["before"] == pytest.approx(100 * (0.25 + 0.5) / 2)
    assert row["citation"]["after"] == pytest.approx(100 * (0.75 + 1.0) / 2)


def test_one_query_has_a_difference_and_no_interval():
    (row,) = repaired(SUMMARIES[:2], {"A": "a"}, **SETTINGS)

    assert row["citation"]["difference"] == pytest.approx(50)
    assert (row["citation"]["low"], row["citation"]["high"]) == (None, None)


def test_system_without_a_covered_insight_has_no_citation_score():
    nothing = [
        scored("a", "q1", "sys", citation=(0.0, 0), joint=(0.0, 2)),
        scored("A", "q1", "sys, found", citation=(0.0, 0), joint=(0.0, 2)),
    ]
    (row,) = repaired(nothing, {"A": "a"}, **SETTINGS)

    assert set(row["citation"].values()) == {None}
    assert row["joint"]["after"] == 0


# ---------------------------------------------------------------- examples


def facts(citations, verdicts=()):
    return {
        "bullets": [{"text": "b", "citations": cited} for cited in citations],
        "verdicts": [
            {"judge": judge, "target_id": target, "answer": answer, "linked_unit": unit}
            for judge, target, answer, unit in verdicts
        ],
    }


def test_only_linked_bullets_of_covered_insights_with_known_documents_are_examples():
    verdicts = [
        ("j", "t1", "full", 0),
        ("j", "t2", "none", 0),
        ("j", "t3", "full", None),
        ("j", "t4", "partial", 9),
        ("j", "t5", "full", 1),
        ("k", "t1", "full", 1),
        ("j", "t6", None, 1),
    ]
    summaries = {"a": facts([[1], [2]], verdicts), "A": facts([[1, 3], []], verdicts)}
    gold = {"t1": [1, 3], "t2": [1], "t3": [1], "t4": [1], "t5": [], "t6": [1]}

    assert changes(summaries, {"A": "a"}, gold, judge="j") == [Change("a", "A", 0, "t1", (1,), (1, 3), (1, 3))]


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [((1,), (1, 2), "better"), ((1, 2), (3,), "worse"), ((1,), (2,), "unchanged"), ((), (3,), "unchanged")],
)
def test_kind_of_a_change_is_by_its_citation_score(before, after, kind):
    assert Change("a", "A", 0, "t", before, after, (1, 2)).kind == kind


def test_some_of_each_kind_are_drawn_whatever_order_they_come_in():
    """Tables come in another order after a resume; the page must not."""
    found = [
        Change(f"s{place}", f"S{place}", 0, "t", before, after, (1, 2))
        for place in range(30)
        for before, after in [[((1,), (1, 2)), ((1, 2), (1,)), ((1,), (1,))][place % 3]]
    ]
    drawn = drawn_examples(found)
    mixed = random.Random(1).sample(found, len(found))

    assert {kind: sum(change.kind == kind for change in drawn) for kind in SHOWN} == SHOWN
    assert drawn_examples(mixed) == drawn
