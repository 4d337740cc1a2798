"""Joint score by where the relevant documents stood in the prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from longform.axes import Axes as SystemAxes
from longform.axes import names
from longform.evidence.scan import pl
from longform.evidence.scores import final, means, with_facts
from longform.metrics.order_sensitivity import largest_from_first, order_sensitivity, with_holm
from longform.metrics.statistics import ratio
from longform.results.aggregate import Averaging, marks_of, mean_of, sums_of
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
            if own.facts["order"].n_unique() < len(_ENDS):
                return []
            return positions(own.scores, own.facts, judge=own.judge, seed=seed, resamples=resamples, rule=rule)

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
    scores: pl.DataFrame,
    facts: pl.DataFrame,
    *,
    judge: str | None,
    seed: int,
    resamples: int,
    rule: Rule = RULES["ours"],
) -> list[Row]:
    """
    Return a row for each system without its order: `scores` by order, and the columns of the sensitivity.

    Joint score by where the relevant documents stood, and its sensitivity (SummHay, section 5.4, table 3).

    Sensitivity is the largest absolute difference of the orders that *rule* compares from its reference. It cannot be
    negative, so that an interval would never reach 0: `chance` and `p` are of the same statistic when orders are
    exchanged within clusters.
    """
    compared = _compared(facts)
    joint = means(scores.filter(pl.col("measure") == MEASURE))
    words = names(axes for _, axes in compared)
    rows: list[Any] = [
        {
            **_position_row(group, joint, rule, seed=seed, resamples=resamples),
            "summarizer": summarizer,
            "setting": words[axes],
            **{name: value for name, value in axes._asdict().items() if name != "order"},
            "judge": judge,
            "dataset": group["dataset"][0],
            "measure": MEASURE,
            **marks_of(group),
            "cut_share": group["cut_share"].mean(),
            "in_sample": [],
        }
        for (summarizer, axes), group in sorted(compared.items(), key=lambda item: (item[0][0], words[item[0][1]]))
    ]
    return with_holm(rows)


def _compared(facts: pl.DataFrame) -> dict[tuple[str, SystemAxes], pl.DataFrame]:
    """Return the summaries of each system without its order that ran both ends and a reference."""
    ordered = final(facts).filter(pl.col("order").is_not_null(), pl.col("retriever").is_not_null())
    own = [name for name in SystemAxes._fields if name not in ("order", "permutation")]
    found = ordered.partition_by("summarizer", *own, as_dict=True, maintain_order=True)
    return {
        (str(summarizer), SystemAxes(**dict(zip(own, axes, strict=True)))): group
        for (summarizer, *axes), group in found.items()
        if (orders := {*group["order"]}) >= {*_ENDS} and orders & {"random", "given"}
    }


def _position_row(group: pl.DataFrame, joint: pl.DataFrame, rule: Rule, *, seed: int, resamples: int) -> Row:
    parts = group.partition_by("order", as_dict=True, maintain_order=True).items()
    orders = {str(order): own for (order,), own in parts}
    reference = next(order for order in rule.references if order in orders)
    others = [order for order in rule.compared if order in orders]
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
