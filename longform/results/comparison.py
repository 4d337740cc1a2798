"""A comparison of two runs as an answer: sentences that conclude, and what differs besides the scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from longform.metrics.measure import Description
from longform.results.differences import NOT_DISTINGUISHABLE, compared_measure, told_of
from longform.results.results import VerbAnswer
from longform.results.run_status import Status
from longform.tables.cells import row_cell
from longform.tables.table import Column, Table, Value

Row = Mapping[str, Value]
_SHOWN = 4  # findings, or settings, in a sentence
_MISSING = object()


def comparison_answer(
    runs: Sequence[Mapping[str, Any]],
    differences: Table,
    retrieval: Table,
    settings: Table,
    costs: Table,
    *,
    n_common: int,
    cautions: Sequence[str],
    measures: Sequence[Description],
) -> VerbAnswer:
    """
    Return two runs beside each other as an answer.

    The *differences* of summaries and those of *retrieval* are two families; *cautions* are sentences on what weakens
    the comparison.
    """
    labels = [str(run["label"]) for run in runs]
    table = differences if differences.rows else retrieval
    queries = f"On the {n_common:,} {'query' if n_common == 1 else 'queries'} that both runs have"
    sentences = [
        f"{queries}, {_on_the_main_measure(table, labels, measures)}.",
        _on_all(table.rows, labels),
        f"The runs {_differing(settings)}, and {_cost(costs, labels)}.",
    ]
    return VerbAnswer(
        f"Comparison of {' and '.join(labels)}",
        [*sentences, *(f"Mind: {one}" for one in cautions)],
        [
            Table("runs", _RUNS, runs, "The runs", key=["label"]),
            *(one for one in (differences, retrieval) if one.rows),
            settings,
            costs,
        ],
        measures,
        beside={"n_common": n_common, "cautions": [*cautions], "conclusion": sentences},
        pages_only=["runs"],
    )


# ---------------------------------------------------------------- the sentences


def _on_the_main_measure(table: Table, labels: Sequence[str], measures: Sequence[Description]) -> str:
    of_judge: dict[Value, set[str]] = {}
    for row in table.rows:
        of_judge.setdefault(row["judge"], set()).add(str(row["measure"]))
    main = {judge: compared_measure(measures, [names]) for judge, names in of_judge.items() if judge}
    heading = {(judge, one["name"]) for judge, one in main.items() if one}
    rows = [row for row in table.rows if (row["judge"], row["measure"]) in heading] or table.rows
    several = len({row["dataset"] for row in rows}) > 1
    titles = {one["name"]: one["title"] for one in measures}
    told = "; ".join(_one(table, row, labels, titles, several=several) for row in rows[:_SHOWN])
    return f"{told}; and {len(rows) - _SHOWN} more comparisons, below" if len(rows) > _SHOWN else told


def _one(table: Table, row: Row, labels: Sequence[str], titles: Mapping[str, str], *, several: bool) -> str:
    title = titles.get(str(row["measure"]), row["measure"])
    same = row["first_system"] == row["second_system"]
    system = row["first_system"] if same else f"{row['first_system']} against {row['second_system']}"
    by = f"by judge {row['judge']}" if row["judge"] else "without a judge"
    on = f" on data set {row['dataset'] or 'not stated'}" if several else ""
    one, other, difference = (row_cell(row, table.column(name)) for name in ("first", "second", "difference"))
    if None in (one.text, other.text, difference.text):
        return f"{system} has no query with {title} {by}{on} in both"
    interval = f", {difference.detail}" if difference.detail else ""
    finding = told_of(row["finding"], row["n_clusters"], labels)
    scores = f"{title} of {system} is {one.text} in {labels[0]} and {other.text} in {labels[1]}"
    return f"{scores} ({by}{on}): {finding} ({difference.text}{interval})"


def _on_all(rows: Sequence[Row], labels: Sequence[str]) -> str:
    counted, n = Counter(str(row["finding"]) for row in rows), len(rows)
    sides = zip(("first", "second"), labels, strict=True)
    parts = [f"{counted[f'{side} better']} find {label} better" for side, label in sides]
    if moved := counted["first higher"] + counted["second higher"]:
        parts.append(f"{moved} find another amount, which is neither better nor worse")
    parts.append(f"{counted['not distinguishable']} cannot tell the runs apart ({NOT_DISTINGUISHABLE})")
    if few := counted["too few"] + counted["none"]:
        parts.append(f"{few} have too few queries or haystacks to show anything")
    return f"{f'Of all {n} comparisons together' if n > 1 else 'Of this one comparison'}, {', '.join(parts)}."


def _differing(settings: Table) -> str:
    keys = [str(row["key"]) for row in settings.rows if row["key"] not in ("name", "git commit")]
    more = f" and {len(keys) - _SHOWN} more" if len(keys) > _SHOWN else ""
    named = f"{len(keys)} {'setting' if len(keys) == 1 else 'settings'} ({', '.join(keys[:_SHOWN])}{more})"
    return f"differ in {named}" if keys else "have the same settings"


def _cost(costs: Table, labels: Sequence[str]) -> str:
    rows = {row["quantity"]: row for row in costs.rows}
    calls, dollars = ([rows[name][side] for side in ("first", "second")] for name in ("calls", "dollars"))
    if calls == [0, 0]:
        return "neither called a chat model"
    if unknown := [label for label, usd in zip(labels, dollars, strict=True) if usd is None]:
        return f"it is not known what {' and '.join(unknown)} cost"
    first, second = (f"${usd:,.4f}" for usd in dollars)
    return f"{labels[0]} cost {first} and {labels[1]} {second}"


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
    return Table("settings", columns, [*setting_rows(first, second)], "Settings that differ", key=["key"])


def setting_rows(first: object, second: object, place: str = "") -> Iterator[dict[str, Value]]:
    """Yield the key and both values of each leaf that differs; null: the side does not have the key."""
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        for key in dict.fromkeys([*first, *second]):
            inner = f"{place}.{key}" if place else str(key)
            yield from setting_rows(first.get(key, _MISSING), second.get(key, _MISSING), inner)
    elif isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        for number, (one, other) in enumerate(zip(first, second, strict=True)):
            yield from setting_rows(one, other, f"{place}.{number}")
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
    return None if (value := spend.get(key)) is None else float(value)


def _cost_row(name: str, first: float | None, second: float | None) -> dict[str, Value]:
    return {
        "quantity": name,
        "unit": "usd" if name == "dollars" else "count",
        "first": first,
        "second": second,
        "difference": None if first is None or second is None else second - first,
        "aside": "0 in both" if first == second == 0 else None,
    }
