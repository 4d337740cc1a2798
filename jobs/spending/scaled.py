"""Scales the calls of a plan to more queries, or fewer, that are like those planned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import cycle, islice
from statistics import fmean, stdev

from jobs.spending.call_count import StageCalls
from longform.errors import UsageError
from longform.spending import CallSample, CountRange, mean_of_more


def for_queries(found: Sequence[StageCalls], *, n_planned: int, n_queries: int) -> list[StageCalls]:
    """
    Return the calls of *n_queries* new queries, none paid already; calls grow in proportion to queries. *found* are
    those of the *n_planned* queries of a plan.

    Ends of the input tokens move apart by the 95 % prediction interval of the mean of the new queries. Calls of a query
    read the same documents, so each planned query counts as one observation.

    Raises:
        UsageError: No query is planned, or a stage has no call left that others could be like.
    """
    if n_planned < 1:
        raise UsageError(f"--queries {n_queries}: expected a benchmark with a query, found none")
    return [_scaled(calls, n_planned, n_queries) for calls in found]


def scaling_notes(n_planned: int, n_queries: int) -> Iterator[str]:
    """Yield what a scaled plan rests on."""
    yield (
        f"for {n_queries:,} queries: the calls of {n_planned:,} planned {'query' if n_planned == 1 else 'queries'} "
        f"times {n_queries / n_planned:,.4g}, as if all had documents, insights and answers of such lengths and numbers"
    )
    if n_planned == 1:
        yield "one query shows no spread: the intervals do not hold how much queries differ; plan two or more"


def _scaled(calls: StageCalls, n_planned: int, n_queries: int) -> StageCalls:
    factor = n_queries / n_planned
    total = round((len(calls.inputs) + calls.n_paid) * factor)
    if total and not calls.inputs:
        raise UsageError(
            f"--queries {n_queries}: every call of {calls.stage} for the planned queries is paid already, so that none "
            "is left to scale; name an empty folder with --ledger"
        )
    inputs = _widened(list(calls.inputs.values()), n_planned, n_queries)
    return replace(
        calls,
        inputs={f"{place}": span for place, span in enumerate(islice(cycle(inputs), total))} if total else {},
        n_paid=0,
        not_asked=type(calls.not_asked)({why: round(n * factor) for why, n in calls.not_asked.items()}),
        assumed=type(calls.assumed)({what: round(n * factor) for what, n in calls.assumed.items()}),
    )


def _widened(inputs: Sequence[CountRange], n_planned: int, n_queries: int) -> list[CountRange]:
    """Move the ends of each call's tokens apart, by the share that the mean of further queries may differ."""
    if n_planned < 2 or len(inputs) < 2:
        return list(inputs)
    middles = [span.expected if span.expected is not None else (span.low + span.high) / 2 for span in inputs]
    mean = fmean(middles)
    found = mean_of_more(CallSample(n_planned, mean, stdev(middles)), n_queries)
    share = min(1.0, (found.high - mean) / mean) if mean else 0.0
    return [CountRange(span.low * (1 - share), span.expected, span.high * (1 + share)) for span in inputs]
