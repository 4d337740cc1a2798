"""
Permutation calibration: summaries of several orders of the documents, merged; orders are added until they agree.

A merge puts first what most summaries say. So each word has a share: of the summaries, those that have it. The spread
is the standard error of all shares together, over the orders, relative to the length of their vector. More orders are
drawn until it is at most the method's `spread`. No judge is asked: summaries alone decide (our rule; Wan et al.,
section 5.1, take all orders, and their code n rotations).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, permutations
from math import ceil, factorial, inf, sqrt

import numpy as np

from longform.chat.asking import Asks
from longform.errors import UsageError
from longform.keys import stable_seed
from longform.settings.methods import CalibrationMethodSettings
from longform.summaries.methods import AskStep, Method, Plan, Read, Replies, Request, merged, step_replies
from longform.text.words import stems

Order = tuple[int, ...]

_LEAST = 2
"""Summaries of which a spread can be told."""

_WRITTEN_OUT = 20  # n above which n! is no readable number


class Calibration(Method[CalibrationMethodSettings]):
    """Merges summaries of several orders; those that are drawn are as many as the method says, or until they agree."""

    other_task = "merge"

    def __init__(self, settings: CalibrationMethodSettings) -> None:
        super().__init__(settings)
        self.refuses_many = settings.orders == "all"

    def steps(self, n_documents: int, seed: int, /) -> Plan:
        n = n_documents
        match self.settings.orders:
            case "rotations":
                return _of_orders([tuple((start + place) % n for place in range(n)) for start in range(n)])
            case "all":
                self._check(n)
                return _of_orders(permutations(range(n)))
            case "sampled":
                return self._sampled(n, seed, self.settings.n_orders)

    def asks(self, n_documents: int, seed: int, request: Request, read: Read) -> Asks[tuple[Plan, Replies]]:
        """
        Ask as every method does; with a `spread`, for summaries of drawn orders until they agree, then for their merge.

        First come `n_orders`, then at a time as many as the spread so far says are missing, `most` at most. A summary
        that failed ends the drawing: its merge fails as that of every method does.
        """
        bound = self.settings.spread
        if bound is None or n_documents < self.least:
            return (yield from super().asks(n_documents, seed, request, read))
        most = min(self.settings.most, factorial(n_documents))
        plan, found = self.plan(n_documents, seed=seed), Replies()
        while True:
            found = yield from step_replies(plan[:-1], request, read, found)
            texts = [reply.text for reply in found.values() if reply.text is not None]
            needed = min(most, orders_needed(texts, bound))
            if len(texts) < len(plan) - 1 or needed < len(plan):
                return plan, (yield from step_replies(plan, request, read, found))
            plan = self._sampled(n_documents, seed, needed)

    def _sampled(self, n: int, seed: int, n_orders: int | None) -> Plan:
        """Return the plan of drawn orders; the first of them are those of a smaller number."""
        drawn = _drawn(n, stable_seed(self.settings.seed, seed))
        return _of_orders(islice(drawn, min(n_orders or 1, factorial(n))))

    def _check(self, n: int) -> None:
        if factorial(n) > self.settings.most:
            found = f"{n}! = {factorial(n):,}" if n <= _WRITTEN_OUT else f"{n}!"
            msg = (
                f"calibration over all orders: expected at most {self.settings.most} orders (`most`), found {found} "
                f"for {n} documents; use `orders: rotations` or `orders: sampled`, or raise `most`"
            )
            raise UsageError(msg)


def _of_orders(orders: Iterable[Order]) -> Plan:
    return merged([AskStep(f"order-{k}", "summarize", order) for k, order in enumerate(orders, 1)])


def _drawn(n: int, seed: int) -> Iterator[Order]:
    """Yield orders drawn uniformly, each once."""
    generator = np.random.default_rng(seed)
    found: set[Order] = set()
    while True:
        order = tuple(generator.permutation(n).tolist())
        if order not in found:
            found.add(order)
            yield order


# ---------------------------------------------------------------- agreement


def spread(texts: Sequence[str]) -> float:
    """
    Return the relative standard error of the shares of summaries that have a word; `inf` for fewer than two summaries.

    With shares p over all words of K summaries it is sqrt(sum p (1 - p) / (K - 1)) / sqrt(sum p^2): 0 if all summaries
    have the same words, 1 for two summaries without a common word.
    """
    return inf if len(texts) < _LEAST else sqrt(_variance(texts) / (len(texts) - 1))


def orders_needed(texts: Sequence[str], bound: float) -> int:
    """Return how many orders bring the spread down to *bound* if further summaries differ as these *texts* do."""
    return len(texts) if spread(texts) <= bound else 1 + ceil(_variance(texts) / bound**2)


def _variance(texts: Sequence[str]) -> float:
    """Return the variance of the shares over single summaries, relative to the square of their length."""
    having = Counter(stem for text in texts for stem in set(stems(text)))
    shares = [count / len(texts) for count in having.values()]
    length = sum(share * share for share in shares)
    return sum(share * (1 - share) for share in shares) / length if length else 0.0
