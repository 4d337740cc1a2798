"""Sizes of studies of positions: what they follow from, and what such studies find."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from longform.metrics.position_bias import (
    FLAT,
    U_SHAPED,
    PlaceSums,
    SummaryPlaces,
    attributed_sums,
    bias_index,
    summary_places,
)
from longform.metrics.power import U_POWER, Assumed, planted_u, power_of_u, seen, summaries_needed
from longform.metrics.statistics import Array

PLANTED = Assumed(depth=0.4, mean=0.75, n_documents=5, n_sentences=5)
WITH_JUDGE = PLANTED._replace(accuracy=0.8, n_tests=2)
"""A plan's assumptions about a judge without a card; both writers are one family."""


def size_of(assumed: Assumed) -> int:
    found = summaries_needed(assumed)
    assert found is not None
    return found


def test_the_planted_curve_has_the_depth_and_the_mean_that_are_assumed() -> None:
    profile = planted_u(PLANTED)
    assert profile == pytest.approx([0.95, 0.65, 0.55, 0.65, 0.95])
    assert seen(profile, 1.0) == pytest.approx(profile)
    assert np.ptp(seen(profile, 0.8)) == pytest.approx(0.6 * 0.4)


def test_a_recommended_size_is_the_smallest_of_its_power() -> None:
    n = size_of(PLANTED)
    assert power_of_u(PLANTED, n) >= U_POWER > power_of_u(PLANTED, n - 1)


def test_half_the_depth_or_half_the_judge_takes_four_times_the_summaries() -> None:
    n = size_of(PLANTED)
    assert size_of(PLANTED._replace(depth=0.2)) == pytest.approx(4 * n, rel=0.01)
    assert size_of(PLANTED._replace(n_sentences=10)) == pytest.approx(n / 2, rel=0.02)
    blurred = size_of(PLANTED._replace(accuracy=0.75))
    assert blurred == pytest.approx(4 * n * 0.234 / 0.1875, rel=0.02)  # 0.234: the larger variance of what it says


def test_more_tests_of_a_family_take_more_summaries_and_a_blind_judge_any_number() -> None:
    assert size_of(PLANTED._replace(n_tests=20)) > size_of(PLANTED)
    assert summaries_needed(PLANTED._replace(accuracy=0.5005)) is None


def test_two_places_have_no_shape_and_a_deep_u_needs_room() -> None:
    with pytest.raises(ValueError, match="3 documents or more, found 2"):
        power_of_u(PLANTED._replace(n_documents=2), 10)
    assert PLANTED.fits
    assert not PLANTED._replace(mean=0.9).fits


def test_stated_power_is_that_of_simulated_studies() -> None:
    """At a size of power 0.8 or more, of 100 studies; the bound is conservative."""
    n = summaries_needed(PLANTED, 0.8)
    assert n is not None
    found = sum(U_SHAPED in shape_of(yes_no(planted_u(PLANTED), n, seed), seed) for seed in range(100))
    assert 0.73 * 100 < found < 0.98 * 100


def yes_no(rates: Array, n: int, seed: int) -> PlaceSums:
    """Sentences, one a place, that are supported with the probability of their place."""
    draw = np.random.default_rng(seed).random((n, len(rates))) < rates
    return PlaceSums(list(draw.astype(np.float64)), [np.ones(len(rates))] * n)


def shape_of(sums: PlaceSums, seed: int, n_tests: int = 1) -> str:
    """Return the words of a report for one of *n_tests* curves, by the largest correction that Holm makes."""
    index = bias_index(sums, 5, seed=7_000_000 + seed, permutations=2000 * n_tests)  # not the seed of the verdicts
    assert index is not None
    return index._replace(p=min(1.0, n_tests * index.p)).shape


# ---------------------------------------------------------------- every kind of judge


Judge = Callable[[np.random.Generator, Array], SummaryPlaces]
"""Draws the verdicts on a summary whose sentences, one a document, are true or not."""


def told(draw: np.random.Generator, true: Array) -> SummaryPlaces:
    """P(yes): graded, wrong on one sentence of five, with its best document mostly the right one."""
    said = np.where(draw.random(len(true)) < 0.8, true, 1 - true)
    right = np.where(said > 0, draw.uniform(0.6, 1.0, len(true)), draw.uniform(0.1, 0.4, len(true)))
    cells = draw.uniform(0.0, 0.15, (len(true), len(true)))
    np.fill_diagonal(cells, right)
    return summary_places(cells)


def word(draw: np.random.Generator, true: Array) -> SummaryPlaces:
    """Yes or no, wrong on one sentence of five; an aligner says where sentences stand, one of twenty wrongly."""
    said = np.where(draw.random(len(true)) < 0.8, true, 1 - true)
    stands = np.where(draw.random(len(true)) < 0.95, np.arange(len(true)), draw.integers(0, len(true), len(true)))
    return summary_places(np.diag(said))._replace(best=[[int(place)] for place in stands])


def aligner(draw: np.random.Generator, true: Array) -> SummaryPlaces:
    """Shares of words: changed sentences keep half of theirs."""
    cells = draw.uniform(0.0, 0.3, (len(true), len(true)))
    np.fill_diagonal(cells, np.clip(0.5 + 0.5 * true + draw.normal(0, 0.2, len(true)), 0.0, 1.0))
    return summary_places(cells)


def study(judge: Judge, rates: Array, seed: int) -> str:
    draw = np.random.default_rng(seed)
    summaries = [judge(draw, (draw.random(len(rates)) < rates).astype(float)) for _ in range(size_of(WITH_JUDGE))]
    return shape_of(attributed_sums(summaries), seed, n_tests=2)


def assert_found_and_not(judge: Judge, seeds: range) -> None:
    """A U is said of every planted one and of no flat one; 1 in 1,000 flat curves may get another name by chance."""
    planted, flat = planted_u(WITH_JUDGE), np.full(5, WITH_JUDGE.mean)
    assert [U_SHAPED in study(judge, planted, seed) for seed in seeds] == [True] * len(seeds)
    shapes = [study(judge, flat, 1000 + seed) for seed in seeds]
    assert not [shape for shape in shapes if U_SHAPED in shape]
    assert sum(shape != FLAT for shape in shapes) <= 1


@pytest.mark.parametrize("judge", [told, word, aligner])
def test_a_planted_u_is_found_at_the_recommended_size_and_none_where_there_is_none(judge: Judge) -> None:
    assert_found_and_not(judge, range(2))


@pytest.mark.slow
@pytest.mark.parametrize("judge", [told, word, aligner])
def test_so_it_is_in_twenty_of_twenty_seeds(judge: Judge) -> None:
    assert_found_and_not(judge, range(1, 21))
