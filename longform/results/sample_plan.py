"""The queries that a comparison needs, planned with the differences between the systems of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import NamedTuple, cast

from longform.errors import UsageError, meant
from longform.evidence.summaries import ClusterKind
from longform.metrics.measure import Description
from longform.metrics.power import Sized, clusters_for_interval
from longform.results.cells import Row, of_family, table_rows
from longform.results.differences import MEASURED, UNITS
from longform.results.results import Results, VerbAnswer
from longform.settings.systems import SystemName, named_system
from longform.tables.table import Column, Table, Value

_PLURALS: dict[ClusterKind, str] = {"query": "queries", "haystack": "haystacks"}
_TOO_MANY = "more than anyone has"
_NONE = "so few show no difference"


class Aims(NamedTuple):
    """The aims of a plan, in the unit of the measure; None: none is named."""

    difference: float | None  # a true one, to be told from chance
    half_width: float | None  # of the interval of a difference
    power: float  # the probability that the difference is told
    systems: tuple[str, str] | None  # whose difference is planned with; None: the median spread of all pairs


def sample_rows(results: Results, wanted: Aims, *, measures: Sequence[str] = ()) -> list[dict[str, Value]]:
    """
    Return a row for each judge, data set and measure of a run, only of *measures* if some are named.

    Raises:
        UsageError: The run has no differences to plan with, or not those that are named.
    """
    plans = {of_family(row): row for row in table_rows(results, "pairwise_plans")}
    found = [one for one in table_rows(results, "pairwise_families") if of_family(one) in plans]
    families = [(one, plans[of_family(one)]) for one in found]
    if not families:
        raise UsageError(
            "expected a run with two systems or more on two queries or more, whose differences have a spread; "
            "found none to plan with. Results of older versions are scored again by longform aggregate RUN"
        )
    known = list(dict.fromkeys(one["measure"] for one in found))
    if unknown := next((name for name in measures if name not in known), None):
        near = meant(unknown, known)
        raise UsageError(f"--measure: expected one of {', '.join(known)}, found {unknown!r}{near}")
    return [_row(results, *one, wanted) for one in families if not measures or one[0]["measure"] in measures]


def _row(results: Results, family: Row, plan: Row, wanted: Aims) -> dict[str, Value]:
    if "critical" not in plan:
        raise UsageError(
            "these results are of an older version, and lack the level of all pairs: longform aggregate RUN"
        )
    critical = inf if plan["critical"] is None else plan["critical"]
    n, systems, spread = _spread(results, family, plan, critical, wanted.systems)
    size, half, sized = wanted.difference, wanted.half_width, Sized(spread, n, critical)
    alone, in_family = (None, None) if size is None else sized.needed(size, wanted.power)
    return {
        **{name: family[name] for name in ("judge", "dataset", "measure", "unit", "cluster", "n_tests")},
        "n": n,
        "systems": systems,
        "spread": spread,
        "power": wanted.power,
        "level": plan["level"],
        **sized.shown(wanted.power),
        "difference": size,
        "for_difference": alone,
        "for_difference_in_family": in_family,
        "half_width": half,
        "for_interval": None if half is None else clusters_for_interval(half, spread=spread),
    }


def _spread(
    results: Results, family: Row, plan: Row, critical: float, wanted: tuple[str, str] | None
) -> tuple[int, list[str] | None, float]:
    """Return clusters, systems and the spread of their difference; without *wanted* the median of all pairs."""
    if wanted is None:
        return plan["n"], None, plan["spread"]
    systems, pairs = (
        [row for row in table_rows(results, name) if of_family(row) == of_family(family)]
        for name in ("pairwise_systems", "pairwise")
    )
    names = [SystemName(one["summarizer"], one["setting"]) for one in systems]
    first, second = (str(named_system(words, names, asked="--systems")) for words in wanted)
    if first == second:
        raise UsageError(f"--systems: expected two systems, found {first} twice")
    pair = next(row["difference"] for row in pairs if {row["one"], row["other"]} == {first, second})
    n = pair["n"]
    if pair["low"] is None or pair["high"] == pair["low"] or critical == inf:
        raise UsageError(
            f"--systems: expected two systems whose difference by {family['measure']} varies, over six "
            f"{_PLURALS[family['cluster']]} or more; {first} and {second} have {n} in common"
        )
    own = critical * ((1 - 1 / n) / (1 - 1 / plan["n"])) ** 0.5  # the family's is of a pair with all clusters
    return n, [first, second], (pair["high"] - pair["low"]) / 2 / own * n**0.5


def sample_answer(rows: Sequence[Mapping[str, Value]], measures: Sequence[Description], wanted: Aims) -> VerbAnswer:
    """Return rows as a table: what the run's queries show, then what is wanted."""
    units = {str(row["measure"]): UNITS.get(str(row["unit"]), "words") for row in rows}
    table = Table("sample_plan", _columns(rows, wanted), [{**row, "unit": units[str(row["measure"])]} for row in rows],
                  "Queries that a difference needs", key=["dataset", "judge", "measure"])  # fmt: skip
    whose = f"of {' and '.join(wanted.systems)}" if wanted.systems else "the median of all pairs"
    told = (
        f"Power {wanted.power:g}, level {rows[0]['level']:.2g}. By one test: of two systems chosen beforehand. "
        "Among all pairs: as a report tests them, all pairs of systems of a measure as one family. Spread: the "
        f"standard deviation of a difference of two systems, {whose}."
    )
    return VerbAnswer("The size of a sample", [told], [table], measures, "What is planned")


def _columns(rows: Sequence[Mapping[str, Value]], wanted: Aims) -> list[Column]:
    clusters = " or ".join(dict.fromkeys(_PLURALS[cast("ClusterKind", row["cluster"])] for row in rows))
    shown, one, all_ = "true difference that is shown", "by one test", "among all pairs"
    needed = "" if wanted.half_width is None else f"{clusters} that ±{wanted.half_width:g} needs"
    needs = "" if wanted.difference is None else f"{clusters} that a true difference of {wanted.difference:g} needs"
    return [
        *MEASURED,
        Column("cluster", shown=False),
        Column("n", "count", clusters),
        Column("n_tests", "count", "pairs"),
        Column("systems", shown=False),
        Column("spread", "stated"),
        Column("power", "number", shown=False),
        Column("level", "p", shown=False),
        Column("detectable", "stated", one, unknown=_NONE, group=shown),
        Column("detectable_in_family", "stated", all_, unknown=_NONE, group=shown),
        Column("difference", "stated", shown=False),
        Column("for_difference", "count", one, unknown=_TOO_MANY, shown=bool(needs), group=needs),
        Column("for_difference_in_family", "count", all_, unknown=_TOO_MANY, shown=bool(needs), group=needs),
        Column("half_width", "stated", shown=False),
        Column("for_interval", "count", needed, unknown=_TOO_MANY, shown=bool(needed)),
    ]
