"""Judges that were asked again: their agreement with themselves."""

from __future__ import annotations

from longform.keys import stable_seed
from longform.metrics.retest import Retest, retest
from longform.results.columns import OfJudge
from longform.results.evidence import Evidence


class RetestRow(OfJudge, Retest):
    """A judge on a data set."""


def retests(evidence: Evidence) -> list[RetestRow] | None:
    """Return a row for each judge with repeats and data set; None if no judge was asked again."""
    _, seed, resamples = evidence.averaging
    rows: list[RetestRow] = [
        {
            "judge": again.judge,
            "dataset": again.dataset,
            **retest(again.pairs, seed=stable_seed(seed, "retest", again.judge, again.dataset), resamples=resamples),
        }
        for again in evidence.asked_again()
    ]
    return rows or None
