"""
Systems whose summaries do not depend on the order of documents.

Their rows for several orders would repeat one row, a sensitivity of 0 would be no finding, and a curve over places
would show the collection and not the system. One of their orders stands for all, and a report says so once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from longform.axes import Axes
from longform.evidence.scan import pl
from longform.tables.names import DATASET, SYSTEM
from longform.tables.table import Column, Table

NAME = "order_independent"
DECLARED, IDENTICAL = "declared", "identical"
_ONE_ORDER = "one order was run, and nothing is shown by the places of documents"
_PREFERRED = ("given", "random")


class Varied(NamedTuple):
    """A system without its order, on one data set."""

    dataset: str | None
    summarizer: str
    axes: Axes


class OrderDependence(NamedTuple):
    """
    Attributes:
        independent: System -> why it is known not to depend on the order, and the orders that were run.
        idle: Ids of summaries that repeat the one that stands for all orders.
    """

    independent: Mapping[Varied, tuple[str, tuple[str, ...]]]
    idle: frozenset[str]

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each system."""
        return [
            {
                "summarizer": varied.summarizer,
                "setting": varied.axes.words(with_budget=varied.axes.budget_tokens is not None),
                "dataset": varied.dataset,
                "why": why,
                "orders": list(orders),
            }
            for varied, (why, orders) in self.independent.items()
        ]


def order_dependence(summaries: pl.DataFrame, declared: Collection[str]) -> OrderDependence:
    """
    Find systems that write the same for every order; *declared* names summarizers that say so of themselves.

    If several orders were run, their texts decide, and not the declaration.
    """
    independent: dict[Varied, tuple[str, tuple[str, ...]]] = {}
    idle: set[str] = set()
    for own in summaries.drop_nulls(["retriever", "order"]).partition_by(_UNORDERED, maintain_order=True):
        system, by_order = (
            varied(own.row(0, named=True)),
            own.select("order", "permutation").unique(maintain_order=True),
        )
        assert system is not None, "its order is known"
        orders = tuple(by_order["order"].unique(maintain_order=True))
        if len(by_order) > 1 and _identical(own):
            independent[system] = (IDENTICAL, orders)
            idle.update(
                own.join(_representative(by_order), on=by_order.columns, how="anti", nulls_equal=True)["summary_id"]
            )
        elif len(by_order) == 1 and system.summarizer in declared:
            independent[system] = (DECLARED, orders)
    return OrderDependence(independent, frozenset(idle))


_UNORDERED = ["dataset", "summarizer", *(name for name in Axes._fields if name not in ("order", "permutation"))]


def varied(facts: Mapping[str, Any]) -> Varied | None:
    """The system of a summary, of which these are the columns, without its order; None if that is not known."""
    if facts["retriever"] is None or facts["order"] is None:
        return None
    axes = Axes(**{name: facts[name] for name in Axes._fields})
    return Varied(facts["dataset"], facts["summarizer"], axes.unordered)


def _identical(own: pl.DataFrame) -> bool:
    """Return whether every query has the same text in every order; a failed summary is like no other."""
    order, text = pl.struct("order", "permutation"), pl.col("text_key")
    same = (text.n_unique() == 1) & (text.null_count() == 0)
    of_query = own.group_by("query_id").agg(same=same, n_orders=order.n_unique())
    return bool(of_query["same"].all() and (of_query["n_orders"] == own.select(order.n_unique()).item()).all())


def _representative(by_order: pl.DataFrame) -> pl.DataFrame:
    """Return the order that stands for all."""
    for order in _PREFERRED:
        if len(found := by_order.filter(pl.col("order") == order, pl.col("permutation").is_null())):
            return found
    return by_order.head(1)


def order_table(rows: Sequence[Mapping[str, Any]], *, by_place: bool) -> Table:
    """
    Return the systems that no order of the documents moves as a table.

    Args:
        rows: The systems.
        by_place: Whether curves over the places of documents are shown: those of one order are of interest then, too.
    """
    asides = [None if row["why"] == IDENTICAL or by_place else _ONE_ORDER for row in rows]
    return Table(
        NAME,
        [
            DATASET,
            *SYSTEM[:2],
            Column("why", told="identical: its summaries are the same in every order that was run; declared: the "
                   "summarizer says so of itself"),
            Column("orders"),
            Column("aside", shown=False),
        ],
        [{**row, "aside": aside} for row, aside in zip(rows, asides, strict=True)],
        title="Systems that no order of the documents moves",
        told="No orders and no places in the prompt are compared for these.",
        key=["dataset", "summarizer", "setting"],
        page="position",
        aside="aside",
    )  # fmt: skip
