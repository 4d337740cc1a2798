"""Tables of faithfulness from judged summaries with known truth."""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from longform.metrics.faithfulness import MEASURES, RECOMMENDED, merge_documents, summary_faithfulness
from longform.metrics.position_bias import summary_places
from longform.results.aggregate import Averaging
from longform.results.alignment import alignment_rows
from longform.results.faithfulness_tables import (
    by_query,
    groups,
    length_rows,
    order_rows,
    permutation_rows,
    place_rows,
    score,
)
from longform.settings.systems import System
from longform.studies.cells import Cell

SETTINGS = Averaging("pooled", seed=1, resamples=200)


def system(
    *,
    order: str = "given",
    n_documents: int | None = None,
    method: str = "plain",
    permutation: int | None = None,
    length_tokens: int | None = None,
) -> System:
    names = ("full", None, None, n_documents, order, method, "writer", permutation)
    return System(*names, length_tokens=length_tokens)  # type: ignore[arg-type]


def checked(
    query: int, numbers: np.ndarray, *, judge: str = "lexical", of: System | None = None, failure: str | None = None
) -> dict[str, Any]:
    """A summary under a judge."""
    merged = summary_faithfulness(merge_documents(numbers, "max"), "mean")
    of = of or system()
    places = summary_places(numbers)
    return {
        "judge": judge,
        "summary_id": f"{of.summarizer}/{of.setting}/{query}",
        "query_id": f"q{query}",
        "dataset": None,
        "summary_repeat": 0,
        "failure": failure,
        "total": merged.total,
        "n": merged.n,
        "unjudged": int(np.isnan(numbers).sum()),
        **of.axes._asdict(),
        "summarizer": of.summarizer,
        "setting": of.setting,
        "n_cells": numbers.size,
        "n_given": len(numbers),
        "by_place": True,
        "untestable": None,
        **{name: list(part) for name, part in places._asdict().items()},
        "placed": places.best,
    }


_LISTS = {name: pl.List(pl.Float64) for name in ("numbers", "covered", "n_covered")}
_BEST = dict.fromkeys(("best", "placed"), pl.List(pl.List(pl.Int64)))


def frame(summaries: Iterable[dict[str, Any]]) -> pl.DataFrame:
    return by_query(pl.DataFrame(list(summaries), schema_overrides={**_LISTS, **_BEST}, infer_schema_length=None))


def means(summaries: Iterable[dict[str, Any]]) -> dict[Any, Any]:
    return {key: score(group, SETTINGS, key) for key, group in groups(frame(summaries))}


def test_a_cell_pools_sentences_and_counts_what_has_no_score() -> None:
    summaries = [
        checked(0, np.eye(3)),
        checked(1, np.zeros((3, 1))),
        checked(2, np.zeros((3, 0))),
        checked(3, np.full((3, 2), np.nan)),
    ]
    evidence: Any = SimpleNamespace(averaging=SETTINGS._replace(aggregate="per_summary"))
    recommended = next(one for one in MEASURES if one.name == RECOMMENDED.name)
    rows = frame(summaries)
    scores = {recommended.name: rows.with_columns(repeat=0)}
    cell = Cell("lexical", rows.row(0, named=True), scores, [recommended], (), evidence, int(rows["n_cells"].sum()))
    assert cell.estimate(recommended, "per_summary").value == pytest.approx(75.0)
    assert cell.n_without_score() == 2
    assert cell.unjudged_share() == pytest.approx(6 / 18)


def test_repeats_of_a_query_count_as_one_summary_in_every_table() -> None:
    draw = np.random.default_rng(1)
    once = [
        checked(query, draw.random((5, 4)), of=system(order=order)) for order in ("given", "top") for query in range(6)
    ]
    twice = [
        {**summary, "summary_repeat": repeat, "summary_id": f"{summary['summary_id']}/{repeat}"}
        for summary in once
        for repeat in (0, 1)
    ]

    assert order_rows(frame(twice), SETTINGS) == order_rows(frame(once), SETTINGS)
    assert alignment_rows(frame(twice), SETTINGS) == alignment_rows(frame(once), SETTINGS) == []
    for one, two in zip(place_rows(frame(once), SETTINGS), place_rows(frame(twice), SETTINGS), strict=True):
        for measure in ("faithfulness", "coverage"):
            assert two[measure]["index"] == pytest.approx(one[measure]["index"], nan_ok=True)
            assert two[measure]["curve"] == one[measure]["curve"]
    assert means(twice) == means(once)


def test_two_data_sets_share_no_row_no_family_of_tests_and_no_correlation() -> None:
    orders = [system(order=order) for order in ("given", "top")]
    judges = ("one", "other")
    news = [
        checked(query, np.eye(3) * (1 - 0.1 * query), judge=judge, of=of)
        for judge in judges
        for of in orders
        for query in range(4)
    ]
    mail = [
        {**summary, "query_id": f"mail {summary['query_id']}", "dataset": "mail", "total": 0.0}
        for summary in news
        if summary["query_id"] != "q3"
    ]

    together = means([*news, *mail])
    assert together == means(news) | means(mail)
    assert {key.dataset: mean.value == 0 for key, mean in together.items()} == {None: False, "mail": True}
    for rows in (order_rows, place_rows, alignment_rows):
        assert rows(frame([*news, *mail]), SETTINGS) == [*rows(frame(news), SETTINGS), *rows(frame(mail), SETTINGS)]
    assert [row["n"] for row in alignment_rows(frame([*news, *mail]), SETTINGS)] == [24, 18]


def lead(seed: int, of: System | None = None) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    return [
        checked(query, np.diag([float(rng.random() < 0.95 - 0.15 * place) for place in range(5)]) * 0.8 + 0.1, of=of)
        for query in range(60)
    ]


def test_curves_name_the_bias_and_adjust_for_the_family() -> None:
    rows = place_rows(frame([*lead(1), *lead(2, system(method="incremental"))]), SETTINGS)
    assert [row["setting"] for row in rows] == ["full", "full/incremental"]
    for row in rows:
        index = row["faithfulness"]["index"]
        assert index["p"] <= index["p_holm"]
        assert "lead bias" in index["shape"]
        assert row["bins"] == 5


def test_sensitivity_stands_beside_what_chance_gives() -> None:
    top, middle = ([checked(q, np.full((2, 4), value), of=system(order=order)) for q in range(10)] for order, value in
                   (("top", 0.9), ("middle", 0.6)))  # fmt: skip
    (row,) = order_rows(frame([*top, *middle]), SETTINGS)
    assert row["sensitivity"] == pytest.approx(30.0)
    assert 0 < row["chance"] < 15
    assert row["p_holm"] == row["p"] < 0.05
    assert row["n_independent"] == 10
    assert row["setting"] == "full"


def test_one_order_has_no_sensitivity() -> None:
    assert order_rows(frame([checked(0, np.eye(2))]), SETTINGS) == []


def test_lengths_stand_in_order_each_with_its_curve() -> None:
    summaries = [
        checked(query, np.full((n, 3), 1 / n), of=system(n_documents=n)) for query in range(4) for n in (4, 3, 5)
    ]
    (row,) = length_rows(frame(summaries), SETTINGS)
    assert [point["n_documents"] for point in row["lengths"]] == [3, 4, 5]
    assert [point["faithfulness"]["value"] for point in row["lengths"]] == pytest.approx([100 / 3, 25, 20])
    assert [len(point["curve"]) for point in row["lengths"]] == [3, 4, 5]
    assert row["unit"] == "documents"


BY_TOKENS = [
    checked(query, np.full((n, 3), 1 / n), of=system(length_tokens=length))
    for query, lengths in enumerate(({4000: 2, 8000: 5}, {4000: 4, 8000: 5}))
    for length, n in lengths.items()
]
"""4,000 tokens hold two documents of one query and four of the other, 8,000 hold five."""


def test_lengths_in_tokens_stand_by_budget_with_the_documents_that_fit() -> None:
    (row,) = length_rows(frame(BY_TOKENS), SETTINGS)
    units = [[point[key] for key in ("length_tokens", "n_documents", "fewest", "most")] for point in row["lengths"]]
    assert row["unit"] == "tokens"
    assert units == [[4000, 3.0, 2, 4], [8000, 5.0, 5, 5]]
    assert [point["faithfulness"]["value"] for point in row["lengths"]] == pytest.approx([100 * 3 / 8, 20])


def test_lengths_in_two_units_are_rows_of_their_own() -> None:
    by_documents = [checked(0, np.eye(n), of=system(n_documents=n)) for n in (2, 3)]
    assert [row["unit"] for row in length_rows(frame([*BY_TOKENS, *by_documents]), SETTINGS)] == ["tokens", "documents"]


@pytest.mark.parametrize(("half_width", "narrow"), [(None, None), (30.0, True), (20.0, False)])
def test_orders_give_a_mean_with_an_interval_over_orders(half_width: float | None, narrow: bool | None) -> None:
    """Scores 50, 60 and 70: Student's t with two degrees of freedom, 4.303 * 10 / sqrt(3)."""
    summaries = [
        checked(query, np.full((2, 4), value), of=system(order="permuted", permutation=number))
        for number, value in enumerate((0.5, 0.6, 0.7))
        for query in range(3)
    ]
    (row,) = permutation_rows(frame(summaries), half_width)
    assert row["calibrated"]["value"] == pytest.approx(60.0)
    assert row["calibrated"]["high"] - row["calibrated"]["value"] == pytest.approx(24.84, abs=0.01)
    assert (row["lowest"], row["highest"], row["n_orders"]) == (pytest.approx(50), pytest.approx(70), 3)
    assert row["narrow"] is narrow


def test_judges_that_attribute_alike_correlate() -> None:
    rng = np.random.default_rng(3)
    one = [rng.random((5, 6)) for _ in range(10)]
    summaries = [checked(q, c, judge=judge) for judge in ("a", "b") for q, c in enumerate(one)]
    reversed_ = [checked(q, c[::-1], judge="c") for q, c in enumerate(one)]
    rows = {(row["judge"], row["second"]): row for row in alignment_rows(frame([*summaries, *reversed_]), SETTINGS)}
    assert rows["a", "b"]["spearman"] == pytest.approx(1.0)
    assert rows["a", "c"]["spearman"] == pytest.approx(-1.0)
    assert rows["a", "b"]["n"] == 60
