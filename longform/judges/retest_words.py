"""Agreement of a judge with itself, in words."""

from __future__ import annotations

from longform.judges.support_cards import with_interval
from longform.metrics.agreement import Retest


def retest_words(found: Retest) -> str:
    """Say how often a judge with repeats answered the same, with kappa and r between its answers."""
    if not found["n_pairs"]:
        return f"asked {found['n_repeats']} times: no question has two answers"
    return (
        f"asked {found['n_repeats']} times ({found['n_pairs']} questions): same answer again "
        f"{with_interval(found['same'], 100, 1)} %, kappa {with_interval(found['kappa'], 1, 2)}, "
        f"r {with_interval(found['r'], 1, 2)}"
    )
