"""One quota domain: its pace, its shares, its calls in flight. Whole runs are in test_quota_goals."""

from __future__ import annotations

from collections import Counter
from itertools import accumulate

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


class Asking:
    """Workers that tell which of their leased calls left: all, at once."""

    def __init__(self, quota: Quota) -> None:
        self.quota = quota
        self._leased: dict[str, tuple[float, int, float]] = {}

    def lease(self, now: float, worker: str = "w", job: str = "j", *, tokens: float = 100.0, **heard: object) -> Lease:
        when, n, size = self._leased.get(worker, (now, 0, tokens))
        left = (Left(now - when, size),) * n
        lease = self.quota.lease(now, ask(worker, job, tokens=tokens, left=left, **heard))
        self._leased[worker] = (now, lease.calls, tokens)
        return lease

    def drive(self, workers: list[tuple[str, str]], begin: float, end: float, *, tokens: float = 100.0) -> Counter[str]:
        """Have workers that always want 64 calls ask when they are told to. Worker -> calls."""
        due = {worker: begin for worker, _ in workers}
        jobs = dict(workers)
        calls: Counter[str] = Counter()
        while min(due.values()) < end:
            worker = min(due, key=due.__getitem__)
            lease = self.lease(due[worker], worker, jobs[worker], tokens=tokens)
            calls[worker] += lease.calls
            due[worker] += lease.again_s
        return calls


def test_told_limit_is_used_up_as_a_bucket_of_a_minute_would_let_in() -> None:
    """A minute's worth leaves at once if nothing is refused, and no more than the pace from then on."""
    calls = Asking(Quota(QuotaLimits(requests_per_minute=600))).drive([("w", "j")], 0.0, 59.0)
    assert 1100 <= calls["w"] <= 1190


def test_call_larger_than_the_limit_goes_alone() -> None:
    """Otherwise it would starve."""
    asking = Asking(Quota(QuotaLimits(tokens_per_minute=6000)))
    assert 2 <= asking.drive([("w", "j")], 0.0, 300.0, tokens=10_000)["w"] <= 6


@pytest.mark.parametrize("per_s", [50, 1])
def test_jobs_share_evenly_whatever_their_workers(per_s: float) -> None:
    workers = [("a", "A"), ("b1", "B"), ("b2", "B"), ("b3", "B")]
    asking = Asking(Quota(QuotaLimits(requests_per_minute=60 * per_s)))
    asking.drive(workers, 0.0, 70.0)
    calls = asking.drive(workers, 70.0, 70.0 + 500 / per_s)
    total = calls.total()
    assert total >= 0.9 * 500
    assert calls["a"] == pytest.approx(total / 2, rel=0.05, abs=2)
    for worker in ("b1", "b2", "b3"):
        assert calls[worker] == pytest.approx(total / 6, rel=0.1, abs=2)


def test_what_one_does_not_want_goes_to_the_others() -> None:
    def calls_of_busy(*, beside_idle: bool) -> int:
        asking = Asking(Quota(QuotaLimits(requests_per_minute=3000)))
        taken, due, idle_due = 0, 0.0, 0.0 if beside_idle else 99.0
        while due < 10:
            if idle_due <= due:
                idle_due += asking.lease(idle_due, "idle", "A", n=0).again_s
                continue
            lease = asking.lease(due, "busy", "B")
            taken += lease.calls
            due += lease.again_s
        return taken

    assert calls_of_busy(beside_idle=True) >= 0.95 * calls_of_busy(beside_idle=False) > 0


def test_dead_worker_gives_its_share_and_its_calls_back() -> None:
    asking = Asking(Quota(QuotaLimits(requests_per_minute=6000, in_flight=64)))
    asking.drive([("dead", "A"), ("alive", "B")], 0.0, 1.0)
    asking.lease(1.1, "dead", "A", in_flight=60)
    held = sum(asking.lease(1.2 + i / 20, "alive", "B", in_flight=0).calls > 4 for i in range(10))
    assert held == 0
    calls = asking.drive([("alive", "B")], 4.0, 6.0)
    assert calls["alive"] >= 0.9 * 200


def test_stalled_worker_may_not_catch_up_for_long() -> None:
    asking = Asking(Quota(QuotaLimits(requests_per_minute=6000)))
    both = [("a", "A"), ("b", "B")]
    asking.drive(both, 0.0, 70.0)
    asking.drive([("a", "A")], 70.0, 90.0)
    calls = asking.drive(both, 90.0, 96.0)
    assert calls["b"] - calls["a"] <= 1.2 * 100


def test_stated_wait_heard_from_one_worker_holds_for_all_but_a_trial() -> None:
    asking = Asking(Quota(QuotaLimits(requests_per_minute=6000)))
    asking.drive([("a", "A"), ("b", "B")], 0.0, 1.0)
    asking.lease(1.0, "a", "A", refused=(Refused(0.01, 100, 1.5),))
    leases = [asking.lease(1.05, "b", "B")]
    for tick in range(1, 14):
        now = 1.05 + tick / 10
        met = (Refused(0.1, 100, 2.5 - now),) * leases[-1].calls
        leases.append(asking.lease(now, "b", "B", refused=met))
    assert sum(lease.calls for lease in leases) <= 4
    assert all(0 < lease.again_s <= 0.5 for lease in leases)
    assert asking.drive([("b", "B")], 2.5, 3.5)["b"] > 50


def test_wait_that_proved_wrong_is_not_believed_again() -> None:
    asking = Asking(Quota())
    asking.drive([("w", "j")], 0.0, 1.0)
    asking.lease(1.0, refused=(Refused(0.01, 100, 30.0),))
    assert asking.drive([("w", "j")], 1.01, 2.0)["w"] == 0
    assert asking.drive([("w", "j")], 2.0, 8.0)["w"] >= 1
    asking.lease(8.0, refused=(Refused(0.01, 100, 30.0),))
    assert asking.drive([("w", "j")], 8.01, 9.0)["w"] > 50


def test_actual_tokens_make_room_or_take_it() -> None:
    def calls_when(actual: float) -> int:
        asking = Asking(Quota(QuotaLimits(tokens_per_minute=60_000)))
        total, now, settled = 0, 0.0, ()
        while now < 59:
            lease = asking.lease(now, accepted=settled)
            settled = tuple(Accepted(0.05, 100, actual) for _ in range(lease.calls))
            total += lease.calls
            now += lease.again_s
        return total

    assert calls_when(50) == pytest.approx(2 * calls_when(100), rel=0.1)
    assert calls_when(200) == pytest.approx(calls_when(100) / 2, rel=0.1)


def test_returned_calls_do_not_count() -> None:
    asking = Asking(Quota(QuotaLimits(requests_per_minute=600)))
    asking.drive([("w", "j")], 0.0, 30.0)
    quota = asking.quota
    asking.lease(30.5, n=0)
    none = quota.lease(31.0, ask(n=64)).calls
    back = quota.lease(31.01, ask(returned=(100.0,) * none)).calls
    assert none >= 1
    assert back >= none


def test_limit_in_a_header_is_told_to_the_worker_and_kept() -> None:
    asking = Asking(Quota())
    lease = asking.lease(0.0, n=0, signals=Signals(requests_per_minute=600, tokens_per_minute=9e6))
    assert lease.limits == QuotaLimits(600, 9e6)
    assert asking.drive([("w", "j")], 0.1, 30.1)["w"] <= 600 + 300


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
    asking = Asking(quota)
    asking.drive([("w", "j")], 0.0, 1.0)
    assert quota.limits_found == QuotaLimits()
    for tick in range(30):
        asking.lease(1.0 + tick / 1000, refused=(Refused(0.3, 100, None),) * 2)
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
def test_no_span_sees_more_than_a_minute_s_worth_and_the_pace(
    asked: list[tuple[float, str, int, float, int]], limit: float
) -> None:
    """Whatever workers ask, and though nothing is refused."""
    asking = Asking(Quota(QuotaLimits(requests_per_minute=limit)))
    now, granted = 0.0, []
    for pause, worker, n, tokens, _ in asked:
        now += pause
        granted.append((now, asking.lease(now, worker, worker, n=n, tokens=tokens).calls))
    totals = [0, *accumulate(calls for _, calls in granted)]
    for i, (begin, _) in enumerate(granted):
        for j in range(i, len(granted)):
            assert totals[j + 1] - totals[i] <= limit * (1 + (granted[j][0] - begin) / 60) + 1


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
        assert 0.01 <= lease.again_s <= 0.5


def test_calls_in_flight_are_shared_while_both_want_and_are_one_s_alone_else() -> None:
    quota = Quota(QuotaLimits(in_flight=4))
    assert quota.lease(0.0, ask("a", "A")).calls == 4
    assert quota.lease(0.1, ask("b", "B")).calls == 0
    assert quota.lease(0.2, ask("a", "A", in_flight=0)).calls == 2
    assert quota.lease(0.3, ask("b", "B")).calls == 2
    quota.lease(0.4, ask("b", "B", n=0))
    assert quota.lease(0.5, ask("a", "A", in_flight=2)).calls == 2


def test_lowest_of_what_the_stages_of_a_job_say_holds() -> None:
    """A stage that states no limit for the model does not lift the one that another stated."""
    quota = Quota()
    quota.lease(0.0, ask("a"), QuotaLimits(requests_per_minute=600))
    assert quota.lease(0.1, ask("b"), QuotaLimits()).limits.requests_per_minute == 600


def test_when_the_last_told_limit_ends_the_pace_is_sought_from_there() -> None:
    """Not without any bound: what the job that knew the limit said is where seeking begins."""
    quota = Quota()
    asking = Asking(quota)
    quota.lease(0.0, ask("a", "knows", n=0), QuotaLimits(requests_per_minute=600))
    asking.drive([("a", "knows")], 0.1, 20.0)
    quota.lease(30.0, ask("b", "knows not", n=0), QuotaLimits())
    calls = asking.drive([("b", "knows not")], 30.0, 30.1)
    assert 1 <= calls["b"] <= 64
