"""One quota domain: its pace, its shares, its calls in flight. Whole runs are in test_quota_goals."""

from __future__ import annotations

from collections import Counter
from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.chat.call import Signals
from longform.quota.leases import Accepted, Lease, LeaseAsk, Left, QuotaLimits, Refused
from longform.quota.quota import Quota


def ask(
    worker: str = "w", job: str = "j", *, n: int = 64, tokens: float = 100.0, in_flight: int = 0, **heard: object
) -> LeaseAsk:
    return LeaseAsk(worker, job, (tokens,) * n, n, in_flight, **heard)  # type: ignore[arg-type]


def drive(quota: Quota, workers: list[tuple[str, str]], begin: float, end: float) -> Counter[str]:
    """Workers that always want 64 calls ask when they are told to; calls end at once. Worker -> calls."""
    due = {worker: begin for worker, _ in workers}
    jobs = dict(workers)
    calls: Counter[str] = Counter()
    while min(due.values()) < end:
        worker = min(due, key=due.__getitem__)
        lease = quota.lease(due[worker], ask(worker, jobs[worker]))
        calls[worker] += lease.calls
        due[worker] += lease.again_s
    return calls


def test_starts_empty_and_keeps_the_pace() -> None:
    quota = Quota(QuotaLimits(requests_per_minute=3000))
    assert quota.lease(0.0, ask()).calls == 0
    calls = drive(quota, [("w", "j")], 0.0, 10.0)
    assert 0.96 * 500 <= calls["w"] <= 500


def test_tokens_bind_where_they_are_scarcer() -> None:
    calls = drive(Quota(QuotaLimits(requests_per_minute=6000, tokens_per_minute=60_000)), [("w", "j")], 0.0, 20.0)
    assert 0.94 * 200 <= calls["w"] <= 200


def test_call_larger_than_the_account_goes_and_is_paid_for_afterwards() -> None:
    """Otherwise it would starve."""
    quota = Quota(QuotaLimits(tokens_per_minute=6000))
    asked = [tick / 10 for tick in range(1200)]
    times = [now for now in asked if quota.lease(now, ask(n=3, tokens=1000)).calls]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert len(times) >= 10
    assert min(gaps) >= 9.9


@pytest.mark.parametrize(("per_s", "seconds"), [(50, 10), (1, 200)])
def test_jobs_share_evenly_whatever_their_workers(per_s: float, seconds: float) -> None:
    workers = [("a", "A"), ("b1", "B"), ("b2", "B"), ("b3", "B")]
    calls = drive(Quota(QuotaLimits(requests_per_minute=60 * per_s)), workers, 0.0, seconds)
    total = calls.total()
    assert total >= 0.9 * per_s * seconds
    assert calls["a"] == pytest.approx(total / 2, rel=0.05, abs=2)
    for worker in ("b1", "b2", "b3"):
        assert calls[worker] == pytest.approx(total / 6, rel=0.1, abs=2)


def test_what_one_does_not_want_goes_to_the_others() -> None:
    quota = Quota(QuotaLimits(requests_per_minute=3000))
    taken = 0
    due, idle_due = 0.0, 0.0
    while due < 10:
        if idle_due <= due:
            idle_due += quota.lease(idle_due, ask("idle", "A", n=0)).again_s
            continue
        lease = quota.lease(due, ask("busy", "B"))
        taken += lease.calls
        due += lease.again_s
    assert taken >= 0.95 * 500


def test_dead_worker_gives_its_share_and_its_calls_back() -> None:
    quota = Quota(QuotaLimits(requests_per_minute=6000, in_flight=64))
    drive(quota, [("dead", "A"), ("alive", "B")], 0.0, 1.0)
    quota.lease(1.1, ask("dead", "A", in_flight=60))
    held = sum(quota.lease(1.2 + i / 20, ask("alive", "B", in_flight=0)).calls > 4 for i in range(10))
    assert held == 0
    calls = drive(quota, [("alive", "B")], 4.0, 6.0)
    assert calls["alive"] >= 0.9 * 200


def test_stalled_worker_may_not_catch_up_for_long() -> None:
    quota = Quota(QuotaLimits(requests_per_minute=6000))
    both = [("a", "A"), ("b", "B")]
    drive(quota, both, 0.0, 1.0)
    drive(quota, [("a", "A")], 1.0, 20.0)
    calls = drive(quota, both, 20.0, 26.0)
    assert calls["b"] - calls["a"] <= 1.2 * 100


def test_hold_heard_from_one_worker_holds_for_all() -> None:
    quota = Quota(QuotaLimits(requests_per_minute=6000))
    drive(quota, [("a", "A"), ("b", "B")], 0.0, 1.0)
    quota.lease(1.0, ask("a", "A", refused=(Refused(0.01, 100, 1.5),)))
    for tick in range(14):
        lease = quota.lease(1.05 + tick / 10, ask("b", "B"))
        assert lease.calls == 0
        assert 0 < lease.again_s <= 0.5
    assert drive(quota, [("b", "B")], 2.5, 3.5)["b"] > 50


def test_settled_tokens_make_room_or_take_it() -> None:
    def calls_when(actual: float) -> int:
        quota = Quota(QuotaLimits(tokens_per_minute=60_000))
        total, now, left, settled = 0, 0.0, (), ()
        while now < 20:
            lease = quota.lease(now, ask(tokens=100, left=left, accepted=settled))
            left = tuple(Left(0.0, 100) for _ in range(lease.calls))
            settled = tuple(Accepted(0.05, 100, actual) for _ in range(lease.calls))
            total += lease.calls
            now += lease.again_s
        return total

    assert calls_when(50) == pytest.approx(2 * calls_when(100), rel=0.1)
    assert calls_when(200) == pytest.approx(calls_when(100) / 2, rel=0.1)


def test_returned_and_refused_calls_do_not_count() -> None:
    quota = Quota(QuotaLimits(requests_per_minute=600))
    drive(quota, [("w", "j")], 0.0, 5.0)
    back = quota.lease(5.05, ask(returned=(100.0, 100.0)))
    assert back.calls >= 1


def test_limit_in_a_header_replaces_a_guess_and_is_told_to_the_worker() -> None:
    quota = Quota()
    lease = quota.lease(0.0, ask(signals=Signals(requests_per_minute=600, tokens_per_minute=9e6)))
    assert lease.limits == QuotaLimits(600, 9e6)
    assert drive(quota, [("w", "j")], 0.1, 10.1)["w"] == pytest.approx(100, rel=0.05)


def test_nothing_remaining_holds_until_the_reset() -> None:
    quota = Quota(QuotaLimits(requests_per_minute=6000))
    drive(quota, [("w", "j")], 0.0, 1.0)
    quota.lease(1.0, ask(n=0, signals=Signals(remaining_requests=0, reset_requests_s=1.5)))
    assert quota.lease(2.4, ask()).calls == 0
    assert drive(quota, [("w", "j")], 2.5, 3.0)["w"] > 20


def test_lowest_of_what_jobs_tell_holds_while_its_job_is_alive() -> None:
    quota = Quota()
    quota.lease(0.0, ask("a", "A"), QuotaLimits(requests_per_minute=6000))
    lease = quota.lease(0.1, ask("b", "B"), QuotaLimits(requests_per_minute=600))
    assert lease.limits.requests_per_minute == 600
    lease = quota.lease(5.0, ask("a", "A"), QuotaLimits(requests_per_minute=6000))
    assert lease.limits.requests_per_minute == 6000


def test_restarted_authority_goes_on_from_what_a_worker_knows() -> None:
    lease = Quota().lease(0.0, ask(known=QuotaLimits(requests_per_minute=1200)))
    assert lease.limits.requests_per_minute == pytest.approx(1200)


def test_limits_found_are_given_for_remembering() -> None:
    quota = Quota(QuotaLimits(requests_per_minute=6000))
    drive(quota, [("w", "j")], 0.0, 1.0)
    assert quota.limits_found == QuotaLimits()
    for tick in range(30):
        quota.lease(1.0 + tick / 1000, ask(refused=(Refused(0.3, 100, None),) * 2))
    found = quota.limits_found.requests_per_minute
    assert found is not None
    assert found < 6000
    assert Quota(known=quota.limits_found).limits.requests_per_minute == found


asks = st.lists(
    st.tuples(
        st.floats(0.0005, 0.3),
        st.sampled_from(["a", "b", "c", "d"]),
        st.integers(0, 40),
        st.floats(1, 500),
        st.integers(0, 3),
    ),
    min_size=20,
    max_size=80,
)


@given(asks, st.sampled_from([60.0, 600.0, 6000.0]))
def test_no_window_sees_more_than_the_rate_and_a_small_burst(
    asked: list[tuple[float, str, int, float, int]], limit: float
) -> None:
    """Whatever workers ask."""
    quota = Quota(QuotaLimits(requests_per_minute=limit))
    now, granted = 0.0, []
    for pause, worker, n, tokens, _ in asked:
        now += pause
        granted.append((now, quota.lease(now, ask(worker, worker, n=n, tokens=tokens)).calls))
    per_s = limit / 60
    totals = [0, *accumulate(calls for _, calls in granted)]
    burst = 2 + 0.1 * per_s
    for i, (begin, _) in enumerate(granted):
        for j in range(i, len(granted)):
            assert totals[j + 1] - totals[i] <= per_s * (granted[j][0] - begin) + burst


@given(asks, st.integers(1, 50))
def test_calls_in_flight_are_never_more_than_allowed(
    asked: list[tuple[float, str, int, float, int]], allowed: int
) -> None:
    quota = Quota(QuotaLimits(requests_per_minute=60_000, in_flight=allowed))
    now, flying = 0.0, Counter[str]()
    for pause, worker, n, tokens, ended in asked:
        now += pause / 100  # nobody is silent for so long that it counts as dead
        flying[worker] -= min(ended, flying[worker])
        flying[worker] += quota.lease(now, ask(worker, n=n, tokens=tokens, in_flight=flying[worker])).calls
        assert flying.total() <= allowed


@given(asks, st.lists(st.tuples(st.integers(0, 79), st.sampled_from([None, 0.0, 0.5, 40.0])), max_size=20))
def test_every_lease_is_well_formed(
    asked: list[tuple[float, str, int, float, int]], refusals: list[tuple[int, float | None]]
) -> None:
    quota, now = Quota(), 0.0
    refused_at = dict(refusals)
    for i, (pause, worker, n, tokens, _) in enumerate(asked):
        now += pause
        heard = {"refused": (Refused(0.01, tokens, refused_at[i]),)} if i in refused_at else {}
        lease: Lease = quota.lease(now, ask(worker, n=n, tokens=tokens, **heard))
        assert 0 <= lease.calls <= n
        assert 0 <= lease.over_s <= 0.1
        assert 0.01 <= lease.again_s <= 0.5


def test_lowest_of_what_the_stages_of_a_job_say_holds() -> None:
    """A stage that states no limit for the model does not lift the one that another stated."""
    quota = Quota()
    quota.lease(0.0, ask("a"), QuotaLimits(requests_per_minute=600))
    assert quota.lease(0.1, ask("b"), QuotaLimits()).limits.requests_per_minute == 600


def test_when_the_last_told_limit_ends_the_pace_is_sought_from_there() -> None:
    """Not without any bound: what the job that knew the limit said is where seeking begins."""
    quota = Quota()
    quota.lease(0.0, ask("a", "knows"), QuotaLimits(requests_per_minute=600))
    drive(quota, [("a", "knows")], 0.1, 5.0)
    quota.lease(10.0, ask("b", "knows not"), QuotaLimits())
    calls = drive(quota, [("b", "knows not")], 10.0, 10.5)
    assert 1 <= calls["b"] <= 20
