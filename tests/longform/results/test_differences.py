"""Differences of pairs on frames: which units count, which rows tell systems apart, and what a family is."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import pytest

from longform.metrics.paired_differences import stepwise_tests
from longform.results.differences import differences, finding

NEAR = [0.1, 0.25, 0.2, -0.05, 0.3, 0.15, 0.05, 0.2]


def rows(
    system: str, scores: Sequence[float | None], *, dataset: str = "d", cluster: int = 1
) -> list[dict[str, object]]:
    """Return values of queries, *cluster* of which share one; None: no score."""
    return [
        {"dataset": dataset, "system": system, "query_id": f"q{place}", "cluster": f"c{place // cluster}",
         "total": score or 0.0, "n": 0.0 if score is None else 1.0}
        for place, score in enumerate(scores)
    ]  # fmt: skip


def pairs(*named: tuple[str, str, str]) -> pl.DataFrame:
    return pl.DataFrame(named, schema=["dataset", "first_system", "second_system"], orient="row")


def test_a_family_is_what_its_columns_say() -> None:
    noisy = [place % 3 - 0.9 for place in range(8)]
    values = pl.DataFrame(
        [one for name in ("d", "e") for one in [
            *rows("a", NEAR if name == "d" else noisy, dataset=name), *rows("b", [0.0] * 8, dataset=name),
        ]]
    )  # fmt: skip
    asked = pairs(("d", "a", "b"), ("e", "a", "b"))
    alone = differences(values, asked.head(1), seed=1)["p"].item()
    apart, together = (differences(values, asked, families, seed=1) for families in (["dataset"], []))

    assert apart["p"][0] == alone == apart["p_alone"][0] < together["p"][0]
    assert together["value"].to_list() == pytest.approx(apart["value"].to_list())


def test_systems_are_told_apart_by_every_column_that_pairs_have_of_both() -> None:
    values = pl.concat(
        pl.DataFrame(rows("a", scores)).with_columns(run=pl.lit(run))
        for run, scores in (("old", [0.0] * 8), ("new", NEAR))
    )
    asked = pairs(("d", "a", "a")).with_columns(first_run=pl.lit("new"), second_run=pl.lit("old"))
    row = differences(values, asked, seed=1).row(0, named=True)

    assert (row["first"], row["second"]) == (pytest.approx(sum(NEAR) / 8), 0.0)
    assert (finding(row, "higher"), finding(row, "lower"), finding(row, None)) == ("better", "worse", "higher")


def test_a_query_that_one_has_no_score_of_counts_by_cluster_and_not_by_query() -> None:
    values = pl.DataFrame([*rows("a", [1.0, 0.0] * 7, cluster=2), *rows("b", [0.0, None] * 7, cluster=2)])
    by_query, by_cluster = (
        differences(values, pairs(("d", "a", "b")), seed=1, unit=unit).row(0, named=True)
        for unit in ("query_id", "cluster")
    )

    assert (by_query["value"], by_query["n_units"], by_query["n_left_out"]) == (pytest.approx(1), 7, 7)
    assert (by_cluster["value"], by_cluster["n_units"]) == (pytest.approx(0.5), 7)


def test_a_pair_with_too_few_clusters_has_a_difference_and_is_no_member() -> None:
    values = pl.DataFrame([*rows("a", NEAR), *rows("b", [0.0] * 8), *rows("few", [0.5] * 3)])
    found = differences(values, pairs(("d", "a", "b"), ("d", "few", "b")), seed=1, fewest=6)

    assert found["p"].to_list() == [differences(values, pairs(("d", "a", "b")), seed=1)["p"].item(), None]
    assert found["value"][1] == pytest.approx(0.5)
    assert finding(found.row(1, named=True)) == "too few"


def test_systems_without_a_common_cluster_have_no_difference_by_any_test() -> None:
    values = pl.DataFrame([*rows("a", NEAR), *rows("b", [0.0] * 8), *rows("gone", [None] * 8)])
    asked = pairs(("d", "a", "gone"), ("d", "a", "b"))
    found = [differences(values, asked, seed=1), differences(values, asked, seed=1, tests=stepwise_tests)]

    for one in found:
        assert one.row(0, named=True)["value"] is None
        assert finding(one.row(0, named=True)) == "none"
        assert one["p"][1] == one["p_alone"][1]
    assert differences(values, asked.clear(), seed=1).is_empty()
