"""
Systems against one reference system: how far from it each stands, and what can be said of the difference.

All pairs of the systems of one judge, data set and measure are a family (`longform.results.pairs`); the comparisons
with the reference are some of its tests, and so are those that say which system is the best. A twin is no member: it is
held against its original (the study `repair`). Systems whose summaries are the same are one member.
Compared are joint scores; in a run that has none, all measures in points that it lists. `longform.results.pairwise` has
every pair by every measure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from typing import Literal, NamedTuple, NotRequired, TypedDict

from longform.metrics.measure import Better
from longform.metrics.paired_differences import Difference, n_sign_changes
from longform.metrics.statistics import Array, ratio
from longform.results.aggregate import Aggregate, ClusterKind, Scored, cluster_totals, final_summaries, systems_of
from longform.results.columns import OfJudge
from longform.results.evidence import Evidence, Family, rows_of
from longform.results.groups import groups_apart
from longform.results.pairs import Best, Pairs, PlanColumns, all_pairs, best_of, signs_seed
from longform.settings.system_names import SystemName, named_system

NOT_DISTINGUISHABLE = "not distinguishable"
TOO_FEW = "too few clusters"
MEASURE = "joint"
_POINTS = 100.0


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
    p_alone: NotRequired[float | None]  # not adjusted for the family; absent from older results


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
    n_tests: NotRequired[int]  # of the family: all pairs, or those with the reference among very many systems
    plan: NotRequired[PlanColumns | None]  # null: no spread is known
    rows: list[ComparisonRow]
    reference_in_sample: NotRequired[bool]


def comparisons(evidence: Evidence) -> list[ComparedFamily]:
    """Return the families of every judge and data set."""
    aggregate, seed, _ = evidence.averaging

    def of_family(own: Family, measure: str, better: Better | None) -> list[ComparedFamily]:
        return compared(
            own.summaries,
            judge=own.judge,
            measure=measure,
            better=better,
            aggregate=aggregate,
            seed=seed,
            compare_with=evidence.compare_with,
            contents=evidence.contents,
        )

    return [
        family
        for measure, better in _compared_measures(evidence)
        for family in rows_of(evidence, [measure], partial(of_family, measure=measure, better=better))
    ]


def _compared_measures(evidence: Evidence) -> list[tuple[str, Better | None]]:
    """Return measures, each with its better values."""
    table = evidence.score_table
    if any(MEASURE in table.measures(judge) for judge in table.judges):
        return [(MEASURE, "higher")]
    return [(one.name, one.better) for one in evidence.measures if one.unit == "points" and one.better is not None]


class Member(NamedTuple):
    """A system of the family, with those whose summaries are the same."""

    name: SystemName
    same: tuple[SystemName, ...]
    sums: Array  # (clusters, 2)
    ordered: bool  # its documents were ordered on purpose

    @property
    def mean(self) -> float | None:
        """Return the mean on the scale of the totals: a share if the measure is in points."""
        total, n = self.sums.sum(axis=0)
        return float(total / n) if n else None


class Members(NamedTuple):
    """Systems of one judge and data set, in the configuration's order, and the names of the clusters with a value."""

    members: list[Member]
    clusters: list[str]


def members_of(
    summaries: Sequence[Scored], measure: str, aggregate: Aggregate, contents: Mapping[str, Hashable]
) -> Members:
    """Return the systems that are no twins, those of the same summaries as one."""
    systems = {
        SystemName(summarizer, setting): group
        for (setting, summarizer), group in systems_of(final_summaries(summaries)).items()
        if group[0].info.twin_of is None
    }
    clusters = sorted({one.info.cluster for group in systems.values() for one in group if one.has(measure)})
    found = [
        _member(names, systems[names[0]], cluster_totals(systems[names[0]], clusters, measure, aggregate))
        for names in _alike(systems, contents)
    ]
    return Members(found, clusters)


def compared(
    summaries: Sequence[Scored],
    *,
    judge: str | None,
    measure: str = MEASURE,
    better: Better | None = "higher",
    aggregate: Aggregate,
    seed: int,
    compare_with: str | None = None,
    contents: Mapping[str, Hashable] | None = None,
) -> list[ComparedFamily]:
    """
    Return the family of one judge and measure, as a list of one; empty with fewer than two systems.

    The family says what was compared how; its `rows` have a comparison each, the best score first.

    Args:
        summaries: Of one judge, in the configuration's order.
        judge: For the reader.
        measure: That is compared.
        better: Its better values.
        aggregate: How scores are averaged, as in the report's cells.
        seed: The seed of drawn sign changes.
        compare_with: Names the reference; None: the best system on these data.
        contents: Summary id -> what is equal for summaries of the same text and citations; None: all differ.
    """
    found = tested_systems(summaries, measure, better, Tests(aggregate, seed, compare_with, contents or {}))
    members, known, pairs = found.members, found.known, found.pairs
    if sum(1 + len(member.same) for member in members) < 2:
        return []
    reference = None if found.reference is None else known[found.reference]
    tied = [] if compare_with is not None or found.best is None else [known[place] for place in found.best.tied]
    family: ComparedFamily = {
        "judge": judge,
        "dataset": summaries[0].info.dataset,
        "measure": measure,
        "chosen": "best" if compare_with is None else "named",
        "n_systems": len(members),
        "n_ordered": sum(member.ordered for member in members),
        "without_score": [str(member.name) for member in members if member.mean is None],
        "cluster": summaries[0].info.cluster_kind,
        "n_clusters": len(found.clusters),
        "n_sign_changes": n_sign_changes(len(found.clusters)),
        "reference": compare_with,
        "reference_system": None,
        "reference_same": [],
        "tied": [str(member.name) for member in tied],
        "groups": system_groups(known, pairs, better),
        "n_tests": 0 if pairs is None else len(pairs.tests.value),
        "plan": None if pairs is None else pairs.plan(_POINTS),
        "rows": [],
    }
    if reference is not None:
        family["reference"] = str(reference.name)
        family["reference_system"] = name_columns(reference.name)
        family["reference_score"] = None if reference.mean is None else _POINTS * reference.mean
        family["reference_same"] = [str(name) for name in reference.same]
        family["rows"] = _rows(known, known.index(reference), pairs, better)
    return [family]


class Tests(NamedTuple):
    """
    Settings of the tests of a family.

    Attributes:
        aggregate: The way in which scores are averaged.
        seed: The seed of drawn sign changes.
        compare_with: Names the reference; None: the best system.
        contents: Summary id -> what is equal for summaries of the same text and citations; others differ.
    """

    aggregate: Aggregate
    seed: int
    compare_with: str | None
    contents: Mapping[str, Hashable]


class TestedSystems(NamedTuple):
    """
    The systems of one judge, data set and measure with all that is shown of them.

    Attributes:
        members: In the configuration's order.
        known: Those that have a score; pairs and the best tell them by their places here.
        clusters: Names.
        pairs: None if there are none, or too many to be tested without a reference.
        reference: None: no system has a score, or the named one has none.
        best: None if no system has a score.
    """

    members: Sequence[Member]
    known: Sequence[Member]
    clusters: Sequence[str]
    pairs: Pairs | None
    reference: int | None
    best: Best | None


def tested_systems(summaries: Sequence[Scored], measure: str, better: Better | None, how: Tests) -> TestedSystems:
    """
    Test the systems of a family.

    Whatever is said of a pair of systems, of groups and of the best system is said of this object.
    """
    members, clusters = members_of(summaries, measure, how.aggregate, how.contents)
    known = [member for member in members if member.mean is not None]
    named = None if how.compare_with is None else _named(how.compare_with, members, known)
    if not known:
        return TestedSystems(members, known, clusters, None, None, None)
    scores = [member.mean or 0.0 for member in known]
    best_among = partial(best_of, scores=scores, among=_contestants(known), better=better or "higher")
    reference = best_among(None).leader if how.compare_with is None else named
    pairs = all_pairs([member.sums for member in known], seed=signs_seed(how.seed), reference=reference)
    best = best_among(pairs)
    if how.compare_with is None and (pairs is None or pairs.reference is None):
        reference = best.leader
    return TestedSystems(members, known, clusters, pairs, reference, best)


def _named(wanted: str, members: Sequence[Member], known: Sequence[Member]) -> int | None:
    """Return the place of a system that is named; None: it has no score."""
    names = [name for member in members for name in (member.name, *member.same)]
    found = named_system(wanted, names) if len(names) > 1 else None
    return next((place for place, one in enumerate(known) if found in (one.name, *one.same)), None)


def _contestants(known: Sequence[Member]) -> list[int]:
    """
    Return the places of the systems among which the best is sought.

    Systems whose documents were ordered on purpose are arms of an experiment: they take part if there are no others.
    """
    return [place for place, member in enumerate(known) if not member.ordered] or list(range(len(known)))


def system_groups(
    known: Sequence[Member], pairs: Pairs | None, better: Better | None = "higher"
) -> list[list[str]] | None:
    """Return the groups that cannot be told apart, best first; None: too many, or not every pair was tested."""
    if pairs is None or pairs.reference is not None:
        return [[str(member.name) for member in known]] if len(known) == 1 else None
    order = sorted(range(len(known)), key=lambda place: _rank(known[place], better))
    rank = {place: number for number, place in enumerate(order)}
    apart = [(rank[one], rank[other]) for one, other in pairs.apart()]
    found = groups_apart(len(known), apart)
    return None if found is None else [[str(known[order[number]].name) for number in group] for group in found]


def name_columns(name: SystemName) -> NameColumns:
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


def _member(names: Sequence[SystemName], group: Sequence[Scored], sums: Array) -> Member:
    return Member(names[0], tuple(names[1:]), sums, group[0].info.order not in (None, "given"))


def _rank(member: Member, better: Better | None) -> float:
    """Return what sorts the best first."""
    mean = member.mean or 0.0
    return mean if better == "lower" else -mean


def _rows(known: Sequence[Member], reference: int, pairs: Pairs | None, better: Better | None) -> list[ComparisonRow]:
    if pairs is None:
        return []
    others = [place for place in range(len(known)) if place != reference]
    rows = [_row(known[place], pairs.difference(place, reference), better) for place in others]
    sign = 1.0 if better == "lower" else -1.0
    return sorted(rows, key=lambda row: sign * row["score"])


def _row(member: Member, found: Difference | None, better: Better | None) -> ComparisonRow:
    return {
        "system": str(member.name),
        **name_columns(member.name),
        "same": [str(name) for name in member.same],
        "score": _POINTS * float(ratio(member.sums.sum(axis=0, keepdims=True))[0]),
        **in_points(found),
        "n_clusters": 0 if found is None else found.n_clusters,
        "finding": finding(found, better),
        "in_sample": False,
    }


def in_points(found: Difference | None) -> DifferenceColumns:
    """Return the difference and its bounds in points, and p; all unknown without a cluster in common."""
    if found is None:
        return {"difference": None, "low": None, "high": None, "p": None, "p_alone": None}
    low, high = (None if bound is None else _POINTS * bound for bound in (found.low, found.high))
    return {"difference": _POINTS * found.value, "low": low, "high": high, "p": found.p, "p_alone": found.p_alone}


def finding(found: Difference | None, better: Better | None = "higher") -> str:
    """Say in words what the test shows of the first system, by a measure of which *better* values are better."""
    if found is None:
        return "no query in common"
    if found.too_few_clusters:
        return f"{TOO_FEW} ({found.n_clusters}): no difference could be shown"
    if not found.distinguishable:
        return NOT_DISTINGUISHABLE
    if better is None:
        return "higher" if found.value > 0 else "lower"
    return "better" if (found.value > 0) == (better == "higher") else "worse"
