"""Requests that jobs hold back count before they are sent."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from actors.serving.messages import Backlog, HeldBack, ray_board
from serve.backlog import BACKLOG, newest, with_backlog, within_machine
from tests.bench.served_load import DEPLOYMENT, deploy, n_running, on_serve


def test_the_board_adds_up_jobs_and_forgets_the_silent() -> None:
    now = [0.0]
    board = Backlog(clock=lambda: now[0])
    board.publish("judges-a", HeldBack("first", 30))
    now[0] = 40.0
    board.publish("judges-a", HeldBack("second", 5))
    board.publish("judges-b", HeldBack("first", 7))
    assert (board.waiting("judges-a"), board.waiting("judges-b"), board.waiting("judges-c")) == (35, 7, 0)
    now[0] = 70.0
    assert board.waiting("judges-a") == 5
    board.publish("judges-a", HeldBack("second", 4))
    assert board.waiting("judges-a") == 4
    board.publish("judges-a", HeldBack("second", 0))
    assert board.waiting("judges-a") == 0


def context(held: float, reports: Mapping[str, Sequence[tuple[float, float]]]) -> Any:
    """Return the part of Serve's message to a policy that ours reads."""
    series = {name: [SimpleNamespace(timestamp=t, value=v) for t, v in said] for name, said in reports.items()}
    config = SimpleNamespace(get_target_ongoing_requests=lambda: 4.0)
    return SimpleNamespace(total_num_requests=held, raw_metrics={BACKLOG: series} if series else {}, config=config)


def test_replicas_are_wanted_for_what_is_held_and_held_back() -> None:
    assert with_backlog(context(4, {}))[0] == 1
    assert with_backlog(context(4, {"r1": [(1.0, 0.0), (2.0, 9.0)]}))[0] == 4  # 13 requests of 4 each
    assert with_backlog(context(0, {"r1": [(1.0, 100.0), (3.0, 0.0)], "r2": [(2.0, 100.0)]}))[0] == 0
    assert newest({"r1": []}) == 0.0


def test_no_more_replicas_than_cores_are_wanted_within_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    assert [within_machine(context(held, {}))[0] for held in (4, 12, 4000)] == [1, 3, 3]


@pytest.mark.slow
@pytest.mark.ray
async def test_a_published_backlog_starts_a_replica_before_anything_is_sent(ray_session: None) -> None:
    scaled = {
        "policy": {"policy_function": "serve.backlog:with_backlog"},
        "min_replicas": 1,
        "max_replicas": 2,
        "target_ongoing_requests": 4,
        "upscale_delay_s": 0,
        "look_back_period_s": 2,
    }
    board = ray_board()
    with on_serve():
        deploy(unit_s=0.01, autoscaling_config=scaled)
        assert n_running() == 1
        started = time.monotonic()
        while n_running() < 2 and time.monotonic() - started < 300:
            board.publish.remote(DEPLOYMENT, HeldBack("a-job", 50))
            await asyncio.sleep(0.5)
        assert n_running() == 2
    board.publish.remote(DEPLOYMENT, HeldBack("a-job", 0))
