"""The queries that a comparison needs, planned with the differences between the systems of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from typing import NamedTuple

from longform.errors import UsageError
from longform.metrics.power import (
    clusters_for_difference,
    clusters_for_interval,
    critical_at,
    detectable,
    level_of_one,
)
from longform.nearest import meant
from longform.results.aggregate import ClusterKind
from longform.results.columns import OfJudge
from longform.results.pairs import PlanColumns, place_of
from longform.results.pairwise import PairwiseFamily
from longform.results.results import Results
from longform.settings.system_names import SystemName, named_system

_PLURALS: dict[ClusterKind, str] = {"query": "queries", "haystack": "haystacks"}
_TOO_MANY = "more than anyone has"


class Wanted(NamedTuple):
    """
    The aims of a plan, in the unit of the measure.

    Attributes:
        difference: A true difference to be told from chance; None: none is named.
        half_width: Of the interval of a difference; None: none is named.
        power: The probability that the difference is told.
        systems: The two whose difference is planned with; None: the median spread of all pairs.
    """

    difference: float | None
    half_width: float | None
    power: float
    systems: tuple[str, str] | None


class SampleRow(OfJudge):
    """A measure; null: nothing is wanted, or more than anyone has."""

    measure: str
    unit: str
    cluster: ClusterKind
    n: int  # clusters of the run
    n_tests: int  # of the family: all pairs of systems
    systems: list[str] | None  # whose spread it is; null: the median of all pairs
    spread: float  # standard deviation of a cluster's difference
    power: float
    level: float
    detectable: float | None  # with so many clusters, by a single test; null: none
    detectable_in_family: float | None
    difference: float | None
    for_difference: int | None
    for_difference_in_family: int | None
    half_width: float | None
    for_interval: int | None


def sample_rows(results: Results, wanted: Wanted, *, measures: Sequence[str] = ()) -> list[SampleRow]:
    """
    Return a row for each judge, data set and measure of a run.

    Args:
        results: Of the run.
        wanted: What is planned for.
        measures: Only these; none: all.

    Raises:
        UsageError: The run has no differences to plan with, or not those that are named.
    """
    families = [one for one in results.get("pairwise") or [] if one["plan"] is not None]
    if not families:
        raise UsageError(
            "expected a run with two systems or more on two queries or more, whose differences have a spread; "
            "found none to plan with. Results of older versions are scored again by longform aggregate RUN"
        )
    known = list(dict.fromkeys(one["measure"] for one in families))
    if unknown := next((name for name in measures if name not in known), None):
        near = meant(unknown, known)
        raise UsageError(f"--measure: expected one of {', '.join(known)}, found {unknown!r}{near}")
    return [_row(one, wanted) for one in families if not measures or one["measure"] in measures]


def _row(family: PairwiseFamily, wanted: Wanted) -> SampleRow:
    plan = family["plan"]
    assert plan is not None
    if "critical" not in plan:
        raise UsageError(
            "these results are of an older version, and lack the level of all pairs: longform aggregate RUN"
        )
    critical = inf if plan["critical"] is None else plan["critical"]
    n, systems, spread = _spread(family, plan, critical, wanted.systems)
    size, half, power = wanted.difference, wanted.half_width, wanted.power
    within = level_of_one(critical, n)
    return {
        "judge": family["judge"],
        "dataset": family["dataset"],
        "measure": family["measure"],
        "unit": family["unit"],
        "cluster": family["cluster"],
        "n": n,
        "n_tests": family["n_tests"],
        "systems": systems,
        "spread": spread,
        "power": power,
        "level": plan["level"],
        "detectable": detectable(spread=spread, n=n, critical=critical_at(plan["level"], n), power=power),
        "detectable_in_family": detectable(spread=spread, n=n, critical=critical, power=power),
        "difference": size,
        "for_difference": None if size is None else clusters_for_difference(size, spread=spread, power=power),
        "for_difference_in_family": (
            None if size is None else clusters_for_difference(size, spread=spread, level=within, power=power)
        ),
        "half_width": half,
        "for_interval": None if half is None else clusters_for_interval(half, spread=spread),
    }


def _spread(
    family: PairwiseFamily, plan: PlanColumns, critical: float, wanted: tuple[str, str] | None
) -> tuple[int, list[str] | None, float]:
    """Return clusters, systems and the spread of their difference; without *wanted* the median of all pairs."""
    if wanted is None:
        return plan["n"], None, plan["spread"]
    names = [SystemName(one["summarizer"], one["setting"]) for one in family["systems"]]
    found = [named_system(words, names, asked="--systems") for words in wanted]
    first, second = sorted(names.index(name) for name in found)
    if first == second:
        raise UsageError(f"--systems: expected two systems, found {found[0]} twice")
    pairs = family["pairs"]
    assert pairs is not None, "a family with a plan has pairs"
    place = place_of(first, second, len(names))
    n = family["n_clusters"] if pairs["n_clusters"] is None else pairs["n_clusters"][place]
    half = pairs["half"][place]
    if not half or critical == inf:
        raise UsageError(
            f"--systems: expected two systems whose difference by {family['measure']} varies, over six "
            f"{_PLURALS[family['cluster']]} or more; {found[0]} and {found[1]} have {n} in common"
        )
    own = critical * ((1 - 1 / n) / (1 - 1 / plan["n"])) ** 0.5  # the family's is of a pair with all clusters
    return n, [str(name) for name in found], half / own * n**0.5


def sample_words(row: SampleRow) -> Iterator[str]:
    """Yield lines: what the run's queries show, then what is wanted."""
    plural, unit = _PLURALS[row["cluster"]], "points" if row["unit"] == "points" else row["unit"]
    on = f", {row['dataset']}" if row["dataset"] else ""
    judge = f" by judge {row['judge']}" if row["judge"] else ""
    whose = f"of {' and '.join(row['systems'])}" if row["systems"] else "median of all pairs"
    tests = f"among all {row['n_tests']:,} pairs"
    spread = f"spread of a difference {row['spread']:.3g} {unit} ({whose})"
    yield f"{row['measure']}{judge}{on}: {spread}, {row['n']} {plural}"
    alone, family = (_size(row[name], unit) for name in ("detectable", "detectable_in_family"))
    yield f"  {row['n']} {plural} show a true difference of {alone} by one test, of {family} {tests}"
    if row["difference"] is not None:
        one, all_ = (_count(row[name]) for name in ("for_difference", "for_difference_in_family"))
        yield f"  a true difference of {row['difference']:g} {unit} needs {one} {plural} by one test, {all_} {tests}"
    if row["half_width"] is not None:
        yield f"  an interval of ±{row['half_width']:g} {unit} needs {_count(row['for_interval'])} {plural}"


def _size(value: float | None, unit: str) -> str:
    return "no size" if value is None else f"{value:.3g} {unit}"


def _count(value: int | None) -> str:
    return _TOO_MANY if value is None else f"{value:,}"
