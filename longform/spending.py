"""
Estimate the tokens, dollars and minutes of calls that are not made yet, each with an interval.

What earlier calls of the same model and stage took is a sample; the interval is the 95 % prediction interval of a mean
of further calls (Student's t). Without a sample the interval is what must hold in any case, and if that says nothing of
the middle, the expected value is unknown.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, sqrt
from typing import NamedTuple

from longform.chat.prices import Price, most_usd
from longform.metrics.statistics import LEVEL
from longform.quota.leases import QuotaLimits

OTHER_TOKENIZER = 1.2
"""Factor by which another tokenizer than cl100k may count more, or less; a guess, good for prose."""

TEMPLATE_TOKENS = 64
"""Tokens of roles and markers around the messages of a call, at most."""

_SECONDS_A_MINUTE = 60.0
_MILLION = 1_000_000


class CountRange(NamedTuple):
    """low <= expected <= high; `expected` is None if nothing tells it."""

    low: float
    expected: float | None
    high: float


NOTHING = CountRange(0.0, 0.0, 0.0)


def total(spans: Sequence[CountRange]) -> CountRange:
    """Return the sum; its middle is unknown if that of a part is."""
    known = [span.expected for span in spans if span.expected is not None]
    expected = sum(known) if len(known) == len(spans) else None
    return CountRange(sum(span.low for span in spans), expected, sum(span.high for span in spans))


def scaled(span: CountRange, factor: float) -> CountRange:
    """Multiply each end and the middle by *factor*."""
    expected = None if span.expected is None else span.expected * factor
    return CountRange(span.low * factor, expected, span.high * factor)


class CallSample(NamedTuple):
    """Some quantity of earlier calls: how many, their mean and standard deviation."""

    n: int
    mean: float
    deviation: float


def sample_of(n: int, summed: float, squares: float) -> CallSample | None:
    """Make a sample of sums of values and of their squares; return None for fewer than two, which show no spread."""
    if n < 2:
        return None
    mean = summed / n
    return CallSample(n, mean, sqrt(max(squares - n * mean * mean, 0.0) / (n - 1)))


def mean_of_more(sample: CallSample, n: int) -> CountRange:
    """Return the 95 % prediction interval of the mean of *n* further values."""
    from scipy.special import stdtrit  # slow to import

    quantile = float(stdtrit(sample.n - 1, (1 + LEVEL) / 2))
    half = quantile * sample.deviation * sqrt(1 / n + 1 / sample.n)
    return CountRange(sample.mean - half, sample.mean, sample.mean + half)


class History(NamedTuple):
    """Totals of earlier calls of one model and stage."""

    input_ratio: CallSample | None = None  # input tokens that the provider stated, over those counted before the call
    output_tokens: CallSample | None = None  # a call, hidden ones included
    seconds: CallSample | None = None  # a call
    cached_share: float | None = None  # of the input tokens; None: not known
    reasoning_share: float | None = None  # of the output tokens; None: not known


class Spending(NamedTuple):
    """Estimates of calls; dollars are None if the price is unknown, minutes if nothing tells the pace."""

    input_tokens: CountRange
    output_tokens: CountRange
    usd: CountRange | None
    minutes: CountRange | None


def with_further(sure: Spending, further: Spending) -> Spending:
    """Return what calls will spend if all of some *further* ones, or none of them, follow."""

    def span(one: CountRange | None, more: CountRange | None) -> CountRange | None:
        return None if one is None or more is None else one._replace(high=one.high + more.high)

    usd, minutes = span(sure.usd, further.usd), span(sure.minutes, further.minutes)
    tokens = total([sure.input_tokens, CountRange(0.0, 0.0, further.input_tokens.high)])
    output = total([sure.output_tokens, CountRange(0.0, 0.0, further.output_tokens.high)])
    return Spending(tokens, output, usd, minutes)


def spending(
    inputs: Sequence[CountRange], *, max_tokens: int, history: History, price: Price | None, limits: QuotaLimits
) -> Spending:
    """
    Return what calls will spend.

    *inputs* are the input tokens of each call as counted before it. *history* is of earlier calls of the same model and
    stage. *price* is None if unknown, and *limits* are those that are known.
    """
    if not inputs:
        return Spending(NOTHING, NOTHING, NOTHING, NOTHING)
    stated = as_stated(inputs, history.input_ratio)
    output = output_tokens(len(inputs), max_tokens, history.output_tokens)
    input_total = total(stated)
    return Spending(
        input_total,
        output,
        None if price is None else usd(stated, output, price, history),
        minutes(len(inputs), total([input_total, output]), history.seconds, limits),
    )


def as_stated(counted: Sequence[CountRange], ratio: CallSample | None) -> list[CountRange]:
    """Shape (calls,): input tokens as the provider will state them, from those counted; of both the middle is known."""
    if ratio is None:
        usual, more = CountRange(1 / OTHER_TOKENIZER, 1.0, OTHER_TOKENIZER), TEMPLATE_TOKENS
    else:
        usual, more = mean_of_more(ratio, len(counted)), 0
    low, middle, high = max(usual.low, 0.0), usual.expected or 0.0, usual.high
    return [CountRange(span.low * low, (span.expected or 0.0) * middle, span.high * high + more) for span in counted]


def output_tokens(n: int, max_tokens: int, sample: CallSample | None) -> CountRange:
    """Output tokens of *n* calls together: each has one at least and *max_tokens* at most."""
    if sample is None:
        return CountRange(float(n), None, float(n * max_tokens))
    low, expected, high = mean_of_more(sample, n)
    assert expected is not None
    return CountRange(*(n * min(max(mean, 1.0), float(max_tokens)) for mean in (low, expected, high)))


# ---------------------------------------------------------------- dollars


def usd(inputs: Sequence[CountRange], output: CountRange, price: Price, history: History) -> CountRange:
    """
    Return the dollars of calls with these inputs (as stated) and so much output together.

    The low end has all input from the cache if it has a price, the high end none; between them the history's shares
    hold, or no cached and no hidden tokens.
    """
    if price.is_free:
        return NOTHING
    if price.per_call is not None:
        return CountRange(0.0, price.per_call * len(inputs), price.per_call * len(inputs))
    n = len(inputs)
    low = sum(_least_usd(span.low, output.low / n, price) for span in inputs)
    high = sum(most_usd(ceil(span.high), ceil(output.high / n), price) or 0.0 for span in inputs)
    if output.expected is None:
        return CountRange(low, None, high)
    each = output.expected / n
    return CountRange(low, sum(_expected_usd(span.expected or 0.0, each, price, history) for span in inputs), high)


def _least_usd(given: float, written: float, price: Price) -> float:
    at = price.of(round(given))
    cheapest_input = at.input if at.cached_input is None else min(at.input, at.cached_input)
    cheapest_output = at.output if at.reasoning is None else min(at.output, at.reasoning)
    return (given * cheapest_input + written * cheapest_output) / _MILLION


def _expected_usd(given: float, written: float, price: Price, history: History) -> float:
    at = price.of(round(given))
    cached, reasoned = history.cached_share or 0.0, history.reasoning_share or 0.0
    input_rate = (1 - cached) * at.input + cached * (at.input if at.cached_input is None else at.cached_input)
    output_rate = (1 - reasoned) * at.output + reasoned * (at.output if at.reasoning is None else at.reasoning)
    return (given * input_rate + written * output_rate) / _MILLION


def saved_by_caching_usd(cached_tokens: int, price: Price | None) -> float | None:
    """
    Return how much more tokens from a cache would have cost without one, at the rates of short inputs if a model has
    two.

    Return None if a rate is unknown.
    """
    if price is None or price.cached_input is None:
        return None
    return cached_tokens * (price.input - price.cached_input) / _MILLION


# ---------------------------------------------------------------- minutes


def minutes(n: int, tokens: CountRange, seconds: CallSample | None, limits: QuotaLimits) -> CountRange | None:
    """
    Return the minutes of *n* calls that have so many tokens together, under the narrowest known limit.

    Return None if neither a limit is known, nor the number of simultaneous calls and their length.
    """
    known = [_of_calls(n, limits), _of_tokens(tokens, limits), _of_seconds(n, seconds, limits)]
    bounds = [span for span in known if span is not None]
    if not bounds:
        return None
    low, high = (max(bound[end] or 0.0 for bound in bounds) for end in (0, 2))
    middles = [bound.expected for bound in bounds]
    if None not in middles:
        return CountRange(low, max(middle for middle in middles if middle is not None), high)
    return CountRange(low, low if low == high else None, high)


def _of_calls(n: int, limits: QuotaLimits) -> CountRange | None:
    limit = limits.requests_per_minute
    return None if limit is None else scaled(CountRange(n, n, n), 1 / limit)


def _of_tokens(tokens: CountRange, limits: QuotaLimits) -> CountRange | None:
    limit = limits.tokens_per_minute
    return None if limit is None else scaled(tokens, 1 / limit)


def _of_seconds(n: int, seconds: CallSample | None, limits: QuotaLimits) -> CountRange | None:
    if seconds is None or limits.in_flight is None:
        return None
    rounds = n / min(limits.in_flight, n)
    low, expected, high = mean_of_more(seconds, n)
    return scaled(CountRange(max(low, 0.0), expected, high), rounds / _SECONDS_A_MINUTE)
