"""
Systems whose summaries do not depend on the order of documents.

Their rows for several orders would repeat one row, a sensitivity of 0 would be no finding, and a curve over places
would show the collection and not the system. One of their orders stands for all, and a report says so once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from longform.axes import SystemAxes
from longform.evidence.scan import pl
from longform.tables.table import DATASET, SYSTEM, Column, Table

DECLARED, IDENTICAL = "declared", "identical"
_ONE_ORDER = "one order was run, and nothing is shown by the places of documents"
_SYSTEM = ["dataset", "summarizer", *(name for name in SystemAxes._fields if name not in ("order", "permutation"))]


def with_dependence(summaries: pl.DataFrame, declared: Collection[str]) -> pl.DataFrame:
    """
    Return *summaries* with `why` they are known not to depend on the order, and whether they are `idle`.

    *declared* names summarizers that say so of themselves. If several orders were run, their texts decide, and not the
    declaration: systems that write the same for every order are identical. An idle summary repeats one of the order
    that stands for all. A failed summary is like no other.
    """
    order, text = pl.struct("order", "permutation"), pl.col("text_key")
    n_orders = order.n_unique().over(_SYSTEM)
    drawn = pl.col("permutation").is_not_null()
    rank = pl.when(drawn).then(2).when(pl.col("order") == "given").then(0).when(pl.col("order") == "random").then(1)
    query = [*_SYSTEM, "query_id"]
    same = (text.n_unique().over(query) == 1) & (text.null_count().over(query) == 0)
    alike = (same & (order.n_unique().over(query) == n_orders)).all().over(_SYSTEM)
    why = (
        pl.when(pl.any_horizontal(pl.col("retriever", "order").is_null()))
        .then(None)
        .when((n_orders > 1) & alike)
        .then(pl.lit(IDENTICAL))
        .when((n_orders == 1) & pl.col("summarizer").is_in(list(declared)))
        .then(pl.lit(DECLARED))
    )
    idle = (pl.col("why") == IDENTICAL) & order.ne_missing(
        order.sort_by(rank.otherwise(2), maintain_order=True).first().over(_SYSTEM)
    )
    return summaries.with_columns(why=why).with_columns(idle=idle.fill_null(value=False))


def independent_systems(summaries: pl.DataFrame) -> list[dict[str, Any]]:
    """Return a row for each system of *summaries*, by `with_dependence`, that no order moves."""
    known = summaries.drop_nulls("why").group_by(_SYSTEM, maintain_order=True)
    rows = known.agg(pl.col("why").first(), pl.col("order").unique(maintain_order=True).alias("orders"))
    return [
        {
            "summarizer": row["summarizer"],
            "setting": SystemAxes(**{name: row[name] for name in SystemAxes._fields if name in row}).words(
                with_budget=row["budget_tokens"] is not None
            ),
            **{name: row[name] for name in ("dataset", "why", "orders")},
        }
        for row in rows.iter_rows(named=True)
    ]


def order_table(rows: Sequence[Mapping[str, Any]], *, by_place: bool) -> Table:
    """
    Return the systems that no order of the documents moves as a table.

    Curves over the places of documents are shown *by_place*: those of one order are of interest then, too.
    """
    return Table(
        "order_independent",
        [
            DATASET,
            *SYSTEM[:2],
            Column("why", told="identical: its summaries are the same in every order that was run; declared: the "
                   "summarizer says so of itself"),
            Column("orders"),
            Column("aside", shown=False),
        ],
        [{**row, "aside": None if by_place or row["why"] == IDENTICAL else _ONE_ORDER} for row in rows],
        title="Systems that no order of the documents moves",
        told="No orders and no places in the prompt are compared for these.",
        key=["dataset", "summarizer", "setting"],
        page="position",
        aside="aside",
    )  # fmt: skip
