"""
Systems against one reference system: how far from it each stands, and what can be said of the difference.

The comparisons of one judge and one measure are a family of `longform.metrics.paired_differences`. A twin is no member:
it is held against its original (`longform.results.before_after`). Systems whose summaries are the same are one member.
Compared are joint scores; in a run that has none, all measures in points that it lists.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from typing import Literal, NamedTuple, NotRequired, TypedDict

import numpy as np

from longform.keys import stable_seed
from longform.metrics.paired_differences import Difference, n_sign_changes, paired_differences
from longform.metrics.statistics import Array, ratio
from longform.results.aggregate import Aggregate, ClusterKind, Scored, cluster_totals, final_summaries, systems_of
from longform.results.columns import OfJudge
from longform.results.evidence import Evidence, Family, rows_of
from longform.results.groups import groups
from longform.settings.system_names import SystemName, named_system

NOT_DISTINGUISHABLE = "not distinguishable"
TOO_FEW = "too few clusters"
MEASURE = "joint"
_TIED = 1e-9  # points


class NameColumns(TypedDict):
    """The fields of `longform.settings.system_names.SystemName`."""

    summarizer: str
    setting: str


class DifferenceColumns(TypedDict):
    """A difference with its bounds, in points; null: unknown, or of too few clusters."""

    difference: float | None
    low: float | None
    high: float | None
    p: float | None


class ComparisonRow(NameColumns, DifferenceColumns):
    """A system beside the reference."""

    system: str
    same: list[str]  # systems whose summaries are the same
    score: float
    n_clusters: int  # that both have
    finding: str
    in_sample: bool


class ComparedFamily(OfJudge):
    """All comparisons of a judge and measure with one reference."""

    measure: str
    chosen: Literal["best", "named"]
    n_systems: int
    n_ordered: int
    without_score: list[str]
    cluster: ClusterKind
    n_clusters: int
    n_sign_changes: int
    reference: str | None  # null: no system has a score
    reference_system: NameColumns | None
    reference_score: NotRequired[float | None]
    reference_same: list[str]
    tied: list[str]  # others of the best score
    groups: NotRequired[list[list[str]] | None]  # that cannot be told apart, best first; null: too many
    rows: list[ComparisonRow]
    reference_in_sample: NotRequired[bool]


def comparisons(evidence: Evidence) -> list[ComparedFamily]:
    """Return the families of every judge and data set."""
    aggregate, seed, _ = evidence.averaging

    def of_family(own: Family, measure: str) -> list[ComparedFamily]:
        return compared(
            own.summaries,
            judge=own.judge,
            measure=measure,
            aggregate=aggregate,
            seed=seed,
            compare_with=evidence.compare_with,
            contents=evidence.contents,
        )

    return [
        family
        for measure in _compared_measures(evidence)
        for family in rows_of(evidence, [measure], partial(of_family, measure=measure))
    ]


def _compared_measures(evidence: Evidence) -> list[str]:
    table = evidence.score_table
    if any(MEASURE in table.measures(judge) for judge in table.judges):
        return [MEASURE]
    return [one.name for one in evidence.measures if one.unit == "points" and one.better is not None]


class _Member(NamedTuple):
    """A system of the family, with those whose summaries are the same."""

    name: SystemName
    same: tuple[SystemName, ...]
    sums: Array  # (clusters, 2)
    ordered: bool  # its documents were ordered on purpose

    @property
    def mean(self) -> float | None:
        """In points."""
        total, n = self.sums.sum(axis=0)
        return 100 * float(total / n) if n else None


def compared(
    summaries: Sequence[Scored],
    *,
    judge: str | None,
    measure: str = MEASURE,
    aggregate: Aggregate,
    seed: int,
    compare_with: str | None = None,
    contents: Mapping[str, Hashable] | None = None,
) -> list[ComparedFamily]:
    """
    Return the family of one judge and measure, as a list of one; empty with fewer than two systems.

    The family says what was compared how; its `rows` have a comparison each, the highest score first.

    Args:
        summaries: Of one judge, in the configuration's order.
        judge: For the reader.
        measure: That is compared.
        aggregate: How scores are averaged, as in the report's cells.
        seed: Of drawn sign changes.
        compare_with: Names the reference; None: the best system on these data.
        contents: Summary id -> what is equal for summaries of the same text and citations; None: all differ.
    """
    systems = {
        SystemName(summarizer, setting): group
        for (setting, summarizer), group in systems_of(final_summaries(summaries)).items()
        if group[0].info.twin_of is None
    }
    if len(systems) < 2:
        return []
    clusters = sorted({scored.info.cluster for group in systems.values() for scored in group})
    members = [
        _member(names, systems[names[0]], cluster_totals(systems[names[0]], clusters, measure, aggregate))
        for names in _alike(systems, contents or {})
    ]
    known = [member for member in members if member.mean is not None]
    if compare_with is None:
        reference, tied = _best(known) if known else (None, [])
    else:
        wanted = named_system(compare_with, systems)
        reference, tied = next((member for member in known if wanted in (member.name, *member.same)), None), []
    family: ComparedFamily = {
        "judge": judge,
        "dataset": summaries[0].info.dataset,
        "measure": measure,
        "chosen": "best" if compare_with is None else "named",
        "n_systems": len(members),
        "n_ordered": sum(member.ordered for member in members),
        "without_score": [str(member.name) for member in members if member.mean is None],
        "cluster": summaries[0].info.cluster_kind,
        "n_clusters": len(clusters),
        "n_sign_changes": n_sign_changes(len(clusters)),
        "reference": compare_with,
        "reference_system": None,
        "reference_same": [],
        "tied": [str(member.name) for member in tied],
        "groups": _groups(known, seed=stable_seed(seed, judge, measure, "groups")),
        "rows": [],
    }
    if reference is not None:
        others = [member for member in known if member is not reference]
        family["reference"] = str(reference.name)
        family["reference_system"] = _name_columns(reference.name)
        family["reference_score"] = reference.mean
        family["reference_same"] = [str(name) for name in reference.same]
        family["rows"] = _rows(reference, others, seed=stable_seed(seed, judge, measure))
    return [family]


def _groups(members: Sequence[_Member], *, seed: int) -> list[list[str]] | None:
    ordered = sorted(members, key=lambda member: -(member.mean or 0.0))
    found = groups([member.sums for member in ordered], seed=seed)
    return None if found is None else [[str(ordered[place].name) for place in group] for group in found]


def _name_columns(name: SystemName) -> NameColumns:
    return {"summarizer": name.summarizer, "setting": name.setting}


def _alike(systems: Mapping[SystemName, Sequence[Scored]], contents: Mapping[str, Hashable]) -> list[list[SystemName]]:
    """Systems by what they wrote for every query."""
    found: dict[frozenset[tuple[tuple[str, Hashable], int]], list[SystemName]] = {}
    for name, group in systems.items():
        wrote = Counter(
            (scored.info.query_id, contents.get(scored.info.summary_id, scored.info.summary_id)) for scored in group
        )
        found.setdefault(frozenset(wrote.items()), []).append(name)
    return list(found.values())


def _member(names: Sequence[SystemName], group: Sequence[Scored], sums: Array) -> _Member:
    return _Member(names[0], tuple(names[1:]), sums, group[0].info.order not in (None, "given"))


def _best(members: Sequence[_Member]) -> tuple[_Member, list[_Member]]:
    """
    The first of the best, and the others whose score is the same.

    Systems whose documents were ordered on purpose are arms of an experiment, and chosen only if there are no others.
    """
    known = [member for member in members if not member.ordered] or members
    means = [member.mean or 0.0 for member in known]
    best = [member for member, mean in zip(known, means, strict=True) if mean > max(means) - _TIED]
    return best[0], best[1:]


def _rows(reference: _Member, others: Sequence[_Member], *, seed: int) -> list[ComparisonRow]:
    if not others:
        return []
    first = np.stack([member.sums for member in others], axis=1)  # (clusters, pairs, 2)
    second = np.broadcast_to(reference.sums[:, None, :], first.shape)
    found = paired_differences(first, second, seed=seed)
    rows = [_row(member, difference) for member, difference in zip(others, found, strict=True)]
    return sorted(rows, key=lambda row: -row["score"])


def _row(member: _Member, found: Difference | None) -> ComparisonRow:
    return {
        "system": str(member.name),
        **_name_columns(member.name),
        "same": [str(name) for name in member.same],
        "score": 100 * float(ratio(member.sums.sum(axis=0, keepdims=True))[0]),
        **in_points(found),
        "n_clusters": 0 if found is None else found.n_clusters,
        "finding": finding(found),
        "in_sample": False,
    }


def in_points(found: Difference | None) -> DifferenceColumns:
    """Return the difference and its bounds in points, and p; all unknown without a cluster in common."""
    if found is None:
        return {"difference": None, "low": None, "high": None, "p": None}
    low, high = (None if bound is None else 100 * bound for bound in (found.low, found.high))
    return {"difference": 100 * found.value, "low": low, "high": high, "p": found.p}


def finding(found: Difference | None) -> str:
    """Say in words what the test shows of the first system."""
    if found is None:
        return "no query in common"
    if found.too_few_clusters:
        return f"{TOO_FEW} ({found.n_clusters}): no difference could be shown"
    if not found.distinguishable:
        return NOT_DISTINGUISHABLE
    return "better" if found.value > 0 else "worse"
