"""
Systems whose summaries do not depend on the order of documents.

Their rows for several orders would repeat one row, a sensitivity of 0 would be no finding, and a curve over places
would show the collection and not the system. One of their orders stands for all, and a report says so once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from longform.axes import Axes
from longform.results.aggregate import SummaryInfo
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


def order_dependence(infos: Collection[SummaryInfo], declared: Collection[str]) -> OrderDependence:
    """
    Find systems of *infos* that write the same for every order; *declared* names summarizers that say so of themselves.

    If several orders were run, their texts decide, and not the declaration.
    """
    independent: dict[Varied, tuple[str, tuple[str, ...]]] = {}
    idle: set[str] = set()
    for varied, by_order in _by_system(infos).items():
        orders = tuple(dict.fromkeys(order for order, _ in by_order))
        if len(by_order) > 1 and _identical(by_order):
            kept = _representative(by_order)
            independent[varied] = (IDENTICAL, orders)
            idle |= {info.summary_id for key, own in by_order.items() if key != kept for info in own}
        elif len(by_order) == 1 and varied.summarizer in declared:
            independent[varied] = (DECLARED, orders)
    return OrderDependence(independent, frozenset(idle))


_Order = tuple[str, int | None]
"""An order, and which permutation."""


def varied(info: SummaryInfo) -> Varied | None:
    """The system of a summary without its order; None if it is not known."""
    if info.axes is None or info.axes.order is None:
        return None
    return Varied(info.dataset, info.summarizer, info.axes.unordered)


def _by_system(infos: Collection[SummaryInfo]) -> dict[Varied, dict[_Order, list[SummaryInfo]]]:
    found: dict[Varied, dict[_Order, list[SummaryInfo]]] = {}
    for info in infos:
        key = varied(info)
        if key is not None and info.axes is not None and info.axes.order is not None:
            found.setdefault(key, {}).setdefault((info.axes.order, info.axes.permutation), []).append(info)
    return found


def _identical(by_order: Mapping[_Order, Collection[SummaryInfo]]) -> bool:
    """Return whether every query has the same text in every order; a failed summary is like no other."""
    texts: dict[str, set[str | None]] = {}
    for own in by_order.values():
        for info in own:
            texts.setdefault(info.query_id, set()).add(info.text_key)
    each_has_all = len({frozenset(info.query_id for info in own) for own in by_order.values()}) == 1
    return each_has_all and all(len(keys) == 1 and None not in keys for keys in texts.values())


def _representative(by_order: Mapping[_Order, object]) -> _Order:
    for order in _PREFERRED:
        if (order, None) in by_order:
            return order, None
    return next(iter(by_order))


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
