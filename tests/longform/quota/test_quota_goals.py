"""Goals of the authority over a quota, in simulated runs of 3,000 calls from four workers."""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter, deque
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import ModuleType

import pytest

from longform.quota.leases import QuotaLimits
from longform.quota.quota import Quota


def _load() -> ModuleType:
    place = Path(__file__).with_name("quota_simulation.py")
    spec = importlib.util.spec_from_file_location("quota_simulation", place)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


simulation = _load()
CELLS = ("bucket", "window"), ("unknown", "10x"), simulation.RETRY_AFTER
QUICK_CELLS = [
    ("window", "unknown", "whole seconds"),
    ("window", "10x", "missing"),
    ("window", "unknown", "30 s"),
    ("bucket", "10x", "0 s"),
]


@pytest.mark.parametrize("per_s", [50, 100])
@pytest.mark.parametrize("kind", ["bucket", "window"])
def test_known_limit_of_calls_is_kept_and_used(kind: str, per_s: int) -> None:
    provider = simulation.Provider(kind, requests=per_s)
    outcome = simulation.play(provider, simulation.told(provider, "known"), "whole seconds")
    assert outcome.refusals <= 0.005
    assert outcome.ratio <= 1.05


def test_known_limit_of_tokens_is_kept_and_used() -> None:
    provider = simulation.Provider("bucket", tokens=50 * simulation.MEAN_TOKENS)
    outcome = simulation.play(provider, simulation.told(provider, "known"), "whole seconds")
    assert outcome.refusals <= 0.005
    assert outcome.ratio <= 1.05


@pytest.mark.parametrize(
    ("kind", "knowledge", "retry_after"),
    [
        *QUICK_CELLS,
        *(pytest.param(*cell, marks=pytest.mark.slow) for cell in product(*CELLS) if cell not in QUICK_CELLS),
    ],
)
def test_limit_that_nobody_told_is_found(kind: str, knowledge: str, retry_after: str) -> None:
    provider = simulation.Provider(kind, requests=50)
    outcome = simulation.play(provider, simulation.told(provider, knowledge), retry_after)
    assert outcome.ratio <= 1.10
    assert outcome.refusals <= 0.25
    assert outcome.late_refusals <= 0.05


@pytest.mark.parametrize("headers", [False, True])
@pytest.mark.parametrize("kind", ["window", "fixed"])
def test_a_minute_s_worth_leaves_at_once_and_no_more_within_a_minute(kind: str, headers: bool) -> None:
    """3,000 calls of 600 a minute: the last leave after four minutes, which evenly spaced ones do after five."""
    provider = simulation.Provider(kind, requests=10, window_s=60, headers=headers)
    outcome = simulation.play(provider, simulation.told(provider, "known"), "whole seconds")
    assert outcome.refusals <= 0.005
    assert outcome.ratio <= 1.06


@pytest.mark.parametrize("delay_s", [20.0, 90.0])
def test_replies_of_a_minute_and_more_spill_nothing_into_the_next_one(delay_s: float) -> None:
    """Calls wait for their places as long as replies take, and are told of as answered when they count no more."""
    provider = simulation.Provider("window", requests=10, window_s=60, delay_s=delay_s)
    calls = [replace(call, slow=False) for call in simulation.draw_calls(2000, 0)]
    run = simulation.Simulation(
        provider, Quota(QuotaLimits(600)), [("j", deque(calls))] * 4, retry_after="whole seconds", seed=0, slots=400
    )
    run.run()
    assert len(run.server.accepted) == len(calls)
    assert all(when < 60 for when in run.server.refused)


@pytest.mark.parametrize("headers", [False, True])
def test_a_minute_s_tokens_leave_at_once(headers: bool) -> None:
    """The first refusals tell where the limit lies in our count of tokens."""
    provider = simulation.Provider("window", tokens=13 * simulation.MEAN_TOKENS, window_s=60, headers=headers)
    outcome = simulation.play(provider, simulation.told(provider, "known"), "whole seconds")
    assert outcome.refusals <= 0.015
    assert outcome.ratio <= 1.08


def test_headers_tell_a_bucket_of_a_minute_that_refills() -> None:
    provider = simulation.Provider("bucket", requests=21, window_s=60, headers=True)
    outcome = simulation.play(provider, simulation.told(provider, "known"), "whole seconds")
    assert outcome.refusals <= 0.005
    assert outcome.ratio <= 1.06


def test_headers_do_not_make_a_provider_of_seconds_one_of_minutes() -> None:
    """Its headers state what is left of a second."""
    provider = simulation.Provider("bucket", requests=75, headers=True)
    outcome = simulation.play(provider, simulation.told(provider, "known"), "whole seconds")
    assert outcome.refusals <= 0.002
    assert outcome.ratio <= 1.05


@pytest.mark.parametrize("retry_after", ["whole seconds", "missing"])
@pytest.mark.parametrize("knowledge", ["10x", "unknown"])
def test_a_minute_s_limit_that_was_not_told_is_found(knowledge: str, retry_after: str) -> None:
    provider = simulation.Provider("window", requests=21, window_s=60)
    outcome = simulation.play(provider, simulation.told(provider, knowledge), retry_after)
    assert outcome.refusals <= 0.05
    assert outcome.ratio <= 1.10


@pytest.mark.slow
def test_five_hundred_workers_share_a_thousand_calls_a_second() -> None:
    provider = simulation.Provider("bucket", requests=1000)
    outcome = simulation.play(provider, QuotaLimits(60_000), "whole seconds", n=40_000, workers=500)
    assert outcome.refusals <= 0.005
    assert outcome.ratio <= 1.06


def test_two_jobs_share_while_both_want() -> None:
    provider = simulation.Provider("window", requests=50)
    backlogs = {job: deque(simulation.draw_calls(1000, seed)) for seed, job in enumerate(("A", "B"))}
    workers = [("A", backlogs["A"]), *[("B", backlogs["B"])] * 3]
    run = simulation.Simulation(
        provider, Quota(QuotaLimits(3000)), workers, retry_after="whole seconds", seed=1, slots=128
    )
    run.run(until=30.0)
    done = Counter(job for _, job in run.done)
    assert done["A"] == pytest.approx(done["B"], rel=0.05)
    assert len(run.server.refused) <= 0.005 * done.total()


def test_dead_worker_costs_the_others_little() -> None:
    provider = simulation.Provider("bucket", requests=50)
    backlog = deque(simulation.draw_calls(1000, 0))
    run = simulation.Simulation(provider, Quota(QuotaLimits(3000)), [("j", backlog)] * 4, retry_after="missing", seed=0)
    run.run(until=5.0)
    run.workers[0].dead = True
    before = len(run.server.accepted)
    run.run(until=15.0)
    assert len(run.server.accepted) - before >= 0.95 * 500


@pytest.mark.parametrize("retry_after", ["whole seconds", "missing"])
def test_minute_of_closure_costs_few_calls_and_ends(retry_after: str) -> None:
    provider = simulation.Provider("bucket", requests=50, closed=(5.0, 65.0))
    backlog = deque(simulation.draw_calls(1000, 0))
    run = simulation.Simulation(provider, Quota(), [("j", backlog)] * 4, retry_after=retry_after, seed=0)
    run.run(until=5.0)
    before = len(run.server.refused)
    run.run(until=65.0)
    assert len(run.server.refused) - before <= 25
    run.run(until=80.0)
    assert sum(when > 65 for when in run.server.accepted) >= 100
