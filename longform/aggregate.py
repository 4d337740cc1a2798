"""
From scores of single summaries to tables with intervals.

`pooled` averages over insights of all summaries (SummHay's released code); `per_summary` averages each summary first
(the paper's words). Intervals resample queries: the summaries of one query share insights and documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import Any, Literal, NamedTuple

import numpy as np

from longform.keys import stable_seed
from longform.statistics import Array, Estimate, holm, paired_comparison, pooled_mean

Aggregate = Literal["pooled", "per_summary"]
PERCENT = ("coverage", "citation", "joint", "precision", "recall")
SNAPSHOT_MINUTES = 10.0  # SummHay, appendix A.4: a human's summary is saved every ten minutes
ALPHA = 0.05


class SummaryInfo(NamedTuple):
    """What the tables need to know of a summary besides its scores."""

    summary_id: str
    query_id: str
    summarizer: str
    setting: str
    order: str | None
    elapsed_minutes: float | None
    cut_share: float | None
    failure: str | None


class Scored(NamedTuple):
    """A summary under one judge: measure -> (total, n, unjudged)."""

    info: SummaryInfo
    measures: Mapping[str, tuple[float, int, int]]


Group = Sequence[Scored]


def scored_summaries(scores: Iterable[Mapping[str, Any]], infos: Mapping[str, SummaryInfo]) -> dict[str, list[Scored]]:
    """Judge -> its scored summaries, from rows of the scores table, in the order of *infos*."""
    found: dict[tuple[str, str], dict[str, tuple[float, int, int]]] = {}
    for row in scores:
        if row["summary_id"] in infos:
            measures = found.setdefault((row["judge"], row["summary_id"]), {})
            measures[row["measure"]] = (row["total"], row["n"], row["n_unjudged"])
    judges = dict.fromkeys(judge for judge, _ in found)
    return {
        judge: [Scored(info, found[judge, sid]) for sid, info in infos.items() if (judge, sid) in found]
        for judge in judges
    }


def final_summaries(summaries: Group) -> list[Scored]:
    """Without the snapshots that a later one of the same query and system replaces."""
    latest: dict[tuple[str, str, str], Scored] = {}
    for scored in summaries:
        info = scored.info
        key = (info.summarizer, info.setting, info.query_id if info.elapsed_minutes is not None else info.summary_id)
        held = latest.get(key)
        if held is None or (info.elapsed_minutes or 0) >= (held.info.elapsed_minutes or 0):
            latest[key] = scored
    return list(latest.values())


def estimate(group: Group, measure: str, *, aggregate: Aggregate, seed: int, resamples: int) -> Estimate:
    """A measure of one system over its summaries, as a share, with its interval over queries."""
    rows = [(s.measures[measure], s.info.query_id) for s in group if measure in s.measures and s.measures[measure][1]]
    totals = np.array([total for (total, _, _), _ in rows])
    counts = np.array([float(n) for (_, n, _), _ in rows])
    if aggregate == "per_summary":
        totals, counts = totals / counts, np.ones_like(counts)
    return pooled_mean(totals, counts, [query for _, query in rows], seed=seed, resamples=resamples)


def cells(summaries: Group, *, judge: str, aggregate: Aggregate, seed: int, resamples: int) -> list[dict[str, Any]]:
    """One cell for each (setting, summarizer), sorted by both; scores in percent with intervals, counts beside."""
    return [
        _cell(group, setting, summarizer, judge=judge, aggregate=aggregate, seed=seed, resamples=resamples)
        for (setting, summarizer), group in sorted(_systems(final_summaries(summaries)).items())
    ]


def _cell(
    group: Group, setting: str, summarizer: str, *, judge: str, aggregate: Aggregate, seed: int, resamples: int
) -> dict[str, Any]:
    estimates = {
        measure: estimate(group, measure, aggregate=aggregate, seed=seed, resamples=resamples).scaled(100)
        for measure in PERCENT
    }
    n_judged, n_unjudged = _count(group, "coverage", 1), _count(group, "coverage", 2)
    words = estimate(group, "words_per_bullet", aggregate="per_summary", seed=seed, resamples=resamples)
    return {
        "setting": setting,
        "summarizer": summarizer,
        "judge": judge,
        "n_summaries": len(group),
        "n_failed": sum(s.info.failure is not None for s in group),
        "n_insights": n_judged,
        "n_covered": _count(group, "citation", 1),
        "n_unjudged": n_unjudged,
        "unjudged_share": n_unjudged / (n_judged + n_unjudged) if n_judged + n_unjudged else None,
        "n_unlinked": int(sum(s.measures["unlinked"][0] for s in group)),
        **{measure: found.value for measure, found in estimates.items()},
        "words_per_bullet": words.value,
        "cut_share": mean_cut_share(group),
        "intervals": {measure: [found.low, found.high] for measure, found in estimates.items()},
        "reasons": {measure: _why_unknown(group) for measure, found in estimates.items() if found.value is None},
    }


def mean_cut_share(group: Group) -> float | None:
    """Share of retrieved tokens that the budget took away; None where the contexts are not known."""
    cuts = [s.info.cut_share for s in group if s.info.cut_share is not None]
    return float(np.mean(cuts)) if cuts else None


def _why_unknown(group: Group) -> str:
    if all(s.info.failure is not None for s in group):
        return "every summary failed"
    if not _count(group, "coverage", 1):
        return "no insight has a readable judgement"
    return "no insight is covered" if not _count(group, "citation", 1) else "the gold documents are not known"


def _systems(summaries: Group) -> dict[tuple[str, str], list[Scored]]:
    found: dict[tuple[str, str], list[Scored]] = {}
    for scored in summaries:
        found.setdefault((scored.info.setting, scored.info.summarizer), []).append(scored)
    return found


def _count(group: Group, measure: str, place: int) -> int:
    return int(sum(s.measures[measure][place] for s in group if measure in s.measures))


BULLET_CLASSES = ("linked", "header", "other_subtopic", "unsupported", "generic", "unclassified")


def failure_modes(summaries: Group, *, judge: str) -> list[dict[str, Any]]:
    """How many bullets of each system are of which class; nothing where bullets were not classified."""
    found = []
    for (setting, summarizer), group in sorted(_systems(final_summaries(summaries)).items()):
        classified = [s for s in group if "bullets_linked" in s.measures]
        if classified:
            counts = {name: int(sum(s.measures[f"bullets_{name}"][0] for s in classified)) for name in BULLET_CLASSES}
            found.append(
                {"summarizer": summarizer, "setting": setting, "judge": judge, "n_bullets": sum(counts.values())}
                | counts
                | {"cut_share": mean_cut_share(group)}
            )
    return found


# ---------------------------------------------------------------- over time


def curve(summaries: Group, *, judge: str) -> list[dict[str, Any]]:
    """
    Scores of summaries written over time (SummHay, figure 3): a point each ten minutes.

    A session counts with its latest snapshot up to the point's minute; one that ended earlier keeps its last.
    """
    snapshots = [s for s in summaries if s.info.elapsed_minutes is not None]
    points = []
    for (setting, summarizer), group in sorted(_systems(snapshots).items()):
        end = max(s.info.elapsed_minutes or 0.0 for s in group)
        for step in range(1, ceil(end / SNAPSHOT_MINUTES) + 1):
            minute = step * SNAPSHOT_MINUTES
            reached = final_summaries([s for s in group if (s.info.elapsed_minutes or 0.0) <= minute])
            if reached:
                means = {m: estimate(reached, m, aggregate="per_summary", seed=0, resamples=100).value for m in PERCENT}
                points.append(
                    {"summarizer": summarizer, "setting": setting, "judge": judge, "minutes": minute}
                    | {"n_summaries": len(reached), "cut_share": mean_cut_share(reached)}
                    | {measure: None if mean is None else 100 * mean for measure, mean in means.items()}
                )
    return points


# ---------------------------------------------------------------- position


def base_setting(info: SummaryInfo) -> str:
    """The setting whose document order is varied: `full` of `full/top` and of the release's `fl-ctxt-sort`."""
    return "full" if info.setting.startswith("fl-ctxt") else info.setting.split("/")[0]


def positions(summaries: Group, *, judge: str, seed: int, resamples: int) -> list[dict[str, Any]]:
    """
    Joint score by where the relevant documents stood, and its sensitivity (SummHay, section 5.4, table 3).

    Sensitivity is the largest absolute difference of top and bottom from random order; where no random order was
    run, from the order given (the paper's own Random is the order given).
    """
    grouped: dict[tuple[str, str], dict[str, list[Scored]]] = {}
    for scored in final_summaries(summaries):
        if scored.info.order is not None:
            orders = grouped.setdefault((scored.info.summarizer, base_setting(scored.info)), {})
            orders.setdefault(scored.info.order, []).append(scored)
    return [
        _position_row(orders, seed=seed, resamples=resamples)
        | {"summarizer": summarizer, "system": setting, "judge": judge, "measure": "joint"}
        | {"cut_share": mean_cut_share([scored for group in orders.values() for scored in group])}
        for (summarizer, setting), orders in sorted(grouped.items())
        if {"top", "bottom"} <= orders.keys() and orders.keys() & {"random", "given"}
    ]


def _position_row(orders: Mapping[str, Group], *, seed: int, resamples: int) -> dict[str, Any]:
    reference = "random" if "random" in orders else "given"
    queries = sorted({s.info.query_id for group in orders.values() for s in group})
    sums = {order: _sums_by_query(group, queries, "joint") for order, group in orders.items()}
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(len(queries), np.full(len(queries), 1 / len(queries)), size=resamples)
    means: dict[str, Array] = {}
    with np.errstate(invalid="ignore", divide="ignore"):
        for order, totals in sums.items():
            drawn = np.vstack([np.ones((1, len(queries))), counts]) @ totals
            means[order] = 100 * drawn[:, 0] / drawn[:, 1]
    # (1 + resamples,): the observed value first
    sensitivity = np.max([np.abs(means[order] - means[reference]) for order in ("top", "bottom")], axis=0)
    known = sensitivity[~np.isnan(sensitivity)]
    low, high = np.quantile(known, [0.025, 0.975]) if len(known) else (np.nan, np.nan)
    values = {order: _number(means[order][0]) if order in means else None for order in _ORDERS}
    interval = [_number(low), _number(high)] if len(queries) > 1 else [None, None]
    return values | {"reference": reference, "sensitivity": _number(sensitivity[0]), "interval": interval}


def _number(value: float) -> float | None:
    """None for NaN: the mean of nothing is unknown."""
    return None if np.isnan(value) else float(value)


_ORDERS = ("given", "random", "top", "middle", "bottom")


def _sums_by_query(group: Group, queries: Sequence[str], measure: str) -> Array:
    """Totals and counts of a measure for each query, shape (queries, 2)."""
    place = {query: index for index, query in enumerate(queries)}
    sums = np.zeros((len(queries), 2))
    for scored in group:
        total, n, _ = scored.measures.get(measure, (0.0, 0, 0))
        sums[place[scored.info.query_id]] += (total, n)
    return sums


# ---------------------------------------------------------------- comparisons


def comparisons(
    summaries: Group, *, judge: str, measure: str = "joint", seed: int, resamples: int
) -> list[dict[str, Any]]:
    """
    The best system against each other one, paired by query, p-values adjusted by Holm.

    Differences are in points. `verdict` says in words what the adjusted test at 0.05 allows to say.
    """
    systems = {f"{s}, {r}": group for (r, s), group in _systems(final_summaries(summaries)).items()}
    means = {
        name: estimate(group, measure, aggregate="pooled", seed=seed, resamples=100).value
        for name, group in systems.items()
    }
    known = [name for name in systems if means[name] is not None]
    if len(known) < 2:
        return []
    best = max(known, key=lambda name: (means[name] or 0.0, name))
    rows = [
        row
        for name in sorted(known)
        if name != best
        and (row := _comparison(systems, best, name, measure, seed=seed, resamples=resamples)) is not None
    ]
    for row, adjusted in zip(rows, holm([row["p"] for row in rows]), strict=True):
        row["p_holm"] = adjusted
        row["verdict"] = verdict_in_words(row["difference"], adjusted, row["a"], row["b"])
        row["judge"] = judge
    return rows


def verdict_in_words(difference: float, p: float, a: str, b: str) -> str:
    if p >= ALPHA:
        return "not distinguishable"
    better, worse = (a, b) if difference > 0 else (b, a)
    return f"{better} is better than {worse}"


def _comparison(
    systems: Mapping[str, Group], a: str, b: str, measure: str, *, seed: int, resamples: int
) -> dict[str, Any] | None:
    queries = sorted({s.info.query_id for name in (a, b) for s in systems[name]})
    sums_a, sums_b = (_sums_by_query(systems[name], queries, measure) for name in (a, b))
    found = paired_comparison(sums_a, sums_b, queries, seed=stable_seed(seed, a, b), resamples=resamples)
    if found is None:
        return None
    return {
        "a": a,
        "b": b,
        "measure": measure,
        "difference": 100 * found.difference,
        "low": 100 * found.low,
        "high": 100 * found.high,
        "p": found.p,
        "n_queries": found.n_clusters,
    }
