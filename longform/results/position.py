"""Joint score by where the relevant documents stood in the prompt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from longform.axes import Axes, names
from longform.metrics.order_sensitivity import largest_from_first, order_sensitivity, with_holm
from longform.metrics.statistics import ratio
from longform.results.aggregate import Group, Scored, cluster_totals, final_summaries, mean_cut_share, twin_names
from longform.results.evidence import Evidence, rows_of

MEASURE = "joint"
_ORDERS = ("given", "random", "top", "middle", "bottom")


def position(evidence: Evidence) -> list[dict[str, Any]]:
    """Return the rows of every judge and data set."""
    resampled = {"seed": evidence.averaging.seed, "resamples": evidence.averaging.resamples}
    return rows_of(evidence, [MEASURE], lambda own: positions(own.summaries, judge=own.judge, **resampled))


def positions(summaries: Group, *, judge: str | None, seed: int, resamples: int) -> list[dict[str, Any]]:
    """
    Joint score by where the relevant documents stood, and its sensitivity (SummHay, section 5.4, table 3).

    Sensitivity is the largest absolute difference of top and bottom from random order; where no random order was
    run, from the order given (the paper's own Random is the order given). It cannot be negative, so that an interval
    would never reach 0: `chance` and `p` are of the same statistic when orders are exchanged within clusters.
    """
    grouped: dict[tuple[str, Axes], dict[str, list[Scored]]] = {}
    for scored in final_summaries(summaries):
        if scored.info.order is not None and scored.info.axes is not None:
            orders = grouped.setdefault((scored.info.summarizer, scored.info.axes.unordered), {})
            orders.setdefault(scored.info.order, []).append(scored)
    compared = {
        key: orders
        for key, orders in grouped.items()
        if {"top", "bottom"} <= orders.keys() and orders.keys() & {"random", "given"}
    }
    words = names(axes for _, axes in compared)
    rows = [
        _position_row(orders, seed=seed, resamples=resamples)
        | {"summarizer": summarizer, "system": words[axes], "axes": axes._asdict(), "judge": judge, "measure": MEASURE}
        | next(twin_names(group) for group in orders.values())
        | {"cut_share": mean_cut_share([scored for group in orders.values() for scored in group])}
        for (summarizer, axes), orders in sorted(compared.items(), key=lambda item: (item[0][0], words[item[0][1]]))
    ]
    return with_holm(rows)


def _position_row(orders: Mapping[str, Group], *, seed: int, resamples: int) -> dict[str, Any]:
    reference = "random" if "random" in orders else "given"
    shown = [order for order in _ORDERS if order in orders]
    clusters = sorted({s.info.cluster for group in orders.values() for s in group})
    sums = np.stack([cluster_totals(orders[order], clusters, MEASURE) for order in shown], axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = 100 * ratio(sums.sum(axis=0))
    compared = [shown.index(order) for order in (reference, "top", "bottom")]
    found = order_sensitivity(sums[:, compared], largest_from_first, seed=seed, resamples=resamples)
    values = dict.fromkeys(_ORDERS) | {
        order: None if np.isnan(mean) else float(mean) for order, mean in zip(shown, means, strict=True)
    }
    return values | {"reference": reference} | found.as_json()
