"""Joint score by where the relevant documents stood in the prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from longform.axes import Axes as SystemAxes
from longform.axes import names
from longform.metrics.order_sensitivity import (
    largest_from_first,
    order_sensitivity,
    with_holm,
)
from longform.metrics.statistics import Estimate, ratio
from longform.results.aggregate import (
    Averaging,
    Group,
    Scored,
    cluster_totals,
    estimate,
    final_summaries,
    mean_cut_share,
    twin_names,
)
from longform.results.evidence import Evidence, Family, rows_of
from longform.settings.readings import Fidelity
from longform.studies.sensitivity import finding, sensitivity_columns
from longform.tables.names import AXES, CUT, NAMED
from longform.tables.table import Axes, Column, Table

MEASURE = "joint"
PLACES = ("top", "middle", "bottom")
ORDERS = (*PLACES, "given", "random")
_ENDS = ("top", "bottom")


class Rule(NamedTuple):
    """
    A rule of sensitivity.

    Attributes:
        references: The orders that may stand for SummHay's "Random", the preferred one first.
        compared: The orders whose distance from it counts, if they were run.
    """

    references: tuple[str, ...]
    compared: tuple[str, ...]


RULES: Mapping[Fidelity, Rule] = {
    "ours": Rule(("random", "given"), _ENDS),
    "release": Rule(("given", "random"), ("top", "middle", "bottom")),
    "paper": Rule(("given", "random"), _ENDS),
}
"""Fidelity -> rule; SummHay's own "Random" is the order given, and its notebook compares the middle, too."""


_COLUMNS = [
    Column("measure"),
    *NAMED,
    *AXES,
    Column("order", title="where the relevant documents stand"),
    Column("joined", told="orders that a line of the figure joins: those that are places", shown=False),
    Column("score", "points", "score", better="higher", unknown="no summary has a value"),
]
_REFERENCES = {"random": "random order", "given": "the order given (SummHay's Random)"}
_NOT_RUN = "this order was not run"

Row = Mapping[str, Any]


class Position:
    """Joint score in each order of the documents, and its sensitivity to that order."""

    name = "position"
    needs = ("scores", "summaries")
    measures = (MEASURE,)

    def result(self, evidence: Evidence) -> Table | None:
        """Return the rows of every judge and data set; None if no documents were ordered on purpose."""
        _, seed, resamples = evidence.averaging
        rule = RULES[evidence.sensitivity]

        def of_family(own: Family) -> list[Row]:
            return positions(own.summaries, judge=own.judge, seed=seed, resamples=resamples, rule=rule)

        rows = rows_of(evidence, [MEASURE], of_family)
        return table(rows) if rows else None


def table(rows: Sequence[Row]) -> Table:
    """Return a row for each system and order; *rows* are systems, whose `scores` have the orders that were run."""
    orders = [order for order in ORDERS if any(row["scores"].get(order) is not None for row in rows)]
    compared = {(tuple(row["compared"]), row["reference"]) for row in rows}
    rule = "; or ".join(
        f"largest distance of {', '.join(others[:-1])} and {others[-1]} from {_REFERENCES[reference]}"
        for others, reference in sorted(compared)
    )
    last = [
        Column("reference", told="the order that others are compared with", shown=False),
        Column("compared", told="those others", shown=False),
        CUT,
    ]
    long = [
        {
            **{name: value for name, value in row.items() if name != "scores"},
            "order": order,
            "joined": "places" if order in PLACES else order,
            "score": row["scores"].get(order),
            "finding": finding(row),
        }
        for row in rows
        for order in orders
    ]
    return Table(
        "position",
        [*_COLUMNS, *sensitivity_columns(f"{rule}, in points"), *last],
        (),
        title="Position of the relevant documents",
        told="Score from 0 to 100 by where the relevant documents stand in the prompt; higher is better.",
        key=["measure", "dataset", "setting", "judge", "summarizer", "order"],
        reasons=[{"score": _NOT_RUN} if row["score"] is None else {} for row in long],
        plot=Axes(
            "line", "order", "score", by="summarizer, setting", within="joined", apart=["measure", "judge", "dataset"]
        ),
        apart=["measure"],
        across="order",
        page="position",
    ).having(long)


def positions(
    summaries: Group, *, judge: str | None, seed: int, resamples: int, rule: Rule = RULES["ours"]
) -> list[Row]:
    """
    Return a row for each system without its order: `scores` by order, and the columns of the sensitivity.

    Joint score by where the relevant documents stood, and its sensitivity (SummHay, section 5.4, table 3).

    Sensitivity is the largest absolute difference of the orders that *rule* compares from its reference. It cannot be
    negative, so that an interval would never reach 0: `chance` and `p` are of the same statistic when orders are
    exchanged within clusters.
    """
    grouped: dict[tuple[str, SystemAxes], dict[str, list[Scored]]] = {}
    for scored in final_summaries(summaries):
        if scored.info.order is not None and scored.info.axes is not None:
            orders = grouped.setdefault((scored.info.summarizer, scored.info.axes.unordered), {})
            orders.setdefault(scored.info.order, []).append(scored)
    compared = {
        key: orders
        for key, orders in grouped.items()
        if orders.keys() >= set(_ENDS) and orders.keys() & {"random", "given"}
    }
    words = names(axes for _, axes in compared)
    rows: list[Any] = [
        {
            **_position_row(orders, rule, seed=seed, resamples=resamples),
            "summarizer": summarizer,
            "setting": words[axes],
            **{name: value for name, value in axes._asdict().items() if name != "order"},
            "judge": judge,
            "dataset": summaries[0].info.dataset,
            "measure": MEASURE,
            **next(twin_names(group) for group in orders.values()),
            "cut_share": mean_cut_share([scored for group in orders.values() for scored in group]),
            "in_sample": [],
        }
        for (summarizer, axes), orders in sorted(compared.items(), key=lambda item: (item[0][0], words[item[0][1]]))
    ]
    return with_holm(rows)


def _position_row(orders: Mapping[str, Group], rule: Rule, *, seed: int, resamples: int) -> Row:
    reference = next(order for order in rule.references if order in orders)
    others = [order for order in rule.compared if order in orders]
    shown = [order for order in ORDERS if order in orders]
    clusters = sorted({s.info.cluster for group in orders.values() for s in group})
    sums = np.stack([cluster_totals(orders[order], clusters, MEASURE) for order in shown], axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = 100 * ratio(sums.sum(axis=0))
    compared = [shown.index(order) for order in (reference, *others)]
    moved = order_sensitivity(sums[:, compared], largest_from_first, seed=seed, resamples=resamples)
    values = {order: None if np.isnan(mean) else float(mean) for order, mean in zip(shown, means, strict=True)}
    scores = {order: _score(orders[order], values[order], Averaging("pooled", seed, resamples)) for order in shown}
    return {"scores": scores, "reference": reference, "compared": others, **moved}


def _score(group: Group, value: float | None, how: Averaging) -> Estimate:
    return estimate(group, MEASURE, how).scaled(100)._replace(value=value)
