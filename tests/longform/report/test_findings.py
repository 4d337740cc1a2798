"""Three sentences on a run, from comparisons and cells whose outcome is known."""

from typing import Any

import pytest

from longform.report.findings import findings
from longform.results.differences import NOT_DISTINGUISHABLE
from longform.studies.schema_1 import with_tables


def row(system: str, score: float, finding: str, *, reference: float = 50.0, **more: Any) -> dict[str, Any]:
    summarizer, _, setting = system.partition(", ")
    gap = score - reference
    return {
        "system": system, "summarizer": summarizer, "setting": setting, "same": [], "score": score,
        "difference": gap, "low": gap - 4.0, "high": gap + 4.0, "p": 0.01, "n_clusters": 16,
        "finding": finding, "in_sample": False, **more,
    }  # fmt: skip


def family(*rows: dict[str, Any], reference: str = "a, full", **more: Any) -> dict[str, Any]:
    summarizer, _, setting = reference.partition(", ")
    return {
        "judge": "j", "dataset": None, "measure": "joint", "chosen": "best", "n_systems": 1 + len(rows),
        "n_ordered": 0, "without_score": [], "cluster": "query", "n_clusters": 16, "n_sign_changes": 10_000,
        "reference": reference, "reference_system": {"summarizer": summarizer, "setting": setting},
        "reference_score": 50.0, "reference_same": [], "tied": [], "groups": None, "rows": list(rows),
        "reference_in_sample": False, **more,
    }  # fmt: skip


def cell(system: str, joint: float | None, *, order: str = "given", **more: Any) -> dict[str, Any]:
    summarizer, _, setting = system.partition(", ")
    interval = None if joint is None else [joint - 1, joint + 1]
    return {
        "summarizer": summarizer, "setting": setting, "twin_of": None, "judge": "j", "dataset": None,
        "axes": {"retriever": "full", "order": order}, "joint": joint, "intervals": {"joint": interval},
        "reasons": {}, "n_summaries": 4, "n_failed": 0, "n_repeats": 1, **more,
    }  # fmt: skip


JUDGE = {"judge": "j", "scale": None, "card": "a long line", "worth": "agrees with people", "card_reason": None}


def results(*families: dict[str, Any], cells: Any = (), judges: Any = (JUDGE,), **more: Any) -> Any:
    older = {"title": "t", "aggregate": "pooled", "comparisons": list(families), "cells": list(cells),
             "judges": list(judges), **more}  # fmt: skip
    return with_tables(older)


def test_the_best_their_equals_the_lead_and_the_judge() -> None:
    found = results(family(row("b, full", 48.0, NOT_DISTINGUISHABLE), row("c, full", 40.0, "worse")))
    (one,) = findings(found)
    assert one.about is None
    assert one.best == (
        "a, full has the best joint score, 50.0 of 100; 1 of the 2 others cannot be told apart from it: b, full."
    )
    assert one.lead == "It leads c, full (40.0), the first that can be told apart, by 10.0 points [6.0, 14.0]."
    assert one.worth == "Judge j agrees with people."


def test_a_system_that_is_better_than_all_others() -> None:
    (one,) = findings(results(family(row("b, full", 47.0, "worse"), row("c, full", 40.0, "worse"))))
    assert one.best == "a, full has the best joint score, 50.0 of 100; it is better than each of the 2 others."
    assert one.lead == "It leads b, full (47.0), the next, by 3.0 points [-1.0, 7.0]."
    (alone,) = findings(results(family(row("b, full", 30.0, "worse"))))
    assert alone.best.endswith("it is better than the other system.")


def test_no_test_but_the_comparisons_names_the_best() -> None:
    found = family(row("b, full", 47.0, NOT_DISTINGUISHABLE), row("c, full", 40.0, "worse"))
    best = {"leader": "a, full", "named": True, "p": 0.03}  # as an older version chose it
    pairs = {"judge": "j", "dataset": None, "measure": "joint", "best": best, "systems": [], "pairs": None,
             "better": "higher", "smallest_p": 0.01, "level": 0.05}  # fmt: skip
    (one,) = findings(results(found, pairwise=[pairs]))
    assert one.best.endswith("1 of the 2 others cannot be told apart from it: b, full.")
    assert one.lead == "It leads c, full (40.0), the first that can be told apart, by 10.0 points [6.0, 14.0]."


def test_a_system_that_shares_too_few_queries_is_not_counted_as_told_apart() -> None:
    few = row("c, full", 40.0, "too few clusters (3): no difference could be shown")
    (one,) = findings(results(family(row("b, full", 47.0, "worse"), few)))
    assert one.best.endswith("; 1 of the 2 others has too few queries in common with it: c, full.")


def test_a_higher_score_of_other_queries_is_named_beside_the_one_that_leads() -> None:
    (one,) = findings(results(family(row("b, full", 60.0, "worse"), row("c, full", 40.0, "worse"))))
    assert one.best == (
        "a, full comes first by joint score, 50.0 of 100 (not b, full (60.0): of other queries, and some other system "
        "is better on those that both have); it is better than each of the 2 others."
    )


def test_no_lead_is_claimed_if_nothing_can_be_told_apart() -> None:
    rows = [row(f"{name}, full", 49.0, NOT_DISTINGUISHABLE) for name in "bcdefg"]
    (one,) = findings(results(family(*rows)))
    assert "cannot be told from any of the 6 others: b, full; c, full; d, full; e, full; and 2 more." in one.best
    assert one.lead == (
        "No lead is more than chance would give: the next is b, full (49.0), 1.0 points [-3.0, 5.0] behind, "
        "not distinguishable."
    )


def test_few_clusters_tell_nothing_apart() -> None:
    few = family(row("b, full", 10.0, "too few clusters (3): no difference could be shown"), n_clusters=3)
    (one,) = findings(results(few))
    assert one.best.endswith("but 3 queries are too few to tell any system from another.")
    assert one.lead is None


def test_systems_that_were_ordered_on_purpose_are_left_out() -> None:
    told = family(row("a, top", 53.0, NOT_DISTINGUISHABLE), row("b, full", 40.0, "worse"))
    cells = [cell("a, full", 50.0), cell("a, top", 53.0, order="top"), cell("b, full", 40.0)]
    (one,) = findings(results(told, cells=cells))
    assert "a, top" not in one.best + str(one.lead)
    assert "the other system" in one.best


def test_an_oracle_is_named_as_one_and_the_best_without_it_too() -> None:
    told = family(row("b, full", 42.0, NOT_DISTINGUISHABLE), row("c, bm25", 30.0, "worse"), reference="a, oracle")
    (one,) = findings(results(told))
    assert one.best.startswith("a, oracle (which is given the documents that hold the answers) has the best")
    assert "The best that has to find its documents is b, full (42.0): 8.0 points [4.0, 12.0] behind" in str(one.lead)


def test_figures_in_sample_bear_their_mark() -> None:
    marked = family(
        row("b, full", 49.0, NOT_DISTINGUISHABLE, in_sample=True),
        row("c, full", 40.0, "worse", in_sample=True),
        reference_in_sample=True,
    )
    judge = JUDGE | {"in_sample": "fitted on these very data"}
    (one,) = findings(results(marked, judges=[judge]))
    assert one.best.count("(in sample)") == 2
    assert "c, full (40.0; in sample)" in str(one.lead)
    assert one.worth == "Judge j (fitted on these very data) agrees with people."


def test_a_named_reference_is_no_leader() -> None:
    rows = [row("b, full", 60.0, "better"), row("c, full", 51.0, NOT_DISTINGUISHABLE), row("d, full", 40.0, "worse")]
    (one,) = findings(results(family(*rows, chosen="named")))
    assert one.best == (
        "Of 3 other systems, 1 has a better joint score than a, full (50.0 of 100), which the configuration names; "
        "1 is worse, and 1 cannot be told from it."
    )
    assert one.lead == "b, full (60.0) leads it by 10.0 points [6.0, 14.0]."


def test_each_data_set_has_its_findings_and_no_more_than_three() -> None:
    families = [family(row("b, full", 30.0, "worse"), judge=f"j{n}", dataset=f"d{n}") for n in range(5)]
    found = findings(results(*families))
    assert [one.about for one in found] == [f"Data set d{n}" for n in range(3)]


def test_the_leading_judge_speaks_alone_and_one_sentence_says_if_others_agree() -> None:
    def by(judge: str | None, *rows: dict[str, Any], **more: Any) -> dict[str, Any]:
        return family(*rows, judge=judge, **more)

    b, c = row("b, full", 40.0, "worse"), row("c, full", 30.0, "worse")
    first = by("first", b, c)
    for others, expected in [
        ([by("second", c, b)], "Another judge: second agrees on which system is best."),
        (
            [by("second", c), by("third", row("a, full", 20.0, "worse"), reference="b, full"), by(None, c)],
            (
                "Other judges: second and the measures without a judge agree on which system is best; third has "
                "another first, b, full (50.0)."
            ),
        ),
        ([by("second", row("b, full", 60.0, "better"), chosen="named")], "has another first, b, full (60.0)."),
        ([by("second") | {"reference": None, "reference_score": None}], "Another judge: second cannot tell."),
    ]:
        (one,) = findings(results(first, *others))
        assert str(one.others).endswith(expected)
        assert "judge first" in one.worth
    (alone,) = findings(results(first))
    assert alone.others is None


def test_the_half_of_a_name_that_all_systems_share_is_left_out() -> None:
    cells = [cell("a, full", 50.0), cell("b, full", 40.0), cell("a twin, full", 60.0, twin_of="a")]
    (one,) = findings(results(family(row("b, full", 40.0, "worse")), cells=cells))
    assert one.best.startswith("a has the best joint score, 50.0")
    assert str(one.lead).startswith("It leads b (40.0)")
    (both,) = findings(results(family(row("b, bm25", 40.0, "worse")), cells=[*cells, cell("b, bm25", 40.0)]))
    assert both.best.startswith("a, full has")


def test_a_judge_without_a_card_and_scores_without_a_judge() -> None:
    bare = JUDGE | {"card": None, "worth": None, "card_reason": "x.json is the card of another judge"}
    (one,) = findings(results(family(), judges=[bare]))
    assert one.worth == (
        "Nobody has measured judge j against people: how far to trust its scores is not known "
        "(x.json is the card of another judge)."
    )
    (one,) = findings(results(family(), judges=[JUDGE | {"worth": None}]))
    assert one.worth == "Judge j: its card stands under Judges."
    (one,) = findings(results(family(judge=None), judges=[]))
    assert one.worth == "No judge gave these scores: they are computed from the texts."


def test_the_cost_of_the_best_and_of_the_cheapest_that_cannot_be_told_from_it() -> None:
    names = ("a, full", "b, full", "c, bm25")
    cells = [cell(name, 50.0, usd_a_summary=usd) for name, usd in zip(names, (0.5, 0.02, 0.001), strict=True)]
    told = family(row("b, full", 48.0, NOT_DISTINGUISHABLE), row("c, bm25", 40.0, "worse"))
    (one,) = findings(results(told, cells=cells))
    assert one.cost == ("A summary by a, full costs $0.5000; by b, full, which cannot be told from it, $0.0200.")
    cells[0] |= {"usd_a_summary": None, "reasons": {"usd_a_summary": "no price"}}
    assert findings(results(told, cells=cells))[0].cost == ("What a summary by a, full costs is not known: no price.")
    assert findings(results(told))[0].cost is None


@pytest.mark.parametrize(
    ("cells", "more", "expected"),
    [
        ([], {"unscored": ["no judge is configured."]}, "Nothing can be said of the systems: no judge is configured."),
        ([], {}, "Nothing can be said of the systems: no summary was scored."),
        (
            [cell("a, full", None, reasons={"joint": "every judgement is missing"})],
            {},
            "Nothing can be said of the systems: every judgement is missing.",
        ),
        (
            [cell("a, full", 33.0), cell("a, twin", 99.0, twin_of="a")],
            {},
            "There is one system, a, full, so none is compared. Its joint score: 33.0 [32.0, 34.0] (95 % interval).",
        ),
    ],
)
def test_what_cannot_be_said_has_its_reason(cells: Any, more: Any, expected: str) -> None:
    (one,) = findings(results(cells=cells, **more))
    assert (one.best, one.lead) == (expected, None)


def test_no_known_difference_is_said() -> None:
    (one,) = findings(results(family() | {"reference_system": None, "reference_score": None, "reference": None}))
    assert one.best == "Nothing can be said of the systems: no difference of scores is known."
