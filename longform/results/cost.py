"""
Quality beside cost: which systems no other one beats in both (Pareto), and what judges cost.

A system is on the frontier if no other is at least as good and at least as cheap, and better in one of both. It is of
means; the tests of `longform.results.comparisons` say which cheaper members each member cannot be told apart from.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, TypedDict

from longform.metrics.faithfulness import RECOMMENDED
from longform.metrics.statistics import EstimateColumns
from longform.results.aggregate import (
    Group,
    Scored,
    SummaryInfo,
    estimate,
    final_summaries,
    systems_of,
)
from longform.results.columns import OfJudge
from longform.results.comparisons import Tests, tested_systems
from longform.results.evidence import Evidence, Family, families
from longform.results.spent import Spent, SpentColumns, mean_spent
from longform.settings.system_names import SystemName

Currency = Literal["usd_a_summary", "tokens", "seconds"]
CURRENCIES: tuple[Currency, ...] = ("usd_a_summary", "tokens", "seconds")
MAIN = ("joint", RECOMMENDED.name, "KPR", "geval_x20")
"""Measures of quality, the first that a judge has; else the first that is listed, of which more is better."""


class CostPoint(TypedDict):
    """A system by its cost and its quality."""

    summarizer: str
    setting: str
    cost: float
    quality: EstimateColumns  # in the measure's unit
    on_frontier: bool
    beaten_by: str | None  # the cheapest system that is at least as good; null: on the frontier
    not_distinguishable_from: list[str]  # cheaper members of the frontier


class LeftOut(TypedDict):
    """A system without a place."""

    system: str
    reason: str


class Frontier(OfJudge):
    """The systems of a judge and data set."""

    measure: str
    currency: Currency
    cluster: str
    points: list[CostPoint]  # cheapest first
    left_out: list[LeftOut]


class JudgeCost(TypedDict):
    """Sums over a judge's calls that this run's commands made; null: not known."""

    judge: str
    usd: float | None
    tokens_in: float | None
    tokens_out: float | None
    calls: int
    reused: int  # answers that earlier commands had paid for
    n_summaries: int


class SystemCost(SpentColumns):
    """Means over the summaries of a system."""

    dataset: str | None
    summarizer: str
    setting: str
    reasons: dict[str, str]  # by column: why it is not known


class Cost(TypedDict):
    systems: list[SystemCost]
    frontiers: list[Frontier]
    judges: list[JudgeCost]


def cost(evidence: Evidence) -> Cost | None:
    """Return frontiers of every judge and data set, and what judges cost; None if the run knows of no cost."""
    spent = evidence.spent
    if not spent:
        return None
    found = [one for own in _main_families(evidence) if (one := _frontier(evidence, own, spent)) is not None]
    judges = list(_judges(evidence))
    return {"systems": _systems(evidence.infos.values(), spent), "frontiers": found, "judges": judges}


def _systems(infos: Iterable[SummaryInfo], spent: Mapping[str, Spent]) -> list[SystemCost]:
    found: dict[str | None, list[Scored]] = {}
    for info in infos:
        found.setdefault(info.dataset, []).append(Scored(info, {}))
    rows: list[SystemCost] = []
    for dataset, summaries in found.items():
        for (setting, summarizer), group in sorted(systems_of(final_summaries(summaries)).items()):
            means, reasons = mean_spent(group, spent)
            rows.append({"dataset": dataset, "summarizer": summarizer, "setting": setting, **means, "reasons": reasons})
    return rows


class _Main(NamedTuple):
    family: Family
    measure: str
    factor: float


def _main_families(evidence: Evidence) -> Iterator[_Main]:
    listed = {one.name: one for one in evidence.measures if one.better == "higher"}
    names = [*dict.fromkeys([*MAIN, *listed])]
    for own in families(evidence, *names):
        there = set(evidence.score_table.measures(own.judge))
        if (name := next((one for one in names if one in there), None)) is not None:
            yield _Main(own, name, listed[name].factor if name in listed else _FACTORS.get(name, 100.0))


_FACTORS = {"geval_x20": 1.0}


class _Placed(NamedTuple):
    name: SystemName
    group: Group
    cost: float
    quality: EstimateColumns

    @property
    def value(self) -> float:
        assert self.quality["value"] is not None, "others are left out"
        return self.quality["value"]


def _frontier(evidence: Evidence, own: _Main, spent: Mapping[str, Spent]) -> Frontier | None:
    summaries = [one for one in final_summaries(own.family.summaries) if one.info.twin_of is None]
    plain = [one for one in summaries if one.info.order in (None, "given")] or summaries
    systems = {SystemName(of[1], of[0]): group for of, group in sorted(systems_of(plain).items())}
    costs = {name: _costs(group, spent) for name, group in systems.items()}
    currency = _currency(list(costs.values()))
    if currency is None or len(systems) < 2:
        return None
    placed: list[_Placed] = []
    left_out: list[LeftOut] = []
    for name, group in systems.items():
        quality = estimate(group, own.measure, evidence.averaging).scaled(own.factor).as_json()
        paid = costs[name][currency]
        if paid is None or quality["value"] is None:
            left_out.append({"system": str(name), "reason": "cost not known" if paid is None else "no score"})
        else:
            placed.append(_Placed(name, group, paid, quality))
    if len(placed) < 2:
        return None
    return {
        "judge": own.family.judge,
        "dataset": own.family.dataset,
        "measure": own.measure,
        "currency": currency,
        "cluster": plain[0].info.cluster_kind,
        "points": _points(placed, own, evidence),
        "left_out": left_out,
    }


def _costs(group: Group, spent: Mapping[str, Spent]) -> dict[Currency, float | None]:
    means, _ = mean_spent(group, spent)
    sent, came = means["tokens_in"], means["tokens_out"]
    tokens = None if sent is None or came is None else sent + came
    return {"usd_a_summary": means["usd_a_summary"], "tokens": tokens, "seconds": means["seconds"]}


def _currency(systems: Sequence[Mapping[Currency, float | None]]) -> Currency | None:
    """Return the currency that is known of most systems, the first of equals; none in which all cost the same."""
    known = {currency: [value for one in systems if (value := one[currency]) is not None] for currency in CURRENCIES}
    usable = [currency for currency in CURRENCIES if len(set(known[currency])) > 1]
    return max(usable, key=lambda currency: len(known[currency]), default=None)


def frontier_of(points: Sequence[tuple[float, float]]) -> list[bool]:
    """
    Return for each (cost, quality) if no other point is at least as cheap and as good, and better in one of both.

    Points that are equal in both are on the frontier together.
    """
    return [
        not any(
            cost <= own_cost and value >= own_value and (cost, value) != (own_cost, own_value) for cost, value in points
        )
        for own_cost, own_value in points
    ]


def _points(placed: Sequence[_Placed], own: _Main, evidence: Evidence) -> list[CostPoint]:
    ordered = sorted(placed, key=lambda one: (one.cost, -one.value))
    on = frontier_of([(one.cost, one.value) for one in ordered])
    members = [one for one, is_on in zip(ordered, on, strict=True) if is_on]
    alike = _alike(members, own, evidence)
    return [
        {
            "summarizer": one.name.summarizer,
            "setting": one.name.setting,
            "cost": one.cost,
            "quality": one.quality,
            "on_frontier": is_on,
            "beaten_by": None if is_on else str(_beating(one, members).name),
            "not_distinguishable_from": alike.get(one.name, []),
        }
        for one, is_on in zip(ordered, on, strict=True)
    ]


def _beating(one: _Placed, members: Sequence[_Placed]) -> _Placed:
    return next(other for other in members if other.cost <= one.cost and other.value >= one.value)


def _alike(members: Sequence[_Placed], own: _Main, evidence: Evidence) -> dict[SystemName, list[str]]:
    """Member -> the cheaper members that it cannot be told apart from, by the tests of all pairs of systems."""
    aggregate, seed, _ = evidence.averaging
    tests = Tests(aggregate, seed, None, evidence.contents)
    found = tested_systems(own.family.summaries, own.measure, "higher", tests)
    place = {name: at for at, one in enumerate(found.known) for name in (one.name, *one.same)}
    apart = set() if found.pairs is None else {*map(frozenset, found.pairs.apart())}
    return {
        dearer.name: [
            str(cheaper.name)
            for cheaper in members
            if cheaper.cost < dearer.cost and frozenset([place[dearer.name], place[cheaper.name]]) not in apart
        ]
        for dearer in members
    }


def _judges(evidence: Evidence) -> Iterator[JudgeCost]:
    for judge in (name for name in evidence.score_table.judges if name is not None):
        for row in evidence.calls or ():
            if row["judge"] == judge:
                yield {
                    "judge": judge,
                    "usd": None if row["n_unknown_usd"] or row["open"] else row["known_usd"],
                    "tokens_in": _both(row["input_tokens"], row["cached_tokens"]),
                    "tokens_out": _both(row["output_tokens"], row["reasoning_tokens"]),
                    "calls": row["calls"],
                    "reused": row["reused"],
                    "n_summaries": len(evidence.infos),
                }


def _both(stated: int | None, besides: int | None) -> float | None:
    return None if stated is None else float(stated + (besides or 0))
