"""Dollars worked out by hand from published prices, and the tokens to expect of calls."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from longform.chat.call import ChatRequest, Message, Usage
from longform.chat.prices import FREE, Price, TokenEstimates, cost_usd, counted_input, most_input_tokens, most_usd

GPT_4O = Price(input=2.50, cached_input=1.25, output=10.00)
GEMINI_PRO = Price(
    input=1.25, cached_input=0.125, output=10.0, above_tokens=200_000,
    above=Price(input=2.50, cached_input=0.25, output=15.0),
)  # fmt: skip
NO_CACHE = Price(input=0.50, output=1.50)
DEAR_THOUGHT = Price(input=1.0, cached_input=0.1, output=2.0, reasoning=6.0)


@pytest.mark.parametrize(
    ("price", "usage", "dollars"),
    [
        pytest.param(GPT_4O, Usage(1000, 0, 100, 0), 0.0025 + 0.0010, id="no-cache-hit"),
        pytest.param(GPT_4O, Usage(1000, 7000, 100, 0), 0.0025 + 0.00875 + 0.0010, id="cached-at-half"),
        pytest.param(GPT_4O, Usage(8000, None, 100, None), 0.0200 + 0.0010, id="only-totals-stated"),
        pytest.param(GPT_4O, Usage(1000, 0, 100, 300), 0.0025 + 0.0040, id="reasoning-as-output"),
        pytest.param(DEAR_THOUGHT, Usage(1000, 0, 100, 300), 0.0010 + 0.0002 + 0.0018, id="reasoning-has-a-price"),
        pytest.param(GEMINI_PRO, Usage(150_000, 50_000, 1000, 0), 0.1875 + 0.00625 + 0.01, id="just-not-long"),
        pytest.param(GEMINI_PRO, Usage(150_000, 50_001, 1000, 0), 0.375 + 0.01250025 + 0.015, id="long-from-the-start"),
        pytest.param(NO_CACHE, Usage(1000, 0, 100, 0), 0.0005 + 0.00015, id="no-cache-and-none-used"),
        pytest.param(FREE, Usage(), 0.0, id="free-whatever-it-used"),
        pytest.param(GPT_4O.less(0.5), Usage(1000, 7000, 100, 0), (0.0025 + 0.00875 + 0.0010) / 2, id="half-off"),
    ],
)
def test_cost(price: Price, usage: Usage, dollars: float) -> None:
    assert cost_usd(usage, price) == pytest.approx(dollars, rel=1e-12)


@pytest.mark.parametrize(
    ("price", "usage"),
    [
        pytest.param(None, Usage(1, 1, 1, 1), id="price"),
        pytest.param(GPT_4O, Usage(None, 5, 1, 0), id="input"),
        pytest.param(GPT_4O, Usage(5, 0, None, 1), id="output"),
        pytest.param(NO_CACHE, Usage(5, 1, 1, 0), id="price-of-cached"),
    ],
)
def test_what_is_not_known_leaves_the_cost_unknown(price: Price | None, usage: Usage) -> None:
    """Cached tokens at the price of others were once 42 times too dear; at 0 they would be too cheap."""
    assert cost_usd(usage, price) is None


def test_discount_holds_for_long_calls_too() -> None:
    found = GEMINI_PRO.less(0.5).of(300_000)

    assert (found.input, found.cached_input, found.output) == (1.25, 0.125, 7.5)


def test_most_of_an_unknown_price_is_unknown() -> None:
    assert most_usd(10, 10, None) is None


_rates = st.floats(0, 100)
_prices = st.builds(
    Price,
    input=_rates,
    output=_rates,
    cached_input=st.none() | _rates,
    reasoning=st.none() | _rates,
    above_tokens=st.integers(0, 2000),
    above=st.none() | st.builds(Price, input=_rates, output=_rates, cached_input=_rates, reasoning=st.none() | _rates),
)
_counts = st.integers(0, 1000)


@given(price=_prices, usage=st.builds(Usage, _counts, _counts, _counts, _counts), slack=_counts)
@example(
    price=Price(input=9.0, output=1.0, above_tokens=10, above=Price(input=1.0, output=1.0)),
    usage=Usage(10, 0, 0, 0),
    slack=1,
)
def test_no_call_costs_more_than_was_reserved(price: Price, usage: Usage, slack: int) -> None:
    """A limit in dollars holds only if this does; the price of long calls may be lower as well as higher."""
    given, cached, written, reasoned = (count or 0 for count in usage)
    cost = cost_usd(usage, price)
    most = most_usd(given + cached + slack, written + reasoned + slack, price)

    assert most is not None
    assert cost is None or cost <= most * (1 + 1e-9)


def test_reservation_is_the_cost_where_there_is_one_price() -> None:
    """Not merely large: 1000 x 2.50 + 100 x 10, a million."""
    assert most_usd(1000, 100, GPT_4O) == pytest.approx(0.0035)


def asking(text: str = "x" * 400, *, max_tokens: int = 50, input_tokens: int | None = None) -> ChatRequest:
    return ChatRequest(messages=(Message("user", text),), max_tokens=max_tokens, input_tokens=input_tokens)


def test_before_any_reply_the_whole_output_limit_is_expected() -> None:
    assert TokenEstimates().tokens(asking()) == 100 + 50


def test_a_count_goes_before_characters() -> None:
    assert counted_input(asking(input_tokens=7)) == 7


def test_expectation_comes_to_what_calls_take() -> None:
    estimates = TokenEstimates()
    for _ in range(300):
        assert estimates.learn(asking(), Usage(100, 20, 8, 2)) == 130
    assert estimates.tokens(asking()) == pytest.approx(130, rel=0.001)


def test_a_reply_without_usage_teaches_nothing() -> None:
    estimates = TokenEstimates()
    assert estimates.learn(asking(), Usage()) is None
    assert estimates.tokens(asking()) == 150


@given(st.text())
def test_no_tokenizer_makes_more_tokens_than_bytes(text: str) -> None:
    assert most_input_tokens(asking(text)) >= len(text.encode())
