"""Providers that nobody chose: whatever they count and say, no call is lost, and the run ends."""

from __future__ import annotations

import pytest

from tests.bench.arena import drawn, of_openai, of_perfect, of_pool

SEEDS = range(1, 21)


def test_a_seed_is_a_provider() -> None:
    assert drawn(7) == drawn(7)
    assert len({(drawn(seed).kind, drawn(seed).window_s) for seed in range(100)}) == 9


@pytest.mark.parametrize("seed", SEEDS)
def test_quota_loses_no_call(seed: int) -> None:
    """A client that gives up after ten tries loses hundreds at some of the same providers."""
    provider = drawn(seed)
    met = of_pool(provider)
    assert met.lost == 0
    assert met.seconds >= 0.9 * of_perfect(provider).seconds


def test_a_client_that_gives_up_loses_calls() -> None:
    assert sum(of_openai(drawn(seed)).lost for seed in SEEDS) > 0
