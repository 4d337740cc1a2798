"""Differences of a family: by hand, what is shown, what is not, and too few clusters."""

from __future__ import annotations

import numpy as np
import pytest

from longform.metrics.contrasts import Compared, contrast_words, contrasts
from longform.metrics.statistics import Array


def of_means(sums: Array) -> Array:
    difference: Array = (sums[:, 0] - sums[:, 1]) / sums[:, 2]
    return difference


def compared(first: Array, second: Array) -> Compared:
    """Means of one value a cluster."""
    return Compared(np.column_stack([first, second, np.ones_like(first)]), of_means, len(first))


@pytest.fixture
def noise() -> Array:
    return np.random.default_rng(3).normal(size=40)


def test_the_value_is_the_difference_and_a_large_one_is_shown(noise: Array) -> None:
    (found,) = contrasts([compared(noise + 2, noise[::-1].copy())], seed=1, resamples=400)

    assert found["value"] == pytest.approx(2.0)
    assert (found["n"], found["n_clusters"]) == (40, 40)
    assert contrast_words(found, "a", "b") == "a is higher"
    assert found["p"] is not None
    assert found["p"] < 0.01


def test_equal_sides_are_not_distinguishable(noise: Array) -> None:
    (found,) = contrasts([compared(noise, noise)], seed=1, resamples=100)

    assert (found["value"], found["low"], found["high"], found["p"]) == (0.0, 0.0, 0.0, 1.0)
    assert contrast_words(found, "a", "b") == "not distinguishable"


def test_the_lower_side_is_named_the_other_way_round(noise: Array) -> None:
    (found,) = contrasts([compared(noise - 3, noise[::-1].copy())], seed=1, resamples=100)

    assert contrast_words(found, "a", "b") == "b is higher"


def test_intervals_of_a_family_are_wider_than_of_one_alone(noise: Array) -> None:
    rng = np.random.default_rng(5)
    own = compared(noise, rng.normal(size=40))
    others = [compared(rng.normal(size=40), rng.normal(size=40)) for _ in range(20)]
    (alone,) = contrasts([own], seed=1, resamples=1000)
    together, *_ = contrasts([own, *others], seed=1, resamples=1000)

    assert alone["value"] == together["value"]
    assert alone["low"] is not None
    assert together["low"] is not None
    assert together["low"] < alone["low"]
    assert (together["p"] or 0) >= (alone["p"] or 0)


def test_a_family_of_nothing_has_no_differences() -> None:
    assert contrasts([], seed=1) == []


def test_few_clusters_bound_nothing_and_say_so() -> None:
    (found,) = contrasts([compared(np.arange(5.0) + 9, np.arange(5.0))], seed=1, resamples=100)

    assert (found["value"], found["low"], found["p"]) == (9.0, None, None)
    assert contrast_words(found, "a", "b", clusters="articles") == "too few articles to tell"


def test_clusters_without_a_row_do_not_count(noise: Array) -> None:
    whole = compared(noise, noise + 1)
    sums = whole.sums.copy()
    sums[5:] = 0
    (found,) = contrasts([whole._replace(sums=sums)], seed=1, resamples=100)

    assert found["n_clusters"] == 5
    assert found["low"] is None


def test_an_undefined_difference_is_unknown(noise: Array) -> None:
    nothing = Compared(np.zeros((40, 3)), of_means, 0)
    first, second = contrasts([nothing, compared(noise + 2, noise)], seed=1, resamples=100)

    assert first["value"] is None
    assert contrast_words(first, "a", "b") == "unknown"
    assert contrast_words(second, "a", "b") == "a is higher"


def test_chance_alone_shows_a_difference_in_few_of_many_families() -> None:
    """Families that are alike: of 200, 5 % is 10; the plain bootstrap would show 26."""
    rng = np.random.default_rng(11)
    shown = 0
    for seed in range(200):
        pairs = [compared(rng.normal(size=30), rng.normal(size=30)) for _ in range(3)]
        found = contrasts(pairs, seed=seed, resamples=200)
        shown += any(contrast_words(one, "a", "b").endswith("higher") for one in found)
    assert shown <= 17
