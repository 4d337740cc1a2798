"""Guarantees to callers under load, on a real Serve. `tests/bench/serve_load.py` has the times."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.bench.served_load import closed_loop, deploy, kill, on_serve, open_loop, patient

pytestmark = [pytest.mark.slow, pytest.mark.ray]


@pytest.fixture(scope="module")
def served(ray_session: None) -> Iterator[str]:
    with on_serve() as url:
        yield url


async def test_ten_times_the_capacity_is_answered_or_told_when_to_come_again(served: str) -> None:
    await asyncio.to_thread(deploy, unit_s=0.2, waiting=10)
    answers = await open_loop(served, per_s=50, n=150)
    statuses = Counter(answer.status for answer in answers)
    assert all(answer.is_fair for answer in answers), statuses
    assert statuses[200] > 0
    assert statuses[429] > 0


async def test_a_replica_that_dies_and_a_new_version_cost_callers_nothing(served: str) -> None:
    await asyncio.to_thread(deploy, unit_s=0.02, num_replicas=2)
    places = await patient(served, callers=4, each=15, meanwhile=kill)
    assert places.count(None) == 0
    assert len(set(places)) > 1
    new = asyncio.create_task(asyncio.to_thread(deploy, unit_s=0.01))
    answers = await closed_loop(served, callers=4, until=new.done)
    await new
    assert Counter(answer.status for answer in answers) == {200: len(answers)}
