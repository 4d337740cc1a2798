"""Tables of faithfulness by the number of documents and by tokens, with their curves by place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from longform.studies.faithfulness_columns import APART, KEY, NAMED_BY, NO_SCORE, SETTING, Row, flat, nothing_there
from longform.tables.table import Axes, Column, Table


def lengths(systems: Sequence[Row]) -> Iterator[Table]:
    """Yield faithfulness by the number of documents, and by the tokens that whole documents fit, with their curves."""
    for unit, name, title in (
        ("documents", "faithfulness_lengths", "Faithfulness by the number of documents"),
        ("tokens", "faithfulness_lengths_tokens", "Faithfulness by the tokens of whole documents"),
    ):
        own = [row for row in systems if row.get("unit", "documents") == unit]
        yield _by_length(own, unit, name, title)
        yield _by_place_and_length(own, unit, name)


LENGTH = ("n_documents", "fewest", "most", "length_tokens")


def _by_length(systems: Sequence[Row], unit: str, name: str, title: str) -> Table:
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
    in_tokens = unit == "tokens"
    return Table(
        name,
        [
            *NAMED_BY,
            *_columns_of_length(in_tokens=in_tokens),
            Column("faithfulness", "points", unknown=NO_SCORE),
            Column("has_curve", "count", told="1: places are known", shown=False),
        ],
        (),
        title=title,
        told="Each summary is judged against exactly the documents it was given.",
        key=(*KEY, "length_tokens" if in_tokens else "n_documents"),
        plot=Axes(
            "line",
            "length_tokens" if in_tokens else "n_documents",
            "faithfulness",
            by="summarizer, setting",
            apart=("judge",),
            panels="dataset",
        ),
        apart=APART,
        across="" if in_tokens else "n_documents",
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


def _by_place_and_length(systems: Sequence[Row], unit: str, name: str) -> Table:
    rows = [
        {**flat(row), **{one: point.get(one) for one in LENGTH}, "place": place, "value": estimate}
        for row in systems
        for point in row["lengths"]
        for place, estimate in enumerate(point["curve"] or [], start=1)
    ]
    in_tokens = unit == "tokens"
    return Table(
        f"{name}_curves",
        [
            *NAMED_BY,
            *_columns_of_length(in_tokens=in_tokens),
            Column("place", "count"),
            Column("value", "points", "faithfulness", unknown="no such place"),
        ],
        (),
        told="Faithfulness by place and length.",
        key=(*KEY, "length_tokens" if in_tokens else "n_documents", "place"),
        reasons=nothing_there(rows),
        apart=APART,
        across="place",
        section=name,
    ).having(rows)
