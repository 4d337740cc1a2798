"""Judges that were asked again: their agreement with themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from longform.keys import stable_seed
from longform.metrics.agreement import retest
from longform.results.evidence import Evidence
from longform.tables.table import DATASET, JUDGE, Column, Table

Row = Mapping[str, Any]
_FEW = "too few answers, or all the same"


class Retest:
    """Each judge with repeats held against itself."""

    name = "retest"
    needs = ("verdicts", "summaries")

    def result(self, evidence: Evidence) -> Table | None:
        """Return a row for each judge with repeats and data set; None if no judge was asked again."""
        _, seed, resamples = evidence.averaging
        rows = [
            {
                "judge": again.judge,
                "dataset": again.dataset,
                **retest(
                    again.pairs, seed=stable_seed(seed, "retest", again.judge, again.dataset), resamples=resamples
                ),
            }
            for again in evidence.asked_again()
        ]
        return table(rows) if rows else None


def table(rows: Sequence[Row]) -> Table:
    """Return the agreement as a table that describes itself."""
    return Table(
        "retest",
        [
            DATASET,
            JUDGE,
            Column("n_repeats", "count", "repeats"),
            Column("n_pairs", "count", "questions", "those with two or more answers"),
            Column("n_without", "count", "questions left out", shown=False),
            Column("same", "share", "same answer", "share of two repeats that answer alike", "higher", unknown=_FEW),
            Column("kappa", "coefficient", told="Fleiss' kappa of the answers", better="higher", unknown=_FEW),
            Column("r", "coefficient", told="the intraclass correlation of the numbers", better="higher", unknown=_FEW),
            Column(
                "spread",
                "number",
                told="standard deviation of one answer's number (0 to 1) about the mean of its question",
                better="lower",
                digits=2,
                unknown="no question has two answers",
            ),
        ],
        (),
        title="Judges that were asked again",
        told="Test and retest: each judge's agreement with itself, asked the same question in calls of their own.",
        key=["dataset", "judge"],
        page="judges",
    ).having(rows)
