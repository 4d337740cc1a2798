from __future__ import annotations

from math import log2

import pytest

from longform.metrics.retrieval import (
    MEASURES,
    average_precision_at,
    gold_recall,
    ndcg_at,
    precision_at,
    recall_at,
)

RANKING = ["a", "b", "c", "d", "e"]
GOLD = {"a", "c", "x"}


def test_precision_and_recall_by_hand() -> None:
    assert precision_at(RANKING, GOLD, 4) == 2 / 4
    assert recall_at(RANKING, GOLD, 4) == 2 / 3


def test_precision_divides_by_k_where_the_ranking_is_shorter() -> None:
    assert precision_at(["a"], GOLD, 4) == 1 / 4


def test_average_precision_divides_by_all_gold_documents() -> None:
    """Hits at ranks 1 and 3 of three gold documents; dividing by min(gold, K) would give 5/6 at K = 2."""
    assert average_precision_at(RANKING, GOLD, 5) == pytest.approx((1 / 1 + 2 / 3) / 3)
    assert average_precision_at(RANKING, GOLD, 2) == pytest.approx(1 / 3)


def test_ndcg_discounts_by_rank_and_its_ideal_is_capped_at_k() -> None:
    gain = 1 / log2(2) + 1 / log2(4)
    assert ndcg_at(RANKING, GOLD, 5) == pytest.approx(gain / (1 + 1 / log2(3) + 1 / log2(4)))
    assert ndcg_at(RANKING, GOLD, 1) == 1.0


@pytest.mark.parametrize("measure", [recall_at, ndcg_at, average_precision_at])
def test_a_perfect_list_scores_one(measure: object) -> None:
    assert measure(["a", "c", "x", "d"], GOLD, 4) == pytest.approx(1.0)  # type: ignore[operator]


def test_a_query_without_gold_has_no_score() -> None:
    assert {measure.at(RANKING, set(), k) for measure in MEASURES for k in (1, 5)} == {None}


def test_measures_are_named_as_columns_of_the_report() -> None:
    found = {f"{measure.name}@{k}": measure.at(RANKING, GOLD, k) for measure in MEASURES for k in (1, 4)}
    assert len(found) == 8
    assert found["R@4"] == 2 / 3
    assert found["P@1"] == 1.0


def test_a_ranking_that_repeats_a_document_is_refused() -> None:
    with pytest.raises(ValueError, match="twice"):
        recall_at(["a", "a"], GOLD, 2)


def test_a_cutoff_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        precision_at(RANKING, GOLD, 0)


def test_gold_recall_is_a_share_of_the_gold_and_unknown_without_any() -> None:
    assert gold_recall(["a", "c", "z"], {"a", "b"}) == 1 / 2
    assert gold_recall(["a"], set()) is None
