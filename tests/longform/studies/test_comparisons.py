"""Systems against one reference: who it is, who counts once, and what may be said."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from longform.errors import UsageError
from longform.metrics.measure import Described
from longform.results.aggregate import Averaging
from longform.results.pairs import PairedFamily
from longform.settings.systems import SystemName, named_system
from longform.studies import comparisons
from longform.studies.pairwise import Systems
from tests.frames import Scored, SummaryInfo, contents_of, frames_of

JOINT = Described("joint")


def system(name: str, scores: list[float], *, setting: str = "bm25", twin_of: str | None = None, order: str = "given"):
    return [
        Scored(
            SummaryInfo(f"{name}{setting}{q}", f"q{q}", name, setting, order, None, None, None, twin_of=twin_of),
            {"joint": (score, 1, 0)},
        )
        for q, score in enumerate(scores)
    ]


def steady(mean: float, n: int = 12) -> list[float]:
    return [mean + 0.02 * (q % 3 - 1) for q in range(n)]


def family_of(
    summaries, *, compare_with: str | None = None, contents: Any = None, aggregate: Any = "pooled"
) -> PairedFamily:
    scores, facts = frames_of(summaries)
    run = SimpleNamespace(averaging=Averaging(aggregate, 1, 20), contents=contents_of(contents or {}))
    own: Any = SimpleNamespace(judge="j", dataset=None, scores=scores, facts=facts, evidence=run)
    return Systems(own).by(JOINT, compare_with=compare_with)


def one(summaries, *, compare_with: str | None = None, **more: Any) -> dict[str, Any]:
    """Return a family with its comparisons, the ends of each difference beside it, and its groups."""
    found = family_of(summaries, compare_with=compare_with, **more)
    family = comparisons.family(found, "named" if compare_with else "best", compare_with)
    rows = [{**row, **row["difference"], "difference": row["difference"]["value"]} for row in comparisons.rows(found)]
    return {**family, "rows": rows, "groups": [group["systems"] for group in comparisons.groups(found)]}


def test_every_difference_is_of_the_system_less_the_reference() -> None:
    chance = [0.9 if q % 2 else 0.7 for q in range(12)]
    family = one(system("good", steady(0.85)) + system("bad", steady(0.1)) + system("near", chance))
    rows = {row["system"]: row for row in family["rows"]}

    assert (family["reference"], family["chosen"], family["n_clusters"]) == ("good, bm25", "best", 12)
    assert rows["bad, bm25"]["finding"] == "worse"
    assert rows["bad, bm25"]["difference"] == pytest.approx(-75)
    assert rows["bad, bm25"]["high"] < 0
    assert rows["near, bm25"]["finding"] == "not distinguishable"
    assert rows["near, bm25"]["low"] < 0 < rows["near, bm25"]["high"]


def test_reference_can_be_chosen_beforehand() -> None:
    summaries = system("good", steady(0.8)) + system("bad", steady(0.1))
    family = one(summaries, compare_with="bad")

    assert (family["reference"], family["chosen"]) == ("bad, bm25", "named")
    assert [(row["system"], row["finding"]) for row in family["rows"]] == [("good, bm25", "better")]


def test_best_systems_that_tie_are_all_named_and_the_first_in_order_is_taken() -> None:
    """By name the last would be taken."""
    summaries = (
        system("b", steady(0.8)) + system("c", steady(0.8)) + system("a", steady(0.8)) + system("d", steady(0.1))
    )
    family = one(summaries)

    assert (family["reference"], family["tied"]) == ("b, bm25", ["c, bm25", "a, bm25"])


def test_systems_of_the_same_summaries_are_one_member() -> None:
    summaries = (
        system("a", steady(0.8)) + system("a", steady(0.1), setting="full") + system("a", steady(0.1), setting="same")
    )
    contents = {s.info.summary_id: (s.info.query_id, s.info.setting.replace("same", "full")) for s in summaries}
    family = one(summaries, contents=contents)

    assert family["n_systems"] == 2
    assert [(row["system"], row["same"]) for row in family["rows"]] == [("a, full", ["a, same"])]
    assert one(summaries)["n_systems"] == 3


def test_reference_among_the_same_summaries_is_named_by_any_of_its_names() -> None:
    summaries = system("a", steady(0.1)) + system("b", steady(0.1)) + system("c", steady(0.8))
    contents = {s.info.summary_id: (s.info.query_id, s.measures["joint"][0]) for s in summaries}
    family = one(summaries, contents=contents, compare_with="b")

    assert (family["reference"], family["reference_same"]) == ("a, bm25", ["b, bm25"])


def test_twin_is_no_member() -> None:
    twin = system("a, repaired", steady(0.9), twin_of="a")
    family = one(system("a", steady(0.5)) + twin + system("b", steady(0.4)))

    assert (family["reference"], [row["system"] for row in family["rows"]]) == ("a, bm25", ["b, bm25"])


def test_arm_of_the_position_study_is_no_reference_unless_it_is_named() -> None:
    summaries = system("a", steady(0.5)) + system("a", steady(0.9), setting="full/top", order="top")

    assert one(summaries)["reference"] == "a, bm25"
    assert one(summaries, compare_with="full/top")["reference"] == "a, full/top"


def test_too_few_queries_are_said_to_be_too_few() -> None:
    family = one(system("a", steady(0.9, 4)) + system("b", steady(0.1, 4)))

    assert family["rows"][0]["finding"] == "too few clusters (4): no difference could be shown"
    assert family["rows"][0]["low"] is None


def test_system_without_a_score_is_told_of() -> None:
    blind = [Scored(s.info, {"joint": (0.0, 0, 1)}) for s in system("blind", steady(0.5))]
    summaries = system("a", steady(0.9)) + system("b", steady(0.1)) + blind

    assert one(summaries)["without_score"] == ["blind, bm25"]
    assert one(summaries, compare_with="blind")["rows"] == []


def test_differences_are_those_of_the_cells() -> None:
    """They are differences of a mean over summaries if the report has such means."""
    uneven = [(0.9, 1), (0.1, 9), *[(0.5, 1)] * 6]
    a = [Scored(s.info, {"joint": (x * n, n, 0)}) for s, (x, n) in zip(system("a", steady(1, 8)), uneven, strict=True)]
    b = [Scored(s.info, {"joint": (0.0, n, 0)}) for s, (_, n) in zip(system("b", steady(1, 8)), uneven, strict=True)]

    assert one(a + b)["rows"][0]["difference"] == pytest.approx(-100 * (0.9 + 0.9 + 3.0) / 16)
    assert one(a + b, aggregate="per_summary")["rows"][0]["difference"] == pytest.approx(-50)


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ("good, bm2", "did you mean 'good, bm25'?"),
        ("bm25", "2 systems are called so: good, bm25; bad, bm25"),
    ],
)
def test_name_of_no_single_system_is_refused(wanted: str, told: str) -> None:
    names = [SystemName("good", "bm25"), SystemName("bad", "bm25"), SystemName("bad", "full")]

    with pytest.raises(UsageError) as refused:
        named_system(wanted, names)
    assert told in str(refused.value)
    assert named_system("full", names) == names[2]


def test_groups_of_systems_that_cannot_be_told_apart_are_named_best_first() -> None:
    chance = [0.9 if q % 2 else 0.7 for q in range(12)]
    family = one(system("bad", steady(0.1)) + system("near", chance) + system("good", steady(0.85)))
    assert family["groups"] == [["good, bm25", "near, bm25"], ["bad, bm25"]]
