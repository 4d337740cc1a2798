"""Plans: sums, intervals and dollars as worked by hand, and the order that every interval keeps."""

from __future__ import annotations

from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.chat.prices import FREE, Price
from longform.quota.leases import QuotaLimits
from longform.spending import (
    NOTHING,
    OTHER_TOKENIZER,
    TEMPLATE_TOKENS,
    CallSample,
    CountRange,
    History,
    Spending,
    mean_of_more,
    minutes,
    output_tokens,
    sample_of,
    saved_by_caching_usd,
    spending,
    total,
    usd,
    with_further,
)

PRICE = Price(input=2.0, cached_input=0.5, output=8.0)


def exactly(value: float) -> CountRange:
    return CountRange(value, value, value)


def test_sample_from_sums_has_the_mean_and_deviation_of_its_values():
    values = [2.0, 4.0, 9.0]

    found = sample_of(3, sum(values), sum(value**2 for value in values))

    assert found == CallSample(3, 5.0, pytest.approx(sqrt((9 + 1 + 16) / 2)))


@pytest.mark.parametrize("n", [0, 1])
def test_fewer_than_two_calls_are_no_sample(n):
    """One call shows no spread, and an interval of no width would be a lie."""
    assert sample_of(n, 5.0 * n, 25.0 * n) is None


def test_prediction_interval_is_students():
    """Four values of deviation 1, four more: 3.1824 (t, 97.5 %, 3 degrees) times the root of 1/4 + 1/4."""
    low, expected, high = mean_of_more(CallSample(4, 10.0, 1.0), 4)

    assert expected == 10.0
    assert (low, high) == (pytest.approx(10 - 3.182446 * sqrt(0.5)), pytest.approx(10 + 3.182446 * sqrt(0.5)))


def test_sum_with_an_unknown_middle_has_none():
    assert total([exactly(1.0), CountRange(1.0, None, 5.0)]) == CountRange(2.0, None, 6.0)


def test_without_history_input_is_as_counted_within_what_other_tokenizers_do():
    found = spending([exactly(120.0)] * 2, max_tokens=50, history=History(), price=None, limits=QuotaLimits())

    assert found.input_tokens == CountRange(
        pytest.approx(240 / OTHER_TOKENIZER), 240.0, pytest.approx(240 * OTHER_TOKENIZER + 2 * TEMPLATE_TOKENS)
    )
    assert found.output_tokens == CountRange(2.0, None, 100.0)
    assert found.usd is None
    assert found.minutes is None


def test_history_corrects_the_count_and_tells_the_output():
    """A provider that states 1.1 times what was counted, always, leaves no doubt about the input."""
    history = History(input_ratio=CallSample(5, 1.1, 0.0), output_tokens=CallSample(5, 30.0, 0.0))

    found = spending([exactly(100.0)] * 3, max_tokens=50, history=history, price=PRICE, limits=QuotaLimits())

    assert found.input_tokens == tuple(pytest.approx(330.0) for _ in range(3))
    assert found.output_tokens == exactly(90.0)


def test_output_stays_between_one_token_and_the_limit_a_call():
    assert output_tokens(2, 50, CallSample(2, 40.0, 30.0)) == CountRange(2.0, 80.0, 100.0)


def test_calls_that_may_follow_are_in_the_high_ends_alone():
    span = CountRange(1.0, 2.0, 3.0)
    sure = Spending(span, span, span, span)
    assert with_further(sure, sure) == Spending(*[CountRange(1.0, 2.0, 6.0)] * 4)
    unknown = with_further(sure._replace(usd=None), Spending(span, CountRange(1.0, None, 3.0), span, None))
    assert (unknown.output_tokens, unknown.usd, unknown.minutes) == (CountRange(1.0, 2.0, 6.0), None, None)


def test_dollars_by_hand():
    """1,000 in and 100 out: 2,000 + 800 millionths; least with all input cached: 500 + 800."""
    found = usd([exactly(1000.0)], exactly(100.0), PRICE, History())

    assert found == (pytest.approx(1300e-6), pytest.approx(2800e-6), pytest.approx(2800e-6))


def test_cached_share_of_the_history_lowers_what_is_expected():
    found = usd([exactly(1000.0)], exactly(100.0), PRICE, History(cached_share=0.5))

    assert found.expected == pytest.approx((500 * 2.0 + 500 * 0.5 + 800) * 1e-6)


def test_long_calls_are_charged_by_the_price_of_long_ones():
    price = Price(input=1.0, output=1.0, above_tokens=100, above=Price(input=10.0, output=1.0))

    found = usd([exactly(50.0), exactly(150.0)], exactly(2.0), price, History())

    assert found.expected == pytest.approx((50 + 1500 + 2) * 1e-6)


def test_unknown_output_leaves_the_middle_of_the_dollars_unknown():
    found = usd([exactly(1000.0)], CountRange(1.0, None, 100.0), PRICE, History())

    assert found == (pytest.approx(508e-6), None, pytest.approx(2800e-6))


def test_free_models_cost_nothing_whatever_they_write():
    assert usd([exactly(1000.0)], CountRange(1.0, None, 100.0), FREE, History()) == NOTHING


def test_nothing_to_ask_takes_nothing_even_where_the_price_is_unknown():
    assert spending([], max_tokens=50, history=History(), price=None, limits=QuotaLimits()) == (NOTHING,) * 4


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        pytest.param(QuotaLimits(requests_per_minute=50.0), 2.0, id="requests"),
        pytest.param(QuotaLimits(requests_per_minute=50.0, tokens_per_minute=1000.0), 10.0, id="tokens-are-narrower"),
        pytest.param(QuotaLimits(requests_per_minute=50.0, in_flight=4), 5.0, id="calls-at-once-are-narrower"),
    ],
)
def test_minutes_are_those_of_the_narrowest_limit(limits, expected):
    """100 calls of 100 tokens and 12 seconds each."""
    assert minutes(100, exactly(10_000.0), CallSample(9, 12.0, 0.0), limits).expected == pytest.approx(expected)


def test_minutes_are_unknown_without_a_limit_and_without_earlier_calls():
    assert minutes(100, exactly(10_000.0), None, QuotaLimits(in_flight=4)) is None


def test_minutes_of_unknown_output_are_known_where_requests_limit_them_in_any_case():
    tokens = CountRange(100.0, None, 200.0)

    assert minutes(10, tokens, None, QuotaLimits(requests_per_minute=1.0, tokens_per_minute=1000.0)) == exactly(10.0)
    assert minutes(10, tokens, None, QuotaLimits(tokens_per_minute=10.0)) == CountRange(10.0, None, 20.0)


def test_saving_is_the_difference_of_the_two_input_prices():
    assert saved_by_caching_usd(1_000_000, PRICE) == pytest.approx(1.5)
    assert saved_by_caching_usd(1_000_000, Price(input=2.0, output=8.0)) is None


@given(
    counted=st.lists(st.floats(1, 1e5), min_size=1, max_size=20),
    ratio=st.none() | st.builds(CallSample, st.integers(2, 50), st.floats(0.5, 2), st.floats(0, 1)),
    written=st.none() | st.builds(CallSample, st.integers(2, 50), st.floats(1, 900), st.floats(0, 500)),
    cached=st.none() | st.floats(0, 1),
)
def test_every_middle_lies_within_its_interval(counted, ratio, written, cached):
    history = History(input_ratio=ratio, output_tokens=written, seconds=written, cached_share=cached)
    limits = QuotaLimits(requests_per_minute=60.0, tokens_per_minute=1e4, in_flight=8)

    found = spending([exactly(n) for n in counted], max_tokens=900, history=history, price=PRICE, limits=limits)

    for low, expected, high in found:
        assert 0 <= low <= high
        assert expected is None or low * (1 - 1e-9) <= expected <= high * (1 + 1e-9)
