"""A comparison of two runs as an answer: sentences that conclude, and what differs besides the scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from longform.metrics.measure import Description
from longform.metrics.statistics import Estimate
from longform.results.answer import VerbAnswer
from longform.results.differences import Differences, told_of
from longform.results.pairs import NOT_DISTINGUISHABLE
from longform.results.run_status import Status
from longform.tables.cells import row_cell
from longform.tables.table import Column, Table, Value

Row = Mapping[str, Value]
_SHOWN = 4  # findings, or settings, in a sentence
_MISSING = object()


class TwoRuns(NamedTuple):
    """
    Two runs beside each other; differences are the second run's less the first run's.

    Attributes:
        runs: A row for each of the two.
        n_common: Queries that both have.
        cautions: Sentences on what weakens the comparison.
        differences: Of summaries, tested together.
        retrieval: Of rankings, a family of their own.
        settings: A row for each key that differs.
        costs: A row for each quantity.
        measures: Those that are compared.
        main: Judge -> the measure that heads; a judge without one is left out.
    """

    runs: Sequence[Mapping[str, Any]]
    n_common: int
    cautions: Sequence[str]
    differences: Differences
    retrieval: Differences
    settings: Table
    costs: Table
    measures: Sequence[Description]
    main: Mapping[Value, str]

    @property
    def labels(self) -> tuple[str, str]:
        first, second = (str(run["label"]) for run in self.runs)
        return first, second

    @property
    def rows(self) -> Sequence[Row]:
        """The differences of summaries, of rankings if these alone were asked for."""
        return self.differences.table.rows or self.retrieval.table.rows


def comparison_answer(found: TwoRuns) -> VerbAnswer:
    """Return a comparison as an answer."""
    sentences = [_on_the_main_measure(found), _on_all(found), _on_the_rest(found)]
    differing = [one.table for one in (found.differences, found.retrieval) if one.table.rows]
    return VerbAnswer(
        f"Comparison of {' and '.join(found.labels)}",
        [*sentences, *(f"Mind: {one}" for one in found.cautions)],
        [Table("runs", _RUNS, found.runs, "The runs", key=["label"]), *differing, found.settings, found.costs],
        found.measures,
        beside={
            "runs": [dict(run) for run in found.runs],
            "n_common": found.n_common,
            "cautions": [*found.cautions],
            "conclusion": sentences,
            "tests": _older(found, found.differences),
            "family": found.differences.family,
            "retrieval": _older(found, found.retrieval),
            "retrieval_family": found.retrieval.family,
            "settings": [dict(row) for row in found.settings.rows],
            "costs": [{name: row[name] for name in _OF_COSTS} for row in found.costs.rows],
        },
        pages_only=["runs"],
    )


def _older(found: TwoRuns, tested: Differences) -> list[dict[str, Any]]:
    """Return differences in the form of earlier versions, which stands beside the tables for one release."""
    known = {one["name"]: one for one in found.measures}
    rows = []
    for row in tested.table.rows:
        name = str(row["measure"])
        unit, title = (known[name]["unit"], known[name]["title"]) if name in known else ("points", name)
        difference = row["difference"] if isinstance(row["difference"], Estimate) else Estimate(None, None, None, 0)
        more = {"title": title, "unit": unit, "told": told_of(row["finding"], found.labels, row["n_clusters"])}
        bounds = {"difference": difference.value, "low": difference.low, "high": difference.high}
        rows.append({**{key: value for key, value in row.items() if key not in ("aside", "better")}, **more, **bounds})
    return rows


# ---------------------------------------------------------------- the sentences


def _on_the_main_measure(found: TwoRuns) -> str:
    rows = [row for row in found.rows if row["judge"] and found.main.get(row["judge"]) == row["measure"]] or found.rows
    lead = f"On the {found.n_common:,} {'query' if found.n_common == 1 else 'queries'} that both runs have"
    several = len({row["dataset"] for row in rows}) > 1
    told = "; ".join(_one(found, row, several) for row in rows[:_SHOWN])
    more = f"; and {len(rows) - _SHOWN} more comparisons, below" if len(rows) > _SHOWN else ""
    return f"{lead}, {told}{more}."


def _one(found: TwoRuns, row: Row, several: bool) -> str:
    table, (first, second) = found.differences.table, found.labels
    title = next((one["title"] for one in found.measures if one["name"] == row["measure"]), row["measure"])
    same = row["first_system"] == row["second_system"]
    system = row["first_system"] if same else f"{row['first_system']} against {row['second_system']}"
    by = f"by judge {row['judge']}" if row["judge"] else "without a judge"
    on = f" on data set {row['dataset'] or 'not stated'}" if several else ""
    one, other, difference = (row_cell(row, table.column(name)) for name in ("first", "second", "difference"))
    if None in (one.text, other.text, difference.text):
        return f"{system} has no query with {title} {by}{on} in both"
    interval = f", {difference.detail}" if difference.detail else ""
    finding = told_of(row["finding"], found.labels, row["n_clusters"])
    scores = f"{title} of {system} is {one.text} in {first} and {other.text} in {second}"
    return f"{scores} ({by}{on}): {finding} ({difference.text}{interval})"


def _on_all(found: TwoRuns) -> str:
    counted = Counter(str(row["finding"]) for row in found.rows)
    sides = zip(("first", "second"), found.labels, strict=True)
    parts = [f"{counted[f'{side} better']} find {label} better" for side, label in sides]
    if moved := counted["first higher"] + counted["second higher"]:
        parts.append(f"{moved} find another amount, which is neither better nor worse")
    parts.append(f"{counted['not distinguishable']} cannot tell the runs apart ({NOT_DISTINGUISHABLE})")
    if few := counted["too few"] + counted["none"]:
        parts.append(f"{few} have too few queries or haystacks to show anything")
    n = len(found.rows)
    return f"{f'Of all {n} comparisons together' if n > 1 else 'Of this one comparison'}, {', '.join(parts)}."


def _on_the_rest(found: TwoRuns) -> str:
    keys = [str(row["key"]) for row in found.settings.rows if row["key"] not in ("name", "git commit")]
    more = f" and {len(keys) - _SHOWN} more" if len(keys) > _SHOWN else ""
    settings = f"{len(keys)} {'setting' if len(keys) == 1 else 'settings'} ({', '.join(keys[:_SHOWN])}{more})"
    return f"The runs {f'differ in {settings}' if keys else 'have the same settings'}, and {_cost(found)}."


def _cost(found: TwoRuns) -> str:
    rows = {row["quantity"]: row for row in found.costs.rows}
    calls, dollars = ([rows[name][side] for side in ("first", "second")] for name in ("calls", "dollars"))
    if calls == [0, 0]:
        return "neither called a model"
    if unknown := [label for label, usd in zip(found.labels, dollars, strict=True) if usd is None]:
        return f"it is not known what {' and '.join(unknown)} cost"
    return " and ".join(
        f"{label} {'cost ' if place == 0 else ''}${usd:,.4f}"
        for place, (label, usd) in enumerate(zip(found.labels, dollars, strict=True))
    )


# ---------------------------------------------------------------- tables besides the differences


_RUNS = (
    Column("label", title="run"),
    Column("run", title="folder"),
    Column("verb", title="made by", beside="title"),
    Column("title", title="titled", shown=False),
    Column("state", unknown="not known"),
    Column("finished", shown=False),
    Column("benchmark"),
    Column("dataset_hash", title="data set hash"),
    Column("n_queries", "count", "queries", "those with a summary"),
    Column("systems"),
)


def setting_table(first: Mapping[str, object], second: Mapping[str, object], labels: Sequence[str]) -> Table:
    """Return a row for each leaf of two nested configurations that differs."""
    absent = "the run has no such key"
    columns = [Column("key"), *(Column(side, title=label, unknown=absent)
                                for side, label in zip(("first", "second"), labels, strict=True))]  # fmt: skip
    return Table("settings", columns, setting_rows(first, second), "Settings that differ", key=["key"])


def setting_rows(first: object, second: object, place: str = "") -> list[dict[str, Value]]:
    """Return the key and both values of each leaf that differs; null: the side does not have the key."""
    return list(_leaves(first, second, place))


def _leaves(first: object, second: object, place: str) -> Iterator[dict[str, Value]]:
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        for key in dict.fromkeys([*first, *second]):
            inner = f"{place}.{key}" if place else str(key)
            yield from _leaves(first.get(key, _MISSING), second.get(key, _MISSING), inner)
    elif isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        for number, (one, other) in enumerate(zip(first, second, strict=True)):
            yield from _leaves(one, other, f"{place}.{number}")
    elif first != second:
        yield {"key": place, "first": _text(first), "second": _text(second)}


def _text(value: object) -> str | None:
    if value is _MISSING:
        return None
    return "not set" if value is None else str(value)


_COSTS = {
    "dollars": "known_usd",
    "calls": "calls",
    "input tokens": "input_tokens",
    "cached tokens": "cached_tokens",
    "output tokens": "output_tokens",
    "reasoning tokens": "reasoning_tokens",
    "refused calls (429)": "refused",
}
_OF_COSTS = ("quantity", "first", "second", "difference")


def cost_table(first: Status | None, second: Status | None, labels: Sequence[str]) -> Table:
    """Return what each run spent; dollars are null if the price of a call is not known. None: not known at all."""
    unknown = "not stated by the provider, no ledger, or calls under way or of unknown price"
    sides = zip(("first", "second"), labels, strict=True)
    return Table(
        "costs",
        [
            Column("quantity"),
            Column("unit", shown=False),
            *(Column(side, "stated", label, unknown=unknown) for side, label in sides),
            Column("difference", "stated", signed=True, unknown=unknown),
            Column("aside", shown=False),
        ],
        [_cost_row(name, _quantity(first, key), _quantity(second, key)) for name, key in _COSTS.items()],
        "What they cost",
        "Calls of the commands of each run, from its ledgers; replies that an earlier command had paid cost nothing.",
        ["quantity"],
        aside="aside",
    )


def _quantity(spend: Status | None, key: str) -> float | None:
    if spend is None or (key == "known_usd" and (spend["n_unknown_usd"] or spend["open"])):
        return None
    if not spend["calls"]:
        return 0.0
    value = spend.get(key)
    assert value is None or isinstance(value, int | float), key
    return None if value is None else float(value)


def _cost_row(name: str, first: float | None, second: float | None) -> dict[str, Value]:
    return {
        "quantity": name,
        "unit": "usd" if name == "dollars" else "count",
        "first": first,
        "second": second,
        "difference": None if first is None or second is None else second - first,
        "aside": "0 in both" if first == second == 0 else None,
    }
