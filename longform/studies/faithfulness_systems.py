"""Tables of faithfulness by order, over drawn orders, by length, and of methods against the plain one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from longform.metrics.paired_differences import ALPHA
from longform.results.differences import NOT_DISTINGUISHABLE
from longform.studies.sensitivity import finding, sensitivity_columns
from longform.tables.table import AXES, DATASET, JUDGE, SYSTEM, Axes, Column, Table

Row = Mapping[str, Any]
TOP = "faithfulness"
CURVES = "faithfulness_curves"
NO_SCORE = "no sentence could be scored"
NOTHING_THERE = "no sentence is attributed to this place"
SHORTER = "prompts of this system are shorter"
NAMED_BY = (DATASET, *SYSTEM[:2], JUDGE)
SETTING = (*AXES, Column("order", shown=False))
KEY = ("judge", "dataset", "setting", "summarizer")
APART = ("judge", "dataset")
ORDERS = ("given", "top", "middle", "bottom", "random")
_NOT_IN_BOTH = "no query has a score in both"
_UNBOUNDED = "so few queries bound no difference"
LENGTH = ("n_documents", "fewest", "most", "length_tokens")


def flat(row: Row) -> dict[str, Any]:
    """Return the columns that name a row, those of its setting each by itself."""
    names = {name: row.get(name) for name in ("judge", "dataset", "summarizer", "setting")}
    axes = row.get("axes") or {}
    return {**names, **{column.name: axes.get(column.name) for column in SETTING}}


def nothing_there(rows: Sequence[Row]) -> list[dict[str, str]]:
    """Return the reason of each value that is unknown because no sentence stands at its place."""
    return [{} if row["value"] and row["value"]["value"] is not None else {"value": NOTHING_THERE} for row in rows]


def against_told(families: Sequence[Row]) -> Iterator[str]:
    """Yield a paragraph for each judge and data set: what each method and order does to faithfulness."""
    several = len({family.get("dataset") for family in families}) > 1
    for family in families:
        dataset = f"Data set {family.get('dataset') or 'not stated'}. " if several else ""
        yield f"{dataset}Judge {family['judge']}. {_found_in(family)}"


def _found_in(family: Row) -> str:
    findings = Counter(row["finding"] for row in family["rows"])
    n = len(family["rows"])
    lead = f"Methods and orders against the plain one, {n} {'pair' if n == 1 else 'pairs'}: "
    counted = "; ".join(f"{times} {words}" for words, times in findings.most_common())
    named = [f"{words} than it: {'; '.join(_names(family, words))}" for words in ("better", "worse") if findings[words]]
    alike = _names(family, NOT_DISTINGUISHABLE)
    parts = [*named, *([f"{NOT_DISTINGUISHABLE} from it: {'; '.join(alike)}"] if alike and named else [])]
    return f"{lead}{counted}. {' '.join(f'{part[0].upper()}{part[1:]}.' for part in parts)}".rstrip()


def _names(family: Row, words: str) -> list[str]:
    return [f"{row['summarizer']}, {row['setting']}" for row in family["rows"] if row["finding"] == words]


def against(families: Sequence[Row]) -> Table:
    changes = " or ".join(f"{n:,}" for n in dict.fromkeys(family["n_sign_changes"] for family in families))
    columns = [
        *NAMED_BY,
        Column("plain"),
        Column("order", shown=False),
        Column("method", shown=False),
        Column("score", "points", unknown=NO_SCORE),
        Column("plain_score", "points", "plain's score", unknown=NO_SCORE),
        Column("difference", "difference", told="over the queries that both have", unknown=_NOT_IN_BOTH),
        Column(
            "low",
            "difference",
            "at least",
            "the lower end of an interval at the level at which Holm's procedure tests the row; it excludes 0 "
            f"exactly if p is at most {ALPHA:.2f}",
            unknown=_UNBOUNDED,
        ),
        Column("high", "difference", "at most", "its upper end", unknown=_UNBOUNDED),
        Column("p", "p", "p by itself", "the same, adjusted for nothing", shown=False, unknown=_NOT_IN_BOTH),
        Column(
            "p_holm",
            "p",
            "p",
            f"two-sided, by {changes} changes of sign of the queries' differences, adjusted for the rows of this table "
            "(Holm)",
            unknown=_NOT_IN_BOTH,
        ),
        Column("n_queries", "count", "queries"),
        Column("finding"),
        Column("n_sign_changes", "count", shown=False),
    ]
    common = ("judge", "dataset", "n_sign_changes")
    rows = [{**row, **{name: family.get(name) for name in common}} for family in families for row in family["rows"]]
    return Table(
        "faithfulness_against_plain",
        columns,
        (),
        told="Faithfulness of each method and order less that of the plain method with the documents as given.",
        key=KEY,
        apart=APART,
        section=TOP,
    ).having(rows)


def orders(systems: Sequence[Row]) -> Table:
    run = [order for order in ORDERS if any(order in row for row in systems)]
    moved = ("sensitivity", "chance", "chance_high", "p", "p_holm", "n_independent")
    rows = [
        {
            **flat(row),
            **{name: row.get(name) for name in moved},
            "finding": finding(row),
            "order": order,
            "faithfulness": row.get(order),
        }
        for row in systems
        for order in run
    ]
    return Table(
        "faithfulness_orders",
        [
            *NAMED_BY,
            *AXES,
            Column("order", title="where important documents stand"),
            Column("faithfulness", "points", "mean probability", unknown=NO_SCORE),
            *sensitivity_columns("largest less smallest of the row"),
        ],
        (),
        told="Mean probability of support by where important documents stand.",
        key=(*KEY, "order"),
        reasons=[{"faithfulness": "not run"} if row["faithfulness"] is None else {} for row in rows],
        apart=APART,
        across="order",
        section=TOP,
    ).having(rows)


def permutations(drawn: Sequence[Row]) -> Table:
    columns = [
        *NAMED_BY,
        *SETTING,
        Column("calibrated", "points", "mean", "with its interval over orders", unknown=NO_SCORE),
        Column("n_orders", "count", "orders"),
        Column("lowest", "points", unknown=NO_SCORE),
        Column("highest", "points", unknown=NO_SCORE),
        Column("narrow", "count", told="true if the interval is as narrow as asked for", shown=False),
        Column("stopped", title="why so many"),
    ]
    names = ("calibrated", "n_orders", "lowest", "highest", "narrow", "stopped")
    return Table(
        "faithfulness_permutations",
        columns,
        (),
        told="Mean probability of support over drawn orders.",
        key=KEY,
        apart=APART,
        section=TOP,
    ).having({**flat(row), **{name: row[name] for name in names}} for row in drawn)


def lengths(systems: Sequence[Row]) -> Iterator[Table]:
    """Yield faithfulness by the number of documents, and by the tokens that whole documents fit, with their curves."""
    for unit, length, name, title in (
        ("documents", "n_documents", "faithfulness_lengths", "Faithfulness by the number of documents"),
        ("tokens", "length_tokens", "faithfulness_lengths_tokens", "Faithfulness by the tokens of whole documents"),
    ):
        own = [row for row in systems if row.get("unit", "documents") == unit]
        yield _by_length(own, length, name, title)
        yield _by_place_and_length(own, length, name)


def _by_length(systems: Sequence[Row], length: str, name: str, title: str) -> Table:
    rows = [
        {
            **flat(row),
            **{one: point.get(one) for one in LENGTH},
            "faithfulness": point["faithfulness"],
            "has_curve": int(point["curve"] is not None),
        }
        for row in systems
        for point in row["lengths"]
    ]
    return Table(
        name,
        [
            *NAMED_BY,
            *_columns_of_length(in_tokens=length == "length_tokens"),
            Column("faithfulness", "points", unknown=NO_SCORE),
            Column("has_curve", "count", told="1: places are known", shown=False),
        ],
        (),
        title=title,
        told="Each summary is judged against exactly the documents it was given.",
        key=(*KEY, length),
        plot=Axes("line", length, "faithfulness", by="summarizer, setting", apart=("judge",), panels="dataset"),
        apart=APART,
        across="n_documents" if length == "n_documents" else "",
        page="position",
    ).having(rows)


def _columns_of_length(*, in_tokens: bool) -> list[Column]:
    setting = [column for column in SETTING if column.name not in LENGTH]
    if not in_tokens:
        hidden = [Column(one, "count", shown=False) for one in ("fewest", "most", "length_tokens")]
        return [*setting, *hidden, Column("n_documents", "count", "documents")]
    return [
        *setting,
        Column("length_tokens", "count", "tokens", "the budget, filled with whole documents in order while they fit"),
        Column("n_documents", "number", "documents", "those that did; the mean over prompts"),
        Column("fewest", "count", "fewest documents", "of any prompt"),
        Column("most", "count", "most documents", "of any prompt"),
    ]


def _by_place_and_length(systems: Sequence[Row], length: str, name: str) -> Table:
    rows = [
        {**flat(row), **{one: point.get(one) for one in LENGTH}, "place": place, "value": estimate}
        for row in systems
        for point in row["lengths"]
        for place, estimate in enumerate(point["curve"] or [], start=1)
    ]
    return Table(
        f"{name}_curves",
        [
            *NAMED_BY,
            *_columns_of_length(in_tokens=length == "length_tokens"),
            Column("place", "count"),
            Column("value", "points", "faithfulness", unknown="no such place"),
        ],
        (),
        told="Faithfulness by place and length.",
        key=(*KEY, length, "place"),
        reasons=nothing_there(rows),
        apart=APART,
        across="place",
        section=name,
    ).having(rows)
