"""
Systems before and after their citations were repaired: what it moved, and bullets to see it by.

Every difference is paired: a summary and its twin share insights, bullets and verdicts, and differ in citations only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, NotRequired

import numpy as np

from longform.keys import content_key, stable_seed
from longform.metrics.coverage import citation_quality
from longform.metrics.paired_differences import Difference, paired_differences
from longform.metrics.statistics import Array, EstimateColumns, ratio
from longform.results.aggregate import Aggregate, Scored, axes_json, cluster_totals, final_summaries
from longform.results.columns import AxesColumns, OfJudge
from longform.results.comparisons import DifferenceColumns, finding, in_points
from longform.results.drilldown import SummaryFacts

MEASURES = ("citation", "joint", "coverage")
SHOWN = {"better": 3, "worse": 2, "unchanged": 1}
"""Examples of each kind; drawn by a hash of what they are, so that nobody picks them."""

Pair = tuple[Scored, Scored]


class ChangeColumns(DifferenceColumns):
    """A score before and after, in points."""

    before: float | None
    after: float | None
    finding: str | None


class RepairedRow(OfJudge):
    """A system that has twins."""

    setting: str
    summarizer: str
    n_summaries: int
    axes: AxesColumns | None
    citation: ChangeColumns
    joint: ChangeColumns
    coverage: ChangeColumns
    faithfulness: NotRequired[EstimateColumns]  # of the same bullets by the support judge that chose the citations


def before_after(
    summaries: Sequence[Scored], originals: Mapping[str, str], *, judge: str | None, aggregate: Aggregate, seed: int
) -> list[RepairedRow]:
    """
    One row for each (data set, setting, summarizer) that has repaired twins, sorted by these; scores in points.

    The differences of one measure on one data set are a family of `longform.metrics.paired_differences`.

    Args:
        summaries: Of one judge, twins included.
        originals: Summary id of each twin -> of its original.
        judge: For the reader.
        aggregate: How scores are averaged, as in the report's cells.
        seed: Of drawn sign changes.
    """
    final = {scored.info.summary_id: scored for scored in final_summaries(summaries)}
    pairs: dict[tuple[str, str, str], list[Pair]] = {}
    for twin_id, original_id in originals.items():
        if twin_id in final and original_id in final:
            before = final[original_id]
            key = before.info.dataset or "", before.info.setting, before.info.summarizer
            pairs.setdefault(key, []).append((before, final[twin_id]))
    datasets = dict.fromkeys(dataset for dataset, _, _ in sorted(pairs))
    return [row for dataset in datasets for row in _of_one(dataset, pairs, judge=judge, aggregate=aggregate, seed=seed)]


def _of_one(
    dataset: str,
    pairs: Mapping[tuple[str, str, str], list[Pair]],
    *,
    judge: str | None,
    aggregate: Aggregate,
    seed: int,
) -> list[RepairedRow]:
    """Return the rows of one data set."""
    systems = sorted(system for system in pairs if system[0] == dataset)
    changes = {
        measure: _changes([pairs[system] for system in systems], measure, aggregate, stable_seed(seed, judge, measure))
        for measure in MEASURES
    }
    return [
        {
            "dataset": dataset or None,
            "setting": system[1],
            "summarizer": system[2],
            "judge": judge,
            "n_summaries": len(pairs[system]),
            "axes": axes_json(pairs[system][0][0].info),
            "citation": changes["citation"][place],
            "joint": changes["joint"][place],
            "coverage": changes["coverage"][place],
        }
        for place, system in enumerate(systems)
    ]


def _changes(systems: Sequence[Sequence[Pair]], measure: str, aggregate: Aggregate, seed: int) -> list[ChangeColumns]:
    """Return one change for each system."""
    clusters = sorted({before.info.cluster for pairs in systems for before, _ in pairs})
    before, after = (
        np.stack(
            [cluster_totals([pair[side] for pair in pairs], clusters, measure, aggregate) for pairs in systems], axis=1
        )
        for side in (0, 1)
    )  # each (clusters, systems, 2)
    found = paired_differences(after, before, seed=seed)
    return [_change(before[:, place], after[:, place], difference) for place, difference in enumerate(found)]


def _change(before: Array, after: Array, found: Difference | None) -> ChangeColumns:
    if not before[:, 1].sum() or not after[:, 1].sum():
        return {"before": None, "after": None, **in_points(None), "finding": None}
    first, last = (100 * float(ratio(side.sum(axis=0, keepdims=True))[0]) for side in (before, after))
    return {**in_points(found), "before": first, "after": last, "difference": last - first, "finding": finding(found)}


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
    summaries: Mapping[str, SummaryFacts],
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
            unit=unit,
            target_id=verdict["target_id"],
            before=tuple(before[unit]["citations"]),
            after=tuple(after[unit]["citations"]),
            gold=tuple(gold[verdict["target_id"]]),
        )
        for twin_id, original_id in originals.items()
        for before, after in [(summaries[original_id]["bullets"], summaries[twin_id]["bullets"])]
        for verdict in summaries[original_id]["verdicts"]
        if verdict["judge"] == judge
        and verdict["answer"] in ("full", "partial")
        and (unit := verdict["linked_unit"]) is not None
        and unit in range(len(before))
        and gold.get(verdict["target_id"])
    ]


def drawn_examples(found: Iterable[Change]) -> list[Change]:
    """A few changes of each kind, the same ones for the same changes in any order."""
    ordered = sorted(found, key=lambda change: content_key(change.original_id, change.unit, change.target_id))
    return [change for kind, n in SHOWN.items() for change in [other for other in ordered if other.kind == kind][:n]]
