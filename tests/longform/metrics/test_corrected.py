"""Means of a judge, corrected by people's labels: known figures, coverage by simulation, and ppi-python's numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats

from longform.metrics.corrected import (
    ALIKE,
    NO_LABEL,
    NO_VALUE,
    ONE_CLUSTER,
    Corrected,
    corrected,
    difference,
)
from longform.metrics.statistics import Array

PEOPLE = np.array([0.2, 0.9, 0.5, 0.4, 0.8, 0.1])
OURS = np.array([0.3, 0.8, 0.7, 0.6, 0.9, 0.1])
OTHERS = np.array([0.4, 0.5, 0.9, 0.3, 0.7, 0.8, 0.2, 0.6, 1.0])


def counted(values: Array) -> Array:
    """Return totals of counts of 1."""
    return np.column_stack([values, np.ones(len(values))])


def of_numbers(people: Array, ours: Array, others: Array, weight: float | None = None) -> Corrected:
    """Correct plain means, each number a cluster of its own."""
    labels = np.concatenate([counted(people), np.full((len(others), 2), np.nan)])
    found = corrected(counted(np.concatenate([ours, others])), labels, list(range(len(labels))), weight=weight)
    assert found.value is not None
    return found


@pytest.mark.parametrize(
    ("weight", "value", "low", "high"),
    [
        (None, 0.50311469, 0.34750233, 0.65872704),
        (1.0, 0.51666667, 0.32759814, 0.7057352),
        (0.5, 0.5, 0.34108482, 0.65891518),
    ],
)
def test_unclustered_means_are_those_that_ppi_python_printed(
    weight: float | None, value: float, low: float, high: float
) -> None:
    """Figures are those that ppi-python 0.2.3 printed, by `ppi_mean_pointestimate` and `ppi_mean_ci(alpha=0.05)`."""
    found = of_numbers(PEOPLE, OURS, OTHERS, weight)

    assert found.value == pytest.approx(value, abs=1e-8)
    half = stats.norm.ppf(0.975) * found.standard_error
    assert [found.value - half, found.value + half] == pytest.approx([low, high], abs=1e-8)


def test_unclustered_means_are_those_of_ppi_python() -> None:
    ppi_py = pytest.importorskip("ppi_py", reason="ppi-python is not installed")
    rng = np.random.default_rng(4)
    for n, n_others in [(8, 5), (30, 200), (60, 20)]:
        people = rng.normal(size=n)
        ours, others = 0.3 + 0.8 * people + rng.normal(size=n), rng.normal(size=n_others)
        for weight in (None, 0.0, 0.7, 1.0):
            found = of_numbers(people, ours, others, weight)
            value = ppi_py.ppi_mean_pointestimate(people, ours, others, lam=weight)
            low, high = ppi_py.ppi_mean_ci(people, ours, others, alpha=0.05, lam=weight)
            half = stats.norm.ppf(0.975) * found.standard_error
            assert found.value == pytest.approx(float(value[0]), abs=1e-9)
            assert [found.value - half, found.value + half] == pytest.approx([low[0], high[0]], abs=1e-9)


def test_labels_of_all_summaries_are_the_mean_whatever_the_judge_says() -> None:
    rows = np.array([[1.0, 2.0], [3.0, 4.0], [0.0, 3.0]])
    found = corrected(np.zeros((3, 2)), rows, ["a", "b", "c"])
    assert found.value is not None
    assert (found.value, found.weight) == (pytest.approx(4 / 9), 0.0)


def test_a_biased_judge_is_corrected_where_its_count_is_its_own() -> None:
    """Totals by hand, weight 1: 4 - 6/2 + 5 over counts 5 - 6/2 + 4, as means 5 + (1.5 - 3) and 4 + (3 - 3)."""
    judge = np.array([[2.0, 2.0], [4.0, 4.0], [5.0, 4.0]])
    people = np.array([[1.0, 3.0], [2.0, 3.0], [np.nan, np.nan]])
    found = corrected(judge, people, ["a", "b", "c"], weight=1.0)
    assert found.value is not None
    assert found.value == pytest.approx((5 + 1.5 - 3) / (4 + 3 - 3))


def test_what_cannot_be_known_has_its_reason() -> None:
    judge, none = np.ones((3, 2)), np.full((3, 2), np.nan)
    assert corrected(judge, none, "abc").reason == NO_LABEL
    empty = np.array([[0.0, 0.0], [np.nan] * 2, [np.nan] * 2])
    assert corrected(judge, empty, "abc").reason == NO_VALUE
    one = corrected(judge, np.array([[1.0, 2.0], [1.0, 3.0], [np.nan] * 2]), "aab")
    assert (one.reason, one.estimate.low) == (ONE_CLUSTER, None)
    assert one.estimate.value == pytest.approx(0.4)
    alike = corrected(judge, np.array([[1.0, 1.0], [1.0, 1.0], [np.nan] * 2]), "abc")
    assert (alike.reason, alike.estimate[:2]) == (ALIKE, (1.0, None))
    assert difference(corrected(judge, none, "abc"), one).reason == NO_LABEL


# ---------------------------------------------------------------- simulated

N_DRAWS = 400
TRUTH = 0.6


class Drawn(NamedTuple):
    """The share of intervals that hold the truth, and their mean width, with the judge and by labels alone."""

    covers: float
    covers_alone: float
    width: float
    width_alone: float


def simulated(judge: str, *, clusters: int, each: int, labelled: int) -> Drawn:
    """
    Draw summaries with 2 to 9 insights, whose share that people call covered varies by cluster and by summary.

    A good judge errs on 10 % of insights, a biased one calls 40 % of those that are missing covered, and a useless one
    tosses a coin.
    """
    rng = np.random.default_rng(11)
    cluster = np.repeat(np.arange(clusters), each)
    held, widths = np.zeros(2), np.zeros(2)
    for _ in range(N_DRAWS):
        share = TRUTH + rng.uniform(-0.25, 0.25, clusters)[cluster] + rng.uniform(-0.14, 0.14, len(cluster))
        count = rng.integers(2, 10, len(cluster))
        said = rng.binomial(count, share)
        right, wrong = {"good": (0.9, 0.1), "biased": (0.95, 0.4), "useless": (0.5, 0.5)}[judge]
        by_judge = rng.binomial(said, right) + rng.binomial(count - said, wrong)
        people = np.full((len(cluster), 2), np.nan)
        chosen = rng.choice(len(cluster), labelled, replace=False)
        people[chosen] = np.column_stack([said, count])[chosen]
        both = np.column_stack([by_judge, count]).astype(float)
        for place, weight in enumerate((None, 0.0)):
            found = corrected(both, people, cluster.tolist(), weight=weight).estimate
            assert found.low is not None
            assert found.high is not None
            held[place] += found.low <= TRUTH <= found.high
            widths[place] += found.high - found.low
    return Drawn(*(held / N_DRAWS), *(widths / N_DRAWS))


@pytest.mark.parametrize(("clusters", "each", "labelled"), [(150, 1, 12), (40, 4, 40), (20, 10, 40)])
@pytest.mark.parametrize("judge", ["good", "biased", "useless"])
def test_intervals_hold_the_truth_as_often_as_they_say(judge: str, clusters: int, each: int, labelled: int) -> None:
    """400 draws of a share of 0.95 leave about +-3.3 points (three standard errors)."""
    found = simulated(judge, clusters=clusters, each=each, labelled=labelled)

    assert 0.917 <= found.covers <= 0.983
    if judge == "useless":
        assert found.width < 1.08 * found.width_alone
    elif judge == "good":
        assert found.width < 0.85 * found.width_alone
    else:
        assert found.width < 0.95 * found.width_alone


def test_intervals_that_ignore_clusters_miss_the_truth_too_often() -> None:
    """Summaries of 12 clusters, all labelled, taken as independent."""
    rng = np.random.default_rng(2)
    cluster = np.repeat(np.arange(12), 10)
    held = np.zeros(2)
    for _ in range(N_DRAWS):
        said = rng.uniform(0.2, 1.0, 12)[cluster] + rng.uniform(-0.1, 0.1, len(cluster))
        for place, clusters in enumerate((cluster.tolist(), list(range(len(cluster))))):
            found = corrected(np.zeros((len(cluster), 2)), counted(said), clusters).estimate
            held[place] += (found.low or 1) <= TRUTH <= (found.high or 0)

    assert 0.917 <= held[0] / N_DRAWS <= 0.983
    assert held[1] / N_DRAWS < 0.6


def test_a_difference_of_systems_covers_and_its_summaries_share_clusters() -> None:
    """The second system covers 10 points more, and the judge flatters it by about 2 more; labels are of each apart."""
    rng = np.random.default_rng(3)
    held, narrow, judged, n_queries = 0, 0, 0.0, 80
    queries = list(range(n_queries))
    for _ in range(N_DRAWS):
        hard, count = rng.uniform(-0.2, 0.2, n_queries), rng.integers(2, 10, n_queries)
        sides, by_judge = [], []
        for share, wrong in ((0.5, 0.15), (0.6, 0.25)):
            said = rng.binomial(count, share + hard + rng.uniform(-0.1, 0.1, n_queries))
            calls = rng.binomial(said, 0.92) + rng.binomial(count - said, wrong)
            people = np.full((n_queries, 2), np.nan)
            chosen = rng.choice(n_queries, 30, replace=False)
            people[chosen] = np.column_stack([said, count])[chosen]
            sides.append(corrected(np.column_stack([calls, count]).astype(float), people, queries))
            by_judge.append(calls.sum() / count.sum())
        found = difference(sides[1], sides[0]).estimate
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 0.1 <= found.high
        apart = [side.estimate for side in sides]
        narrow += found.high - found.low < sum((one.high or 0) - (one.low or 0) for one in apart)
        judged += by_judge[1] - by_judge[0]

    assert 0.917 <= held / N_DRAWS <= 0.983
    assert narrow == N_DRAWS
    assert abs(judged / N_DRAWS - 0.1) > 0.01
