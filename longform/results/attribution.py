"""
Choose the judge that places the sentences of a judge in the prompt, and say if its curve over places can be tested.

A curve over places needs a place for every sentence, supported or not. A judge that answers only yes or no has none for
those that it calls unsupported: only supported ones remain on its curve, which is then 100 everywhere for any writer.
Another judge whose numbers are graded then says where its sentences stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypedDict

from longform.metrics.position_bias import SummaryPlaces

MOST_UNPLACED = 0.02
"""The largest share of a judge's decided sentences that may be missing from its curve."""


class AttributionRow(TypedDict):
    """An attribution in results."""

    judge: str
    dataset: str | None
    by: str
    untestable: str | None  # why the judge has no curve; null: it has one
    n_decided: int
    n_unplaced_by_itself: int


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

    def as_json(self) -> AttributionRow:
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
