from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.rehearsal.limits import BothLimits, Bucket, refusal_headers
from longform.rehearsal.settings import FAULTS, FakeSettings, batch_item_fails, draw_fate
from tests.longform.rehearsal.perfect_client import perfect_makespan
from tests.longform.rehearsal.windows import Window

AMOUNTS = st.lists(st.tuples(st.integers(1, 12), st.floats(0, 3)), max_size=60)


def let_in(quota: Bucket, asked: list[tuple[int, float]]) -> list[tuple[float, int]]:
    """(time, amount) of what gets in when each is asked for so long after the one before, and never again."""
    now, taken = 0.0, []
    for amount, pause in asked:
        now += pause
        if quota.wait_s(amount, now) == 0:
            quota.take(amount, now)
            taken.append((now, amount))
    return taken


def sums(taken: list[tuple[float, int]], length: float) -> list[float]:
    """Return the sums let in within *length* seconds from each admission."""
    return [sum(amount for at, amount in taken if start <= at < start + length) for start, _ in taken]


@given(AMOUNTS)
def test_a_bucket_lets_in_a_second_s_worth_and_what_refills(asked: list[tuple[int, float]]) -> None:
    taken = let_in(Bucket(per_minute=600), asked)  # 10 a second; larger ones leave a debt of 2
    assert all(total <= 10 + 10 * 5 + 2 + 1e-6 for total in sums(taken, 5.0))


@given(AMOUNTS)
def test_a_window_never_holds_more_than_its_share(asked: list[tuple[int, float]]) -> None:
    taken = [one for one in let_in(Window(600, 1.0), asked) if one[1] <= 10]
    assert all(total <= 10 for total in sums(taken, 1.0 - 1e-5))


@given(AMOUNTS)
def test_a_fixed_window_lets_its_share_in_and_begins_anew(asked: list[tuple[int, float]]) -> None:
    taken = [one for one in let_in(Window(600, 2.0, is_fixed=True), asked) if one[1] <= 20]
    for begin in range(0, 200, 2):
        assert sum(amount for at, amount in taken if begin <= at < begin + 2 - 1e-5) <= 20


def test_a_fixed_window_says_when_it_begins_anew() -> None:
    quota = Window(60, 60.0, is_fixed=True)
    quota.take(60, 45.0)
    assert (quota.left(50.0), quota.wait_s(1, 50.0), quota.full_in_s(50.0)) == (0, 10, 10)
    assert quota.wait_s(60, 60.0) == 0


def test_a_bucket_may_hold_a_minute_s_worth() -> None:
    bucket = Bucket(600, 60.0)
    bucket.take(600, 0.0)
    assert bucket.wait_s(1, 0.0) == pytest.approx(0.1)


@pytest.mark.parametrize("quota", [Bucket(600), Window(600, 1.0), Bucket(30), Window(30, 1.0)])
def test_what_waits_as_long_as_it_is_told_gets_in(quota: Bucket) -> None:
    now = 0.0
    for amount in (1, 1, 10, 3, 25, 7, 1, 1):
        now += quota.wait_s(amount, now)
        assert quota.wait_s(amount, now) <= 1e-6
        quota.take(amount, now)


@pytest.mark.parametrize("amount", [1, 5, 90])
@pytest.mark.parametrize("make", [Bucket, lambda per_minute: Window(per_minute, 1.0)], ids=["bucket", "window"])
def test_in_the_long_run_the_limit_is_the_rate(make: Callable[[float], Bucket], amount: int) -> None:
    """Also for requests larger than the burst, whose debt must be paid: 10 a second, whatever the sizes."""
    quota, now = make(600), 0.0
    for _ in range(500):
        now += quota.wait_s(amount, now)
        quota.take(amount, now)
    assert now == pytest.approx(500 * amount / 10, abs=10)


def test_less_than_one_request_a_second_is_one_at_a_time() -> None:
    assert [at for at, _ in let_in(Window(30, 1.0), [(1, 0.5)] * 10)] == [0.5, 2.5, 4.5]
    assert [at for at, _ in let_in(Bucket(30), [(1, 0.5)] * 10)] == [0.5, 2.5, 4.5]


def test_a_refusal_counts_against_neither_limit() -> None:
    gate = BothLimits(FakeSettings(requests_per_minute=600, tokens_per_minute=60_000))
    gate.let_in(1000, 0.0)
    assert gate.wait_s(500, 0.0) == pytest.approx(0.5)
    assert gate.wait_s(1, 0.1) == 0


def test_headers_state_limits_as_openai_does() -> None:
    gate = BothLimits(FakeSettings(requests_per_minute=600, limit_headers=True))
    gate.let_in(1, 0.0)
    assert gate.headers(0.0) == {
        "x-ratelimit-limit-requests": "600",
        "x-ratelimit-remaining-requests": "9",
        "x-ratelimit-reset-requests": "100ms",
    }
    assert BothLimits(FakeSettings(requests_per_minute=600)).headers(0.0) == {}


@pytest.mark.parametrize(
    ("settings", "headers"),
    [
        ({}, {"retry-after": "2"}),
        ({"retry_after_ms": True}, {"retry-after": "2", "retry-after-ms": "1201"}),
        ({"retry_after": "missing", "retry_after_ms": True}, {}),
        ({"retry_after": "wrong", "wrong_retry_after_s": 9}, {"retry-after": "9"}),
    ],
)
def test_a_refusal_says_of_the_wait_what_it_is_told_to(settings: dict[str, object], headers: dict[str, str]) -> None:
    assert refusal_headers(FakeSettings(**settings), 1.2001) == headers  # type: ignore[arg-type]


# ---------------------------------------------------------------- fates


def test_shares_of_faults_and_slow_replies_are_as_told() -> None:
    settings = FakeSettings(faults=dict.fromkeys(FAULTS, 0.05), slow_share=0.1)
    fates = [draw_fate(settings, str(n), 0) for n in range(20_000)]
    for kind in FAULTS:
        assert sum(fate.fault == kind for fate in fates) / 20_000 == pytest.approx(0.05, abs=0.007)
    slow = [fate for fate in fates if fate.delay_s == 4.0]
    assert len(slow) / 20_000 == pytest.approx(0.1, abs=0.01)
    assert sum(fate.fault is None for fate in slow) / len(slow) == pytest.approx(0.65, abs=0.05)


def test_another_attempt_draws_anew_and_the_same_one_the_same() -> None:
    settings = FakeSettings(faults={"reset": 0.5})
    again = [draw_fate(settings, "a", n).fault for n in range(40)]
    assert set(again) == {None, "reset"}
    assert again == [draw_fate(settings, "a", n).fault for n in range(40)]
    assert again != [draw_fate(FakeSettings(faults={"reset": 0.5}, seed=1), "a", n).fault for n in range(40)]


def test_a_share_of_batch_items_fails() -> None:
    settings = FakeSettings(batch_failed_share=0.3)
    assert sum(batch_item_fails(settings, str(n), 0) for n in range(5000)) / 5000 == pytest.approx(0.3, abs=0.03)


@pytest.mark.parametrize("faults", [{"http_418": 0.1}, {"http_500": 0.6, "hang": 0.6}])
def test_faults_that_cannot_be_are_refused(faults: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="shares of"):
        FakeSettings(faults=faults)


# ---------------------------------------------------------------- the perfect client


def calls(n: int, tokens: int = 1) -> list[tuple[str, int]]:
    return [(str(i), tokens) for i in range(n)]


STEADY = {"delay_s": 0.5, "slow_share": 0.0}


@pytest.mark.parametrize(
    ("limits", "n", "tokens", "in_flight", "seconds"),
    [
        pytest.param({}, 100, 1, 10, 5.0, id="places"),
        pytest.param({}, 0, 1, 10, 0.0, id="nothing"),
        pytest.param({"requests_per_minute": 600}, 100, 1, 99, 9.5, id="bucket"),  # 10 at once, 90 at 10/s
        pytest.param({"requests_per_minute": 600, "limiter": Window}, 100, 1, 99, 9.5, id="window"),  # 10 at 0..9 s
        pytest.param({"tokens_per_minute": 6000}, 40, 50, 99, 19.5, id="tokens"),  # 2 at once, 38 at 2/s
        pytest.param({"tokens_per_minute": 6000}, 3, 500, 99, 10.5, id="larger-than-the-burst"),
        pytest.param({"requests_per_minute": 60_000}, 8, 1, 2, 2.0, id="places-before-limits"),
    ],
)
def test_the_perfect_time_is_what_the_limits_leave(
    limits: dict[str, object], n: int, tokens: int, in_flight: int, seconds: float
) -> None:
    settings = FakeSettings(**STEADY, **limits)  # type: ignore[arg-type]
    found = perfect_makespan(settings, calls(n, tokens), in_flight=in_flight, deadline_s=60)
    assert found == pytest.approx(seconds, abs=1e-4)


def test_the_perfect_client_tries_again_what_may_pass_and_nothing_else() -> None:
    n_attempts = {
        kind: round(
            perfect_makespan(FakeSettings(faults={kind: 0.5}, **STEADY), calls(400), in_flight=1, deadline_s=0.5) / 0.5
        )
        for kind in FAULTS
    }
    assert n_attempts["length"] == n_attempts["empty"] == 400
    assert all(700 < n < 900 for kind, n in n_attempts.items() if kind not in ("length", "empty"))


def test_a_hang_costs_its_deadline() -> None:
    settings = FakeSettings(faults={"hang": 0.5}, **STEADY)
    times = [perfect_makespan(settings, calls(50), in_flight=1, deadline_s=s) for s in (1.0, 3.0)]
    hangs = (times[1] - times[0]) / 2
    assert hangs == pytest.approx(round(hangs))
    assert times[0] == pytest.approx(50 * 0.5 + hangs)
