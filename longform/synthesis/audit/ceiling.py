"""
The joint score that a perfect system can reach on a gold map with wrong cells.

A perfect system covers each insight that some document states and cites exactly those documents. Of the n documents
that the gold map lists for an insight, n - x state it, and m others do; with x and m binomial by the shares of wrong
cells, its citation F1 is 2 (n - x) / ((n - x + m) + n). An insight that nothing states cannot be covered: it scores 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from longform.synthesis.audit.label_noise import LabelNoise

_NEGLIGIBLE = 1e-9  # a share of missed cells, and the probability of more of them than are summed over


def expected_joint(sizes: Sequence[tuple[int, int]], *, false_positives: float, missed: float) -> float:
    """
    Return the mean score that a perfect system is expected to reach, in [0, 1].

    Args:
        sizes: For each insight the documents that its gold map lists, at least one, and all documents.
        false_positives: Share of listed cells that are wrong.
        missed: Share of the other cells that are wrong.
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
