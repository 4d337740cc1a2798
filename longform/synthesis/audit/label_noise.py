"""
Estimate how many cells of a gold map are wrong, by a judge that had no part in making it; and the ceiling they set.

A cell is a pair of document and insight. The judge gives each a strength, and half of the cells that the gold map
leaves out lie at or below their median. If a share e of the cells that it lists were of that kind, e / 2 of the listed
cells would lie there too; so the share that does, over the half, estimates e, the *false positives*. The other way
round, the share of the cells left out that lie above the listed ones' median estimates the *missed* cells among them.
This is the estimate of a mixture's weight from a region that only one of its parts reaches (Scott, Blanchard and Handy,
2013); it needs no threshold and no knowledge of how good the judge is. Where the judge confuses the two kinds, both
estimates are too high, and the ceiling made of them too low.

A perfect system covers each insight that some document states and cites exactly those documents. Of the n documents
that the gold map lists for an insight, n - x state it, and m others do; with x and m binomial by the shares of wrong
cells, its citation F1 is 2 (n - x) / ((n - x + m) + n). An insight that nothing states cannot be covered: it scores 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from longform.metrics.statistics import LEVEL, Estimate, bootstrap

Array = NDArray[np.float64]


class Cells(NamedTuple):
    """The cells of one or more haystacks; each column has shape (cells,)."""

    strength: Array  # higher for more support, by the judge
    listed: NDArray[np.bool_]  # by the gold map
    insight: NDArray[np.int64]  # a label


class LabelNoise(NamedTuple):
    """Shares in [0, 1], with intervals."""

    false_positives: Estimate  # of the cells that the gold map lists, those whose document does not state the insight
    missed: Estimate  # of the cells that it leaves out, those whose document does


def label_noise(cells: Cells, *, seed: int, resamples: int = 1000) -> LabelNoise:
    """
    Return the shares of wrong cells; all None if one of the two kinds has no cell.

    Intervals are the wider of two: a bootstrap over insights, and Clopper and Pearson's of the count, which does not
    shrink to nothing if no cell looks wrong.
    """
    listed, left_out = cells.strength[cells.listed], cells.strength[~cells.listed]
    if not len(listed) or not len(left_out):
        nothing = Estimate(None, None, None, 0)
        return LabelNoise(nothing, nothing)
    low, high = np.median(left_out), np.median(listed)
    settings = {"seed": seed, "resamples": resamples}
    # over the share of the other kind that lies there: a half, or more where many cells are equal
    return LabelNoise(
        event_share(listed <= low, cells.insight[cells.listed], over=float((left_out <= low).mean()), **settings),
        event_share(left_out >= high, cells.insight[~cells.listed], over=float((listed >= high).mean()), **settings),
    )


def event_share(
    events: NDArray[np.bool_], clusters: NDArray[np.int64], *, over: float = 1.0, seed: int = 0, resamples: int = 1000
) -> Estimate:
    """
    The share of *events* over *over*, at most 1; its interval is the wider of the two that `label_noise` names.

    Events, at least one, and the clusters that are drawn together have shape (cells,).
    """
    columns = np.stack([events.astype(np.float64), np.ones(len(events))], axis=1)
    drawn = bootstrap(
        columns,
        clusters.tolist(),
        lambda sums: np.asarray(sums[:, 0] / sums[:, 1]),
        n=len(events),
        seed=seed,
        resamples=resamples,
    )
    from scipy.stats import binomtest  # slow to import

    exact = binomtest(int(events.sum()), len(events)).proportion_ci(LEVEL)  # Clopper and Pearson's
    least, most = float(exact.low), float(exact.high)
    low = min(least, least if drawn.low is None else drawn.low)
    high = max(most, most if drawn.high is None else drawn.high)
    value, low, high = (min(1.0, share / over) for share in (float(events.mean()), low, high))
    return Estimate(value, low, high, len(events))


def joined(parts: Sequence[Cells]) -> Cells:
    """The cells of several haystacks; insights of different ones stay different."""
    shifts = np.cumsum([0, *(int(part.insight.max(initial=-1)) + 1 for part in parts)])
    return Cells(
        np.concatenate([part.strength for part in parts]),
        np.concatenate([part.listed for part in parts]),
        np.concatenate([part.insight + shift for part, shift in zip(parts, shifts, strict=False)]),
    )


# ---------------------------------------------------------------- the ceiling


_NEGLIGIBLE = 1e-9  # a share of missed cells, and the probability of more of them than are summed over


def expected_joint(sizes: Sequence[tuple[int, int]], *, false_positives: float, missed: float) -> float:
    """
    Return the mean score that a perfect system is expected to reach, in [0, 1].

    *sizes* has for each insight the documents that its gold map lists, at least one, and all documents; of the listed
    cells the share *false_positives* is wrong, of the others the share *missed*.
    """
    known = {size: _expected_f1(*size, false_positives=false_positives, missed=missed) for size in set(sizes)}
    return float(np.mean([known[size] for size in sizes]))


def ceiling(sizes: Sequence[tuple[int, int]], noise: LabelNoise) -> dict[str, float | str | None]:
    """
    The ceiling on the joint score, 0 to 100: its value, and its interval from the ends of both shares' intervals.

    The ends are taken together, both shares high or both low, so the interval is wider than 95 %.
    """
    positives, missed = noise
    if not sizes or None in (*positives[:3], *missed[:3]):
        return {"value": None, "low": None, "high": None, "reason": "label noise is not known"}
    pairs = {
        "value": (positives.value, missed.value),
        "low": (positives.high, missed.high),
        "high": (positives.low, missed.low),
    }
    return {
        name: round(100 * expected_joint(sizes, false_positives=float(wrong or 0), missed=float(lost or 0)), 3)
        for name, (wrong, lost) in pairs.items()
    }


def _expected_f1(n_listed: int, n_documents: int, *, false_positives: float, missed: float) -> float:
    from scipy.stats import binom  # slow to import

    others = n_documents - n_listed if missed > _NEGLIGIBLE else 0
    most = int(binom.ppf(1 - _NEGLIGIBLE, others, missed)) if others else 0
    right = np.arange(n_listed + 1)[:, None]
    more = np.arange(most + 1)[None, :]
    # (documents rightly listed, documents missed)
    chance = binom.pmf(right, n_listed, 1 - false_positives) * binom.pmf(more, others, missed)
    return float((chance * 2 * right / (right + more + n_listed)).sum())
