"""Rankers by pairs, in a run and of two runs: differences known by hand, with the tests of systems."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, cast

import polars as pl
import pytest

from longform.metrics.retrieval import AT_BUDGET, MEASURES
from longform.report.parts import Section
from longform.report.sections import sections
from longform.results.ranked import compare_rankings, ranked_values
from longform.results.results import Results
from longform.studies.retrieval import Retrieval
from longform.studies.retrieval_pairs import RetrievalPairs
from longform.tables.packed import values_of
from longform.tables.table import Table, checked
from tests.frames import SummaryInfo, summary_frame
from tests.longform.studies.test_retrieval_against_generation import QUERIES, documents, evidence, rankings_of

GOOD, POOR = "good", "poor"


def tables_of(run: Any) -> dict[str, Any]:
    return {table.name: table.as_json() for table in RetrievalPairs().result(run)}


def retrieval_pairs(run: Any) -> list[dict[str, Any]]:
    """Return the families, each with its pairs and rankers."""
    tables = tables_of(run)
    return [
        family
        | {
            part: [row for row in tables[name]["rows"] if row["measure"] == family["measure"]]
            for part, name in (("pairs", "retrieval_pairs"), ("systems", "retrieval_pairs_systems"))
        }
        for family in tables["retrieval_pairs_families"]["rows"]
    ]


def families(names: list[str], **more: Any) -> dict[str, dict[str, Any]]:
    run = evidence(names)
    for field, value in more.items():
        setattr(run, field, value)
    return {one["measure"]: one for one in retrieval_pairs(run)}


def test_each_measure_and_cutoff_is_a_family_of_all_pairs() -> None:
    """Hand-worked: of six queries, `good` finds the document first in four, `fair` in two, `poor` in none."""
    found = families(["good", "fair", "poor"])
    one = found["P@1"]

    assert list(found) == [f"{name}@{k}" for name in ("P", "R", "nDCG", "MAP") for k in (1, 2)]
    assert one["n_tests"] == 3
    assert [(ranker["system"], round(ranker["score"], 6)) for ranker in one["systems"]] == [
        ("good", 66.666667),
        ("fair", 33.333333),
        ("poor", 0.0),
    ]
    pairs = {(row["one"], row["other"]): row for row in one["pairs"]}
    assert pairs["good", "poor"]["difference"]["value"] == pytest.approx(66.666667, abs=1e-5)
    assert pairs["good", "fair"]["difference"]["value"] == pytest.approx(33.333333, abs=1e-5)
    assert (one["n_clusters"], one["exact"], one["smallest_p"]) == (6, True, 2**-5)
    # four of six queries differ: two of the sixteen changes of their signs reach the largest sum
    assert pairs["good", "poor"]["p_alone"] == pytest.approx(2 / 16)


def test_scores_are_those_of_the_table_of_rankers() -> None:
    run = evidence(["good", "fair"])
    table = Retrieval().result(_with_datasets(run))
    assert table is not None
    scores = {(row["system"], row["measure"]): cast(Any, row["score"]).value for row in table.rows}

    for one in retrieval_pairs(run):
        for ranker in one["systems"]:
            assert ranker["score"] == pytest.approx(100 * scores[ranker["system"], one["measure"]])


def _with_datasets(run: Any) -> Any:
    run.datasets = dict.fromkeys(QUERIES)
    return run


def test_recall_at_budget_is_of_a_ranker_and_its_budget() -> None:
    one = families(["good", "poor"], ranking_measures=(*MEASURES, AT_BUDGET))["recall_at_budget"]

    assert [ranker["system"] for ranker in one["systems"]] == ["good, no limit", "poor, no limit"]
    assert one["title"] == "recall at budget"


def test_one_ranker_has_no_pair_and_a_run_without_gold_has_none() -> None:
    assert families(["good"]) == {}
    assert families(["good", "poor"], gold={}) == {}


def test_queries_of_one_haystack_are_one_cluster() -> None:
    run: Any = evidence(["good", "poor"])
    run.infos.update(
        (key, info._replace(cluster_kind="haystack", haystack_id=f"h{QUERIES.index(info.query_id) // 2}"))
        for key, info in run.infos.items()
    )

    one = retrieval_pairs(run)[0]
    assert (one["cluster"], one["n_clusters"], one["n_queries"], one["n_haystacks"]) == ("haystack", 3, 6, 3)


def test_the_report_holds_the_best_ranker_against_the_others_and_offers_any_two() -> None:
    run = _with_datasets(evidence(["fair", "good", "poor"]))
    (section,) = shown_sections(run)

    rows = [[cell.text for cell in row] for row in section.tables[0].cells]
    assert [row[:3] for row in rows if row[0] == "P@2"] == [["P@2", "good", "fair"], ["P@2", "good", "poor"]]
    assert {row[0] for row in rows} == {"P@2", "R@2", "nDCG@2", "MAP@2"}  # the largest cutoff alone
    offered = values_of(json.loads(section.chooser or "")["families"])
    assert [one["title"] for one in offered][:2] == ["P@1", "P@2"]
    assert [system["system"] for system in offered[0]["systems"]] == ["fair", "good", "poor"]


def shown_sections(run: Any) -> list[Section]:
    """Return the sections of rankers."""
    shown = sections(cast(Results, {"title": "t", "aggregate": "pooled", "tables": tables_of(run)}))
    return [section for section in shown if section.page == "retrieval"]


# ---------------------------------------------------------------- two runs

RANKS = {"first": [0, 0, 0, 0, 0, 0, 1, None], "second": [1, 1, 1, 1, 1, 1, 1, None]}


def ranked(name: str, *, without: str = "") -> pl.DataFrame:
    return rankings_of(
        (GOOD, f"q{place}", documents(rank)) for place, rank in enumerate(RANKS[name]) if f"q{place}" != without
    )


QUERIES_OF_BOTH = summary_frame(
    SummaryInfo(f"s{place}", f"q{place}", "m", "s", None, None, None, None, haystack_id="h") for place in range(8)
)
GOLD = {f"q{place}": {"t": {"gold"}} for place in range(8)}


def compared(*, without: str = "", second: str = GOOD, same: bool = False, only: Sequence[str] = ()) -> Table:
    lists = {"first": ranked("first"), "second": ranked("first" if same else "second", without=without)}
    values = pl.concat(
        ranked_values(rankings, GOLD, QUERIES_OF_BOTH, MEASURES, (1, 2)).with_columns(run=pl.lit(run))
        for run, rankings in lists.items()
    )
    kept = values.filter(pl.col("measure").is_in(only)) if only else values
    return compare_rankings(kept, ("first", "second"), datasets=[None], pairs=[(GOOD, second)], seed=1)


def test_two_runs_are_compared_by_every_measure_on_what_both_ranked() -> None:
    table = compared(without="q7")
    found: dict[Any, Any] = {row["measure"]: row for row in checked(table).rows}

    assert len([row for row in table.rows if row["p"] is not None]) == len(table.rows) == 8
    one = found["P@1"]
    assert (one["first"], one["second"], one["n_queries"], one["n_left_out"]) == (
        pytest.approx(600 / 7),
        0.0,
        7,
        1,
    )
    assert (one["finding"], one["better"]) == ("first better", "first")
    assert one["difference"].value == pytest.approx(-600 / 7)
    assert found["R@2"]["difference"].value == 0.0
    assert found["R@2"]["finding"] == "not distinguishable"


def test_measures_that_are_asked_for_are_compared_alone() -> None:
    table = compared(only=["P@1", "MAP@2"])

    assert [row["measure"] for row in table.rows] == ["P@1", "MAP@2"]
    assert table.told.startswith("All 2 comparisons that could show anything are one family")


def test_rankings_that_are_the_same_in_both_runs_stand_in_files_alone() -> None:
    assert {row["aside"] for row in compared(same=True).rows} == {
        "the rankings of both runs have the same scores on every query"
    }


def test_a_ranker_that_one_run_has_not_is_compared_with_nothing() -> None:
    assert compared(second=POOR).rows == []
