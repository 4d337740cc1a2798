"""Plans of comparisons, against the noncentral t and against simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import nct

from longform.metrics.power import (
    clusters_for_difference,
    clusters_for_interval,
    critical_at,
    detectable,
    level_of_one,
    power_of,
)


@pytest.mark.parametrize(("n", "critical", "lead"), [(6, 2.57, 4.0), (16, 2.13, 3.0), (170, 3.4, 4.27)])
def test_power_is_that_of_the_noncentral_t(n: int, critical: float, lead: float) -> None:
    expected = nct.sf(critical, n - 1, lead) + nct.cdf(-critical, n - 1, lead)
    assert power_of(lead / n**0.5, spread=1, n=n, critical=critical) == pytest.approx(expected, abs=1e-4)


def test_a_detectable_difference_is_found_in_80_of_100_simulated_runs() -> None:
    n, spread = 16, 12.7
    lead = detectable(spread=spread, n=n, critical=critical_at(0.05, n))
    drawn = np.random.default_rng(3).normal(lead, spread, size=(20_000, n))
    t = drawn.mean(axis=1) / drawn.std(axis=1, ddof=1) * n**0.5
    assert (np.abs(t) > critical_at(0.05, n)).mean() == pytest.approx(0.8, abs=0.01)


def test_sizes_are_the_fewest_that_do() -> None:
    n = clusters_for_difference(5, spread=12.7)
    assert power_of(5, spread=12.7, n=n, critical=critical_at(0.05, n)) >= 0.8
    assert power_of(5, spread=12.7, n=n - 1, critical=critical_at(0.05, n - 1)) < 0.8
    wide = clusters_for_interval(2, spread=12.7)
    assert critical_at(0.05, wide) * 12.7 / wide**0.5 <= 2 < critical_at(0.05, wide - 1) * 12.7 / (wide - 1) ** 0.5


def test_a_level_is_that_of_its_critical_value_and_nothing_is_found_at_none() -> None:
    assert level_of_one(critical_at(0.001, 16), 16) == pytest.approx(0.001)
    assert detectable(spread=1, n=4, critical=float("inf")) is None
    assert clusters_for_difference(2, spread=5, level=0.0) is None


def test_sizes_are_those_of_statsmodels() -> None:
    from statsmodels.stats.power import TTestPower

    power = TTestPower()
    for difference, spread in ((5.0, 12.7), (2.0, 5.0), (8.0, 9.0)):
        expected = power.solve_power(effect_size=difference / spread, alpha=0.05, power=0.8)
        assert clusters_for_difference(difference, spread=spread) == np.ceil(expected)
