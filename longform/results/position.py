"""Joint score by where the relevant documents stood in the prompt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, NotRequired, TypedDict

import numpy as np

from longform.axes import Axes, names
from longform.metrics.order_sensitivity import (
    SensitivityColumns,
    largest_from_first,
    order_sensitivity,
    with_holm,
)
from longform.metrics.statistics import ratio
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
from longform.results.columns import AxesColumns, OfJudge, TwinColumns, axes_columns
from longform.results.evidence import Evidence, rows_of
from longform.settings.readings import Fidelity

MEASURE = "joint"
_ORDERS = ("given", "random", "top", "middle", "bottom")
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


class _ByOrder(TypedDict):
    """The score in each order; None if it was not run, or has no value."""

    given: float | None
    random: float | None
    top: float | None
    middle: float | None
    bottom: float | None
    reference: str  # the order that others are compared with
    compared: list[str]  # those others
    intervals: NotRequired[dict[str, list[float | None]]]  # order -> bounds over clusters; absent from older results


class _Sensitive(_ByOrder, SensitivityColumns):
    pass


class PositionRow(_Sensitive, OfJudge, TwinColumns):
    """A system without its order."""

    summarizer: str
    system: str
    axes: AxesColumns
    measure: str
    cut_share: float | None
    in_sample: list[str]


def position(evidence: Evidence) -> list[PositionRow]:
    """Return the rows of every judge and data set."""
    _, seed, resamples = evidence.averaging
    rule = RULES[evidence.sensitivity]
    return rows_of(
        evidence,
        [MEASURE],
        lambda own: positions(own.summaries, judge=own.judge, seed=seed, resamples=resamples, rule=rule),
    )


def positions(
    summaries: Group, *, judge: str | None, seed: int, resamples: int, rule: Rule = RULES["ours"]
) -> list[PositionRow]:
    """
    Joint score by where the relevant documents stood, and its sensitivity (SummHay, section 5.4, table 3).

    Sensitivity is the largest absolute difference of the orders that *rule* compares from its reference. It cannot be
    negative, so that an interval would never reach 0: `chance` and `p` are of the same statistic when orders are
    exchanged within clusters.
    """
    grouped: dict[tuple[str, Axes], dict[str, list[Scored]]] = {}
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
    rows: list[PositionRow] = [
        {
            **_position_row(orders, rule, seed=seed, resamples=resamples),
            "summarizer": summarizer,
            "system": words[axes],
            "axes": axes_columns(axes),
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


def _position_row(orders: Mapping[str, Group], rule: Rule, *, seed: int, resamples: int) -> _Sensitive:
    reference = next(order for order in rule.references if order in orders)
    others = [order for order in rule.compared if order in orders]
    shown = [order for order in _ORDERS if order in orders]
    clusters = sorted({s.info.cluster for group in orders.values() for s in group})
    sums = np.stack([cluster_totals(orders[order], clusters, MEASURE) for order in shown], axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = 100 * ratio(sums.sum(axis=0))
    compared = [shown.index(order) for order in (reference, *others)]
    found = order_sensitivity(sums[:, compared], largest_from_first, seed=seed, resamples=resamples)
    values = {order: None if np.isnan(mean) else float(mean) for order, mean in zip(shown, means, strict=True)}
    return {
        "given": values.get("given"),
        "random": values.get("random"),
        "top": values.get("top"),
        "middle": values.get("middle"),
        "bottom": values.get("bottom"),
        "reference": reference,
        "compared": others,
        "intervals": {order: _interval(orders[order], Averaging("pooled", seed, resamples)) for order in shown},
        **found.as_json(),
    }


def _interval(group: Group, how: Averaging) -> list[float | None]:
    found = estimate(group, MEASURE, how).scaled(100)
    return [found.low, found.high]
