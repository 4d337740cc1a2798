"""Summaries of a run as support judges checked them, and how their sentences were placed."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from longform.evidence.scan import pl
from longform.metrics.faithfulness import Merging
from longform.metrics.position_bias import SummaryPlaces
from longform.settings.experiment import Permutations, SupportMode
from longform.settings.systems import System

MOST_UNPLACED = 0.02
"""The largest share of a judge's decided sentences that may be missing from its curve."""


class Placed(NamedTuple):
    """Counts of sentences with a number, and of those among them with a place."""

    n_decided: int
    n_unplaced: int

    @property
    def enough(self) -> bool:
        return self.n_unplaced <= MOST_UNPLACED * self.n_decided


class Attribution(NamedTuple):
    """
    Attributes:
        judge: Whose numbers stand on the curve.
        dataset: Whose summaries; None: not stated.
        by: The judge that says where the sentences stand.
        own: As placed by the judge itself.
        placed: As placed by `by`.
    """

    judge: str
    dataset: str | None
    by: str
    own: Placed
    placed: Placed

    @property
    def untestable(self) -> str | None:
        """Return why the judge has no curve, or None if it has one."""
        if self.placed.enough:
            return None
        n, n_all = self.placed.n_unplaced, self.placed.n_decided
        missing = f"{n} of its {n_all} sentences have no place, all of them unsupported"
        if self.by == self.judge:
            return f"{missing}, and no other judge says where they stand; name one as `faithfulness.attribution`"
        return f"{missing}, and judge {self.by} has no document for them either"

    def as_json(self) -> dict[str, str | int | None]:
        return {
            "judge": self.judge,
            "dataset": self.dataset,
            "by": self.by,
            "untestable": self.untestable,
            "n_decided": self.own.n_decided,
            "n_unplaced_by_itself": self.own.n_unplaced,
        }


def placed(summaries: Sequence[SummaryPlaces]) -> Placed:
    return Placed(sum(s.n_decided for s in summaries), sum(s.n_unplaced for s in summaries))


Cell = tuple[float, float, float]
"""Total, count and unjudged."""


class CheckedSummary(NamedTuple):
    """
    A summary under one support judge; its query is its cluster, within which orders and places are exchanged.

    Attributes:
        dataset: The data set of the query; None: not stated.
        repeat: The number among summaries of one context by one system.
        failure: Why it was not written; None: it was.
        faithfulness: The sum of the merged numbers, and how many those are (sentences, or 1 if a minimum or maximum is
            taken).
        supported: The sentences that are supported.
        n_cells: Cells of verdicts, with or without an answer.
        n_documents: Documents in the prompt.
        places: By the place of documents; None if all documents were judged as one text, or if its system does not
            depend on their order.
    """

    summary_id: str
    query_id: str
    dataset: str | None
    repeat: int
    failure: str | None
    faithfulness: Cell
    supported: Cell
    system: System
    judge: str
    n_cells: int
    n_documents: int
    places: SummaryPlaces | None

    @property
    def n(self) -> int:
        """Return how many numbers there are."""
        return round(self.faithfulness[1])

    @property
    def n_unjudged(self) -> int:
        """Return the number of cells without a verdict."""
        return round(self.faithfulness[2])


def scores_of(group: Sequence[CheckedSummary], measure: str = "faithfulness") -> pl.DataFrame:
    """Return the scores of summaries, `faithfulness` or `supported`, as `mean_of` and `sums_of` read them."""
    cells = [getattr(one, measure) for one in group]
    queries = [one.query_id for one in group]
    return pl.DataFrame(
        {
            "summary_id": [one.summary_id for one in group],
            "query_id": queries,
            "cluster": queries,
            "summary_repeat": [one.repeat for one in group],
            "total": [float(total) for total, _, _ in cells],
            "n": [float(n) for _, n, _ in cells],
        },
        schema_overrides={"cluster": pl.Categorical},
    )


class CheckedRun(NamedTuple):
    """
    All that the study of faithfulness reads.

    Attributes:
        mode: The documents that a sentence was checked against.
        merging: How cells become one number.
        attribution: The judge that the configuration names for placing sentences; None: none.
        aligners: Judges that were added for placing sentences alone; they have no rows of their own.
        attributions: Who places the sentences of each judge on each data set.
        summaries: Each under each support judge, the aligner among them.
        permutations: How many drawn orders were asked for.
        not_applicable: Combinations that need a chat model and had none.
        budget_ended: Whether the budget ended before all orders were drawn.
    """

    mode: SupportMode
    merging: Merging
    attribution: str | None
    aligners: Collection[str]
    attributions: Sequence[Attribution]
    summaries: Sequence[CheckedSummary]
    permutations: Permutations
    not_applicable: Sequence[System]
    budget_ended: bool
