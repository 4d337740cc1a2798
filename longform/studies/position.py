"""Joint score by where the relevant documents stood in the prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from longform.axes import SystemAxes, names
from longform.evidence.scan import pl
from longform.evidence.scores import final, means, with_facts
from longform.metrics.order_sensitivity import largest_from_first, order_sensitivity, with_holm
from longform.metrics.statistics import ratio
from longform.results.aggregate import Averaging, marks_of, mean_of, sums_of
from longform.results.evidence import Evidence, rows_of
from longform.settings.readings import Fidelity
from longform.studies.sensitivity import finding, sensitivity_columns
from longform.tables.table import AXES, CUT, NAMED, Axes, Column, Table

MEASURE = "joint"
PLACES = ("top", "middle", "bottom")
ORDERS = (*PLACES, "given", "random")
_ENDS = ("top", "bottom")


RULES: Mapping[Fidelity, tuple[Sequence[str], Sequence[str]]] = {
    "ours": (("random", "given"), _ENDS),
    "release": (("given", "random"), PLACES),
    "paper": (("given", "random"), _ENDS),
}
"""
Fidelity -> the orders that may stand for SummHay's "Random", the preferred one first, and those whose distance from it
counts, if they were run. SummHay's own "Random" is the order given, and its notebook compares the middle, too.
"""
_OF_SYSTEM = ["summarizer", *(name for name in SystemAxes._fields if name not in ("order", "permutation"))]


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
        made = partial(positions, seed=seed, resamples=resamples, rule=RULES[evidence.sensitivity])
        rows = rows_of(evidence, [MEASURE], lambda own: made(own.scores, own.facts, judge=own.judge))
        return table(rows) if rows else None


def table(rows: Sequence[Row]) -> Table:
    """Return a row for each system and order; *rows* are systems, whose `scores` have the orders that were run."""
    orders = [order for order in ORDERS if any(row["scores"].get(order) is not None for row in rows)]
    compared = {(tuple(row["compared"]), row["reference"]) for row in rows}
    rule = "; or ".join(
        f"largest distance of {', '.join(others[:-1])} and {others[-1]} from {_REFERENCES[reference]}"
        for others, reference in sorted(compared)
    )
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
        [
            *_COLUMNS,
            *sensitivity_columns(f"{rule}, in points"),
            Column("reference", told="the order that others are compared with", shown=False),
            Column("compared", told="those others", shown=False),
            CUT,
        ],
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
    scores: pl.DataFrame,
    facts: pl.DataFrame,
    *,
    judge: str | None,
    seed: int,
    resamples: int,
    rule: tuple[Sequence[str], Sequence[str]] = RULES["ours"],
) -> list[Row]:
    """
    Return a row for each system without its order: `scores` by order, and the columns of the sensitivity.

    Joint score by where the relevant documents stood, and its sensitivity (SummHay, section 5.4, table 3). Systems that
    ran both ends and a reference have a row.

    Sensitivity is the largest absolute difference of the orders that *rule* compares from its reference. It cannot be
    negative, so that an interval would never reach 0: `chance` and `p` are of the same statistic when orders are
    exchanged within clusters.
    """
    joint = means(scores.filter(pl.col("measure") == MEASURE))
    asked = [pl.col("order").is_in(orders).any().over(_OF_SYSTEM) for orders in (["top"], ["bottom"], rule[0])]
    compared = final(facts).drop_nulls(["order", "retriever"]).filter(*asked)
    groups = compared.partition_by(_OF_SYSTEM, maintain_order=True)
    axes = [SystemAxes(**{name: group[name][0] for name in _OF_SYSTEM[1:]}) for group in groups]
    words = names(axes)
    rows: list[Any] = [
        {
            **_position_row(group, joint, rule, seed=seed, resamples=resamples),
            "summarizer": group["summarizer"][0],
            "setting": words[own],
            **{name: value for name, value in own._asdict().items() if name != "order"},
            "judge": judge,
            "dataset": group["dataset"][0],
            "measure": MEASURE,
            **marks_of(group),
            "cut_share": group["cut_share"].mean(),
            "in_sample": [],
        }
        for own, group in zip(axes, groups, strict=True)
    ]
    return with_holm(sorted(rows, key=lambda row: (row["summarizer"], row["setting"])))


def _position_row(
    group: pl.DataFrame, joint: pl.DataFrame, rule: tuple[Sequence[str], Sequence[str]], *, seed: int, resamples: int
) -> Row:
    orders = {own["order"][0]: own for own in group.partition_by("order", maintain_order=True)}
    reference, *_ = (order for order in rule[0] if order in orders)
    others = [order for order in rule[1] if order in orders]
    scored = {order: with_facts(joint, orders[order]) for order in ORDERS if order in orders}
    clusters = sorted({*group["cluster"]})
    sums = np.stack([sums_of(own, clusters) for own in scored.values()], axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = 100 * ratio(sums.sum(axis=0))
    compared = [[*scored].index(order) for order in (reference, *others)]
    moved = order_sensitivity(sums[:, compared], largest_from_first, seed=seed, resamples=resamples)
    values = {order: None if np.isnan(mean) else float(mean) for order, mean in zip(scored, shares, strict=True)}
    how = Averaging("pooled", seed, resamples)
    scores = {order: mean_of(own, how).scaled(100)._replace(value=values[order]) for order, own in scored.items()}
    return {"scores": scores, "reference": reference, "compared": others, **moved}
