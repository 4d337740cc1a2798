"""
Every pair of systems by every measure, for a reader who picks two.

The tests are those of `longform.results.comparisons`: the same pair has the same numbers in both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations
from math import isnan
from string import ascii_lowercase
from typing import NamedTuple, NotRequired, TypedDict

from longform.metrics.measure import Better, Measure
from longform.metrics.paired_differences import ALPHA, n_sign_changes, smallest_p
from longform.results.aggregate import ClusterKind, SummaryInfo
from longform.results.columns import OfJudge
from longform.results.comparisons import Member, NameColumns, Tests, name_columns, system_groups, tested_systems
from longform.results.evidence import Evidence, Family, rows_of
from longform.results.pairs import MOST_SYSTEMS, Best, Pairs, PlanColumns, is_exact

_DIGITS = 6  # of numbers of pairs, unless a verdict hangs on more


class PairedSystem(NameColumns):
    """A system of a family."""

    system: str
    same: list[str]  # systems whose summaries are the same
    score: float
    with_best: bool | None  # no other is shown to be better; null: nothing could be, or it is an arm of an experiment
    letters: str | None  # systems that share one cannot be told apart; null: too many groups, or too few clusters


class BestColumns(TypedDict):
    """The leader of a family against each other system, by the family's pairs."""

    leader: str  # the best score of those than which no other is shown to be better
    named: bool  # it is shown to be better than each other
    p: float  # the largest of its pairs


class PairColumns(TypedDict):
    """
    Tests of systems i < j in the order (0, 1), (0, 2), ..., (1, 2), ...: the first system less the second.

    The interval is the difference plus and minus `half`. It excludes 0 exactly if p is at most the level.
    """

    difference: list[float | None]  # null: no cluster in common
    half: list[float | None]  # null: so few clusters bound nothing
    p: list[float | None]
    p_alone: list[float | None]
    n_clusters: list[int] | None  # null: all pairs have the family's


class TestedColumns(OfJudge):
    """All pairs by one measure on one data set, in the measure's unit."""

    measure: str
    title: str
    unit: str
    better: Better | None
    cluster: ClusterKind
    n_clusters: int
    n_queries: int
    n_haystacks: int
    n_sign_changes: int
    exact: bool  # every change of sign was made
    smallest_p: float  # possible
    level: float
    n_tests: int
    pairs: PairColumns | None
    left_out: str | None  # why there are no pairs
    plan: PlanColumns | None


class PairwiseFamily(TestedColumns):
    """All pairs of systems by one measure of one judge."""

    best: NotRequired[BestColumns | None]  # null: nothing could be shown, or no value is better
    systems: list[PairedSystem]


def pairwise(evidence: Evidence) -> list[PairwiseFamily]:
    """Return the families of every judge, data set and measure; those of one system alone have no pair and no place."""

    def of_family(own: Family, measure: Measure) -> list[PairwiseFamily]:
        return list(_families(own, measure, evidence))

    return [
        family
        for measure in evidence.measures
        for family in rows_of(evidence, [measure.name], partial(of_family, measure=measure))
    ]


def _families(own: Family, measure: Measure, evidence: Evidence) -> Iterator[PairwiseFamily]:
    aggregate, seed, _ = evidence.averaging
    found = tested_systems(own.summaries, measure.name, measure.better, Tests(aggregate, seed, None, evidence.contents))
    known, clusters = found.known, found.clusters
    if len(known) < 2:
        return
    factor = 100.0 if measure.unit == "points" else 1.0
    pairs = found.pairs if found.pairs is not None and found.pairs.reference is None else None
    few = smallest_p(len(clusters)) > ALPHA
    best = None if pairs is None or few or measure.better is None else found.best
    infos = [one.info for one in own.summaries if one.has(measure.name)]
    tested = tested_columns(
        Tested(measure.name, measure.title or measure.name, measure.unit, measure.better, len(known)),
        pairs,
        judge=own.judge,
        dataset=own.dataset,
        sample=Sample.of(infos, len(clusters)),
        factor=factor,
    )
    yield {
        **tested,
        "best": best_columns([str(member.name) for member in known], best),
        "systems": _systems(known, best, None if few else system_groups(known, pairs, measure.better), factor),
    }


class Tested(NamedTuple):
    """The measure of a family, and how many systems it has."""

    measure: str
    title: str
    unit: str
    better: Better | None
    n_systems: int


class Sample(NamedTuple):
    """The queries behind a family."""

    cluster: ClusterKind
    n_clusters: int
    n_queries: int
    n_haystacks: int

    @classmethod
    def of(cls, infos: Sequence[SummaryInfo], n_clusters: int) -> Sample:
        """Count the queries of summaries with a value; all resample one unit."""
        queries, haystacks = {info.query_id for info in infos}, {info.haystack_id for info in infos}
        return cls(infos[0].cluster_kind, n_clusters, len(queries), len(haystacks))


def tested_columns(
    tested: Tested, pairs: Pairs | None, *, judge: str | None, dataset: str | None, sample: Sample, factor: float
) -> TestedColumns:
    """Return the columns of a family that do not name its systems; *factor* makes the measure's unit of a mean."""
    n = sample.n_clusters
    return {
        "judge": judge,
        "dataset": dataset,
        "measure": tested.measure,
        "title": tested.title,
        "unit": tested.unit,
        "better": tested.better,
        "cluster": sample.cluster,
        "n_clusters": n,
        "n_queries": sample.n_queries,
        "n_haystacks": sample.n_haystacks,
        "n_sign_changes": n_sign_changes(n),
        "exact": is_exact(n),
        "smallest_p": smallest_p(n),
        "level": ALPHA,
        "n_tests": 0 if pairs is None else len(pairs.tests.value),
        "pairs": None if pairs is None else _columns(pairs, n, factor),
        "left_out": _why(tested.n_systems) if pairs is None else None,
        "plan": None if pairs is None else pairs.plan(factor),
    }


def _why(n: int) -> str:
    return f"{n} systems are more than the {MOST_SYSTEMS} of which every pair is tested"


def _systems(
    known: Sequence[Member], best: Best | None, groups: Sequence[Sequence[str]] | None, factor: float
) -> list[PairedSystem]:
    letters = None if groups is None or len(groups) > len(ascii_lowercase) else _letters(groups)
    return [
        {
            "system": str(member.name),
            **name_columns(member.name),
            "same": [str(name) for name in member.same],
            "score": factor * (member.mean or 0.0),
            "with_best": None if best is None or place not in best.among else place in best.left,
            "letters": None if letters is None else letters[str(member.name)],
        }
        for place, member in enumerate(known)
    ]


def best_columns(names: Sequence[str], best: Best | None) -> BestColumns | None:
    """Return the best of systems by their *names*; None: nothing could be shown."""
    if best is None or best.p is None:
        return None
    return {"leader": names[best.leader], "named": best.named, "p": round(best.p, _DIGITS)}


def _letters(groups: Sequence[Sequence[str]]) -> dict[str, str]:
    """Return the compact letters of each system: one for each of its groups, best first."""
    found: dict[str, str] = {}
    for letter, group in zip(ascii_lowercase, groups, strict=False):
        for system in group:
            found[system] = found.get(system, "") + letter
    return found


def _columns(pairs: Pairs, n_clusters: int, factor: float) -> PairColumns:
    tests = pairs.tests
    bounds = [
        _bounds(factor * value, factor * half)
        for value, half in zip(tests.value.tolist(), tests.half.tolist(), strict=True)
    ]
    return {
        "difference": [value for value, _ in bounds],
        "half": [half for _, half in bounds],
        "p": [
            None if value is None else round(p, _DIGITS) for p, (value, _) in zip(tests.p.tolist(), bounds, strict=True)
        ],
        "p_alone": [
            None if value is None else round(p, _DIGITS)
            for p, (value, _) in zip(tests.p_alone.tolist(), bounds, strict=True)
        ],
        "n_clusters": None if (tests.n == n_clusters).all() else tests.n.tolist(),
    }


def _bounds(value: float, half: float) -> tuple[float | None, float | None]:
    """Return both in few digits, unless the interval would then say something else of 0."""
    if isnan(value):
        return None, None
    if isnan(half):
        return round(value, _DIGITS), None
    short = round(value, _DIGITS), round(half, _DIGITS)
    return short if (abs(short[0]) > short[1]) == (abs(value) > half) else (value, half)


def places_of(n: int) -> list[tuple[int, int]]:
    """Return the systems of each entry of `PairColumns` among *n* systems."""
    return list(combinations(range(n), 2))
