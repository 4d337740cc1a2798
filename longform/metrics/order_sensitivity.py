"""
Measure how far the order of documents moves a score, and how far chance alone would.

A largest distance is never negative, so that its bootstrap interval cannot reach 0 and says nothing of an effect. If
the order changes nothing, the summaries of one query may exchange their orders: the sensitivities of all such exchanges
are what chance gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice, permutations, product
from math import factorial
from typing import Any, NotRequired, TypedDict

import numpy as np
from numpy.typing import NDArray

from longform.metrics.statistics import LEVEL, Array, holm

_POINTS = 100.0
_AT_ONCE = 256
_PLACES_AT_ONCE = 500_000  # of orders: 4 MB, however many queries
_ROUNDING = 1e-9  # points


class SensitivityColumns(TypedDict):
    """A sensitivity in points of 100; null: no value."""

    sensitivity: float | None  # over all queries
    chance: float | None  # the mean over exchanges of orders within queries
    p: float | None  # the share of exchanges that reach the observed one, itself counted
    n_independent: int  # queries or other clusters that have all orders; `chance` and `p` are of them
    # the sensitivity that 95 of 100 exchanges do not exceed; absent from older results
    chance_high: NotRequired[float | None]
    p_holm: float | None  # adjusted for the rows of a family; null: no p, or not adjusted yet


def largest_from_first(means: Array) -> Array:
    """The largest absolute distance of the other orders from the first; *means* (m, orders) -> (m,)."""
    found: Array = np.abs(means[:, 1:] - means[:, :1]).max(axis=1)
    return found


def largest_spread(means: Array) -> Array:
    """The largest mean less the smallest; *means* (m, orders) -> (m,)."""
    found: Array = means.max(axis=1) - means.min(axis=1)
    return found


def order_sensitivity(
    sums: Array, statistic: Callable[[Array], Array], *, seed: int, resamples: int
) -> SensitivityColumns:
    """
    Return a sensitivity with its null distribution: all exchanges if there are at most *resamples*, else so many drawn.

    *sums* has the total and count of each query's summary in each order, shape (queries, orders, 2); count 0: none.
    *statistic* makes values (m,) of means in points (m, orders).
    """
    whole = sums[(sums[:, :, 1] > 0).all(axis=1)]
    n, k = whole.shape[:2]
    value = float(statistic(_means(sums.sum(axis=0)[None]))[0])
    unknown: SensitivityColumns = {
        "sensitivity": None if np.isnan(value) else value,
        "chance": None, "p": None, "n_independent": n, "chance_high": None, "p_holm": None,
    }  # fmt: skip
    if not n or np.isnan(value):
        return unknown
    observed = float(statistic(_means(whole.sum(axis=0)[None]))[0])
    found = np.concatenate(
        [statistic(_means(_exchanged(whole, orders))) for orders in _exchanges(n, k, seed=seed, resamples=resamples)]
    )
    reached = int((found >= observed - _ROUNDING).sum())
    drawn = factorial(k) ** n > resamples
    p = (1 + reached) / (1 + len(found)) if drawn else reached / len(found)
    high = float(np.quantile(found, LEVEL, method="higher"))
    return {**unknown, "chance": float(found.mean()), "p": p, "chance_high": high}


def with_holm(rows: Sequence[dict[str, Any]]) -> list[Any]:
    """Adjust the p-values of *rows*, which have SensitivityColumns, as one family, in `p_holm`; None: there is no p."""
    tested = [(row, row["p"]) for row in rows if row["p"] is not None]
    for (row, _), adjusted in zip(tested, holm([p for _, p in tested]), strict=True):
        row["p_holm"] = adjusted
    return list(rows)


def _means(sums: Array) -> Array:
    """(m, orders, 2) -> points (m, orders)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        means: Array = _POINTS * sums[:, :, 0] / sums[:, :, 1]
    return means


def _exchanges(n: int, k: int, *, seed: int, resamples: int) -> Iterator[NDArray[np.int64]]:
    """Places of orders, (m, queries, orders), some at a time."""
    if factorial(k) ** n <= resamples:
        each = product(permutations(range(k)), repeat=n)
        while chunk := list(islice(each, _AT_ONCE)):
            yield np.array(chunk)
        return
    rng = np.random.default_rng(seed)
    at_once = min(_AT_ONCE, max(1, _PLACES_AT_ONCE // (n * k)))
    for start in range(0, resamples, at_once):
        m = min(at_once, resamples - start)
        yield rng.permuted(np.tile(np.arange(k), (m, n, 1)), axis=2)


def _exchanged(sums: Array, orders: NDArray[np.int64]) -> Array:
    """The sums over queries after each exchange, (m, orders, 2)."""
    queries = np.arange(len(sums))[None, :, None]
    found: Array = sums[queries, orders].sum(axis=1)
    return found
