"""
Quality beside cost: which systems no other one beats in both (Pareto), and what judges cost.

A system is on the frontier if no other is at least as good and at least as cheap, and better in one of both. It is of
means; the tests of `longform.results.pairs` say which cheaper members each member cannot be told apart from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from longform.evidence.scan import pl
from longform.evidence.scores import final
from longform.metrics.faithfulness import RECOMMENDED
from longform.metrics.measure import Described
from longform.results.aggregate import by_system, cluster_kind, marks_of, mean_of
from longform.results.calls import SPENT, mean_spent, tokens_spent
from longform.results.differences import MEASURE
from longform.results.evidence import Evidence, Family, families
from longform.studies.pairwise import Systems
from longform.tables.cells import row_cell
from longform.tables.table import DATASET, JUDGE, SYSTEM, Axes, Column, Table, Unit

Row = Mapping[str, Any]
MAIN = ("joint", RECOMMENDED.name, "KPR", "geval_x20")
"""Measures of quality, the first that a judge has; else the first that is listed, of which more is better."""


TITLES = {
    "usd_a_summary": "cost a summary",
    "tokens": "tokens a summary, in and out",
    "seconds": "time a summary",
}
"""Currency -> its word in the table; of equals the first is taken."""
STATED: Mapping[str, Unit] = {"usd_a_summary": "usd", "tokens": "count", "seconds": "seconds"}
_CHEAPER = {"usd_a_summary": "cheaper", "tokens": "takes fewer tokens", "seconds": "faster"}
CURRENCY_OF = {title: currency for currency, title in TITLES.items()}

FRONTIER, BEATEN = "frontier", "beaten"
UNKNOWN_COST, UNKNOWN_SCORE = "cost not known", "no score"
_NO_PRICE, _NOT_SAID = SPENT["usd_a_summary"], SPENT["tokens_in"]
_SYSTEM_KEY = ["dataset", "summarizer", "setting"]
_POINTS = [
    DATASET,
    JUDGE,
    *SYSTEM,
    Column("currency", shown=False),
    Column("measure", shown=False),
    Column("cluster", told="what intervals take as independent", shown=False),
    Column(
        "cost", "stated", told="of a summary by the calls that wrote it; the cheapest stands first", headed="currency"
    ),
    Column("cost_unit", shown=False),
    Column("quality", "stated", headed="measure"),
    Column("quality_unit", shown=False),
    Column(
        "place",
        title="frontier",
        told="no other system is at least as good and at least as cheap, and better in one of both; by means",
        unknown="no place",
        beside="beaten_by",
    ),
    Column("beaten_by", title="by", told="the cheapest system that is as good for no more", shown=False),
    Column(
        "not_distinguishable_from",
        title="not distinguishable from cheaper",
        told="members of the frontier that the tests of all pairs of systems do not tell apart",
        unknown="no place",
    ),
]
_SYSTEMS = [
    DATASET,
    *SYSTEM,
    Column("usd_a_summary", "usd", "dollars a summary"),
    Column("tokens_in", "count", "tokens in, a summary", "cached ones too"),
    Column("tokens_out", "count", "tokens out, a summary", "hidden ones too"),
    Column("seconds", "seconds", "seconds a summary", "of its calls one after another"),
]
_JUDGES = [
    JUDGE,
    Column("usd", "usd", "dollars", unknown=_NO_PRICE),
    Column("usd_a_summary", "usd", "dollars a summary", unknown=_NO_PRICE),
    Column("tokens_in", "count", "tokens in", unknown=_NOT_SAID),
    Column("tokens_out", "count", "tokens out", unknown=_NOT_SAID),
    Column("calls", "count"),
    Column("reused", "count", told="answers that earlier commands had paid for, which are not in the sums"),
    Column("n_summaries", "count", "summaries", shown=False),
]


class Cost:
    """Systems that no other one beats in both quality and cost, and the costs of systems and of judges."""

    name = "cost"
    needs = ("scores", "summaries", "calls")
    measures = (MEASURE,)

    def result(self, evidence: Evidence) -> list[Table] | None:
        """Return the tables of every judge and data set; None if the run knows of no cost."""
        spent = evidence.spent
        if spent.is_empty():
            return None
        points = [row for own in _main_families(evidence) for row in _frontier(evidence, own, spent)]
        return tables(points, list(_systems(evidence.frames.summaries.collect(), spent)), list(_judges(evidence)))


def tables(points: Sequence[Row], systems: Sequence[Row], judges: Sequence[Row]) -> list[Table]:
    """
    Return systems by cost and quality, and below them the cost of each system and of each judge. *points* are one for
    each system of a judge and data set, those of a frontier from the cheapest.
    """
    placed = Table(
        "cost",
        _POINTS,
        (),
        title="Quality beside cost",
        told="\n\n".join(_in_words(points)),
        key=["judge", *_SYSTEM_KEY],
        reasons=[_unknown_of(row) for row in points],
        plot=Axes("scatter", "cost", "quality", by="place", joined=FRONTIER),
        apart=["judge", "dataset"],
        page="cost",
    )
    known = {column.name for column in _SYSTEMS}
    of_systems = Table(
        "cost_systems",
        [column._replace(shown=column.shown and bool(points)) for column in _SYSTEMS],  # else beside scores alone
        [{name: value for name, value in row.items() if name in known} for row in systems],
        title="Cost of each system",
        told="Cost is the mean of a summary over the calls that wrote it, judges apart, and $0 only if no model is "
        "asked or its price is 0.",
        key=_SYSTEM_KEY,
        reasons=[row.get("reasons") or {} for row in systems],
        section="cost",
        page="cost",
    )
    of_judges = Table(
        "cost_judges",
        _JUDGES,
        [{**row, "usd_a_summary": _each(row["usd"], row["n_summaries"])} for row in judges],
        title="Cost of judges",
        told="The cost of judging, apart from writing, over all data sets of the run: sums over the calls of this "
        "run's commands.",
        key=["judge"],
        section="cost",
        page="cost",
    )
    rows = [{name: value for name, value in row.items() if name != "left_out"} for row in points]
    return [placed.having(rows), of_systems, of_judges]


def _each(total: float | None, n: int) -> float | None:
    return None if total is None or not n else total / n


def _unknown_of(row: Row) -> dict[str, str]:
    """Return why a system has no place."""
    return {name: row["left_out"] for name in ("cost", "quality") if row.get(name) is None and row.get("left_out")}


def _in_words(points: Sequence[Row]) -> Iterator[str]:
    """Name each frontier in sentences."""
    several = len({row["dataset"] for row in points}) > 1
    for judge, dataset in dict.fromkeys((row["judge"], row["dataset"]) for row in points):
        own = [row for row in points if (row["judge"], row["dataset"]) == (judge, dataset)]
        members, first = [row for row in own if row.get("place") == FRONTIER], own[0]
        where = [f"Data set {dataset or 'not stated'}" if several else "", f"judge {judge}" if judge else ""]
        by = f"by {first['measure'].replace('_', ' ')} and {first['currency']}"
        told = ", ".join(part for part in (*where, by) if part)
        names = "; ".join(f"{_name(row)} ({_value(row, 'cost')}, {_value(row, 'quality')})" for row in members)
        cheaper = _CHEAPER[CURRENCY_OF[first["currency"]]]
        alike = [
            f"{_name(row)} is not distinguishable from what costs less: {'; '.join(row['not_distinguishable_from'])}."
            for row in members
            if row["not_distinguishable_from"]
        ]
        yield " ".join([f"{told[:1].upper()}{told[1:]}: no system is better and {cheaper} than: {names}.", *alike])


def _name(row: Row) -> str:
    return f"{row['summarizer']}, {row['setting']}"


def _value(row: Row, name: str) -> str:
    column = next(column for column in _POINTS if column.name == name)
    value = row[name]["value"] if isinstance(row[name], Mapping) else row[name]
    tokens = name == "cost" and row["currency"] == TITLES["tokens"]
    return f"{row_cell({**row, name: value}, column).text}{' tokens' if tokens else ''}"


def _systems(summaries: pl.DataFrame, spent: pl.DataFrame) -> Iterator[Row]:
    for own in summaries.partition_by("dataset", maintain_order=True):
        for system, group in by_system(final(own)).items():
            means, reasons = mean_spent(group["summary_id"], spent)
            yield {"dataset": own.item(0, "dataset"), **_named(system, group), **means, "reasons": reasons}


class _Main(NamedTuple):
    family: Family
    measure: str
    factor: float
    unit: Unit


def _main_families(evidence: Evidence) -> Iterator[_Main]:
    listed = {one.name: one for one in evidence.measures if one.better == "higher"}
    names = [*dict.fromkeys([*MAIN, *listed])]
    for own in families(evidence, *names):
        there = set(evidence.score_table.measures(own.judge))
        if (name := next((one for one in names if one in there), None)) is not None:
            factor = listed[name].factor if name in listed else _FACTORS.get(name, 100.0)
            yield _Main(own, name, factor, listed[name].unit if name in listed else "points")


_FACTORS = {"geval_x20": 1.0}


def _frontier(evidence: Evidence, own: _Main, spent: pl.DataFrame) -> list[Row]:
    """Return the systems of a judge and data set, the cheapest first, then those without a place; none if too few."""
    summaries = own.family.final.filter(pl.col("twin_of").is_null())
    plain = summaries.filter(pl.col("order").is_null() | (pl.col("order") == "given"))
    systems = by_system(summaries if plain.is_empty() else plain)
    costs = {system: _costs(group, spent) for system, group in systems.items()}
    currency = _currency([*costs.values()])
    if currency is None or len(systems) < 2:
        return []
    scores, placed, left_out = own.family.by(own.measure), list[Row](), list[Row]()
    for system, group in systems.items():
        found = scores.join(group, on="summary_id", how="semi", maintain_order="left")
        quality = mean_of(found, evidence.averaging).scaled(own.factor)
        known = None if quality.value is None else quality.as_json()
        row = {**_named(system, group), "cost": costs[system][currency], "quality": known}
        if row["cost"] is None or known is None:
            left_out.append({**row, "left_out": UNKNOWN_COST if row["cost"] is None else UNKNOWN_SCORE})
        else:
            placed.append(row)
    if len(placed) < 2:
        return []
    shared = {
        "judge": own.family.judge,
        "dataset": own.family.dataset,
        "measure": own.measure,
        "currency": TITLES[currency],
        "cost_unit": STATED[currency],
        "quality_unit": own.unit,
        "cluster": cluster_kind(own.family.facts),
    }
    return [{**shared, **row} for row in (*_points(placed, own), *left_out)]


def _named(system: tuple[str, str], facts: pl.DataFrame) -> Row:
    setting, summarizer = system
    return {"summarizer": summarizer, "setting": setting, **marks_of(facts), "in_sample": []}


def _costs(facts: pl.DataFrame, spent: pl.DataFrame) -> dict[str, float | None]:
    means, _ = mean_spent(facts["summary_id"], spent)
    sent, came = means["tokens_in"], means["tokens_out"]
    return {**means, "tokens": None if sent is None or came is None else sent + came}


def _currency(systems: Sequence[Mapping[str, float | None]]) -> str | None:
    """Return the currency that is known of most systems, the first of equals; none in which all cost the same."""
    known = {currency: [value for one in systems if (value := one[currency]) is not None] for currency in TITLES}
    usable = [currency for currency in TITLES if len(set(known[currency])) > 1]
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


def _points(placed: Sequence[Row], own: _Main) -> list[Row]:
    ordered = sorted(placed, key=lambda row: (row["cost"], -row["quality"]["value"]))
    on = frontier_of([(row["cost"], row["quality"]["value"]) for row in ordered])
    members = [row for row, is_on in zip(ordered, on, strict=True) if is_on]
    alike = _alike(members, own)
    return [
        {
            **row,
            "place": FRONTIER if is_on else BEATEN,
            "beaten_by": None if is_on else _name(_beating(row, members)),
            "not_distinguishable_from": alike.get(_name(row), []),
        }
        for row, is_on in zip(ordered, on, strict=True)
    ]


def _beating(row: Row, members: Sequence[Row]) -> Row:
    least = row["quality"]["value"]
    return next(one for one in members if one["cost"] <= row["cost"] and one["quality"]["value"] >= least)


def _alike(members: Sequence[Row], own: _Main) -> dict[str, list[str]]:
    """Member -> the cheaper members that it cannot be told apart from, by the tests of all pairs of systems."""
    found = Systems(own.family).by(Described(own.measure))
    place = {str(name): at for at, one in enumerate(found.known) for name in one.names}
    return {
        _name(dearer): [
            _name(cheaper)
            for cheaper in members
            if cheaper["cost"] < dearer["cost"] and found.apart[place[_name(dearer)], place[_name(cheaper)]] == 0
        ]
        for dearer in members
    }


def _judges(evidence: Evidence) -> Iterator[Row]:
    n_summaries = evidence.frames.summaries.select(pl.len()).collect().item()
    for judge in (name for name in evidence.score_table.judges if name is not None):
        for row in evidence.calls or ():
            if row["judge"] == judge:
                yield {
                    "judge": judge,
                    "usd": None if row["n_unknown_usd"] or row["open"] else row["known_usd"],
                    **tokens_spent(row),
                    "calls": row["calls"],
                    "reused": row["reused"],
                    "n_summaries": n_summaries,
                }
