"""Providers that nobody chose: whatever they count and say, no call is lost, and the run ends."""

from __future__ import annotations

from statistics import mean, median

import pytest

from tests.bench.arena import Meeting, drawn, meeting

SEEDS = range(1, 21)


def test_a_seed_is_a_provider() -> None:
    assert drawn(7) == drawn(7)
    assert len({(drawn(seed).kind, drawn(seed).window_s) for seed in range(100)}) == 9


@pytest.fixture(scope="module")
def meetings() -> list[Meeting]:
    return [meeting(seed) for seed in SEEDS]


def test_quota_loses_no_call_and_takes_little_more_than_the_least(meetings: list[Meeting]) -> None:
    times = [each.ratios[0] for each in meetings]
    assert sum(each.pool.lost for each in meetings) == 0
    assert min(times) >= 0.9
    assert median(times) <= 1.08
    assert sorted(times)[-2] <= 1.4


@pytest.mark.parametrize(("is_right", "most"), [(True, 0.04), (False, 0.06)])
def test_few_calls_are_refused(meetings: list[Meeting], is_right: bool, most: float) -> None:
    met = [each for each in meetings if (each.provider.told == "right") is is_right]
    assert mean(each.pool.refused for each in met) <= most < mean(each.openai.refused for each in met)


def test_a_client_that_gives_up_loses_calls(meetings: list[Meeting]) -> None:
    assert sum(each.openai.lost for each in meetings) > 0
