"""
Systems before and after their citations were repaired: what it moved, and bullets to see it by.

Every difference is paired: a summary and its twin share insights, bullets and verdicts, and differ in citations only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from longform.aggregate import Aggregate, Scored, final_summaries
from longform.keys import content_key, stable_seed
from longform.metrics.coverage import citation_quality
from longform.statistics import Array, paired_comparison, ratio

MEASURES = ("citation", "joint", "coverage")
SHOWN = {"better": 3, "worse": 2, "unchanged": 1}
"""Examples of each kind; drawn by a hash of what they are, so that nobody picks them."""

Pair = tuple[Scored, Scored]


def before_after(
    summaries: Sequence[Scored],
    originals: Mapping[str, str],
    *,
    judge: str,
    aggregate: Aggregate,
    seed: int,
    resamples: int,
) -> list[dict[str, Any]]:
    """
    One row for each (setting, summarizer) that has repaired twins, sorted by both; scores and differences in points.

    Args:
        summaries: Of one judge, twins included.
        originals: Summary id of each twin -> of its original.
        judge: For the reader.
        aggregate: How scores are averaged, as in the report's cells.
        seed: Of the intervals.
        resamples: Of each interval.
    """
    final = {scored.info.summary_id: scored for scored in final_summaries(summaries)}
    systems: dict[tuple[str, str], list[Pair]] = {}
    for twin_id, original_id in originals.items():
        if twin_id in final and original_id in final:
            before = final[original_id]
            key = before.info.setting, before.info.summarizer
            systems.setdefault(key, []).append((before, final[twin_id]))
    return [
        {"setting": setting, "summarizer": summarizer, "judge": judge, "n_summaries": len(pairs)}
        | {
            measure: _change(
                pairs, measure, aggregate, seed=stable_seed(seed, setting, summarizer, measure), resamples=resamples
            )
            for measure in MEASURES
        }
        for (setting, summarizer), pairs in sorted(systems.items())
    ]


def _change(
    pairs: Sequence[Pair], measure: str, aggregate: Aggregate, *, seed: int, resamples: int
) -> dict[str, float | None]:
    before, after = (_columns([pair[side] for pair in pairs], measure, aggregate) for side in (0, 1))
    unknown = dict.fromkeys(("before", "after", "difference", "low", "high", "p"))
    if not before[:, 1].sum() or not after[:, 1].sum():
        return unknown
    first, last = (100 * float(ratio(side.sum(axis=0, keepdims=True))[0]) for side in (before, after))
    queries = [original.info.query_id for original, _ in pairs]
    found = paired_comparison(after, before, queries, seed=seed, resamples=resamples)
    known = {"before": first, "after": last, "difference": last - first}
    if found is None:
        return unknown | known
    return unknown | known | {"low": 100 * found.low, "high": 100 * found.high, "p": found.p}


def _columns(group: Sequence[Scored], measure: str, aggregate: Aggregate) -> Array:
    """Shape (summaries, 2): total and count, or mean and 1 where summaries count alike."""
    rows = np.array([scored.measures.get(measure, (0.0, 0, 0))[:2] for scored in group], dtype=np.float64)
    if aggregate == "pooled":
        return rows
    counted = rows[:, 1] > 0
    means = np.divide(rows[:, 0], rows[:, 1], out=np.zeros(len(rows)), where=counted)
    return np.column_stack([means, counted])


# ---------------------------------------------------------------- examples


class Change(NamedTuple):
    """A bullet that covers an insight, and what repair did to its citations."""

    original_id: str
    twin_id: str
    unit: int
    target_id: str
    before: tuple[int, ...]  # document numbers
    after: tuple[int, ...]
    gold: tuple[int, ...]  # of the documents that state the insight

    @property
    def f1(self) -> tuple[float, float]:
        """Citation score before and after, in [0, 1]."""
        return citation_quality(self.before, self.gold).f1, citation_quality(self.after, self.gold).f1

    @property
    def kind(self) -> str:
        """better, worse or unchanged."""
        before, after = self.f1
        if after == before:
            return "unchanged"
        return "better" if after > before else "worse"


def changes(
    summaries: Mapping[str, Mapping[str, Any]],
    originals: Mapping[str, str],
    gold: Mapping[str, Sequence[int]],
    *,
    judge: str,
) -> list[Change]:
    """
    Every bullet that *judge* linked to a covered insight whose documents are known.

    Args:
        summaries: Summary id -> its `bullets` (with `citations`) and `verdicts`.
        originals: Summary id of each twin -> of its original.
        gold: Target id -> numbers of the documents that state it.
        judge: Whose links count.
    """
    return [
        Change(
            original_id=original_id,
            twin_id=twin_id,
            unit=verdict["linked_unit"],
            target_id=verdict["target_id"],
            before=tuple(before[verdict["linked_unit"]]["citations"]),
            after=tuple(after[verdict["linked_unit"]]["citations"]),
            gold=tuple(gold[verdict["target_id"]]),
        )
        for twin_id, original_id in originals.items()
        for before, after in [(summaries[original_id]["bullets"], summaries[twin_id]["bullets"])]
        for verdict in summaries[original_id]["verdicts"]
        if verdict["judge"] == judge
        and verdict["answer"] in ("full", "partial")
        and verdict["linked_unit"] in range(len(before))
        and gold.get(verdict["target_id"])
    ]


def drawn_examples(found: Iterable[Change]) -> list[Change]:
    """A few changes of each kind, the same ones for the same changes in any order."""
    ordered = sorted(found, key=lambda change: content_key(change.original_id, change.unit, change.target_id))
    return [change for kind, n in SHOWN.items() for change in [other for other in ordered if other.kind == kind][:n]]
