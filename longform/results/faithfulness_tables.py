"""
Tables of summaries judged by support judges: faithfulness by system, by place, by order and by length.

Every number is in points of 100 and stands with its interval over queries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import spearmanr
from scipy.stats import t as student_t

from longform.keys import stable_seed
from longform.metrics.order_sensitivity import largest_spread, order_sensitivity, with_holm
from longform.metrics.position_bias import (
    Array,
    BiasIndex,
    SummaryPlaces,
    attributed_sums,
    averaged,
    bias_index,
    covered_sums,
    curve,
    degenerate,
    n_bins,
)
from longform.metrics.statistics import LEVEL, Estimate, holm, pooled_mean
from longform.settings.systems import System

Row = dict[str, Any]
ORDERS = ("given", "top", "middle", "bottom")
Untestable = Mapping[tuple[str, str | None], str]
"""Judge and data set -> why faithfulness has no curve by place."""

NOTHING: Untestable = {}
_POINTS = 100.0
_PERMUTATIONS_A_ROW = 100  # of the family


class CheckedSummary(NamedTuple):
    """
    One summary under one support judge.

    Attributes:
        system: That wrote it.
        query_id: That it answers.
        judge: Its judge.
        failure: Why there is no text; None: there is.
        total: Sum of the merged numbers, in [0, n].
        n: How many those are: sentences, or 1 where a minimum or maximum is taken.
        n_unjudged: Cells without a verdict.
        n_cells: Of them all.
        n_documents: In its prompt.
        places: By the place of documents; None: all documents were judged as one text, or its system does not depend on
            their order.
        dataset: Of the query; None: not stated.
        cause: Of its failure: why the step failed that failed first; None: `failure` says it.
        repeat: Of its context by its system; the repeats of a query are averaged and count as one summary.
    """

    system: System
    query_id: str
    judge: str
    failure: str | None
    total: float
    n: int
    n_unjudged: int
    n_cells: int
    n_documents: int
    places: SummaryPlaces | None
    dataset: str | None = None
    repeat: int = 0
    cause: str | None = None


class Settings(NamedTuple):
    """Settings of all resampling."""

    seed: int
    resamples: int

    def own(self, *name: object) -> dict[str, int]:
        return {"seed": stable_seed(self.seed, *name), "resamples": self.resamples}


Group = Sequence[CheckedSummary]


class Key(NamedTuple):
    """Common properties of the summaries of one row."""

    judge: str
    system: System
    dataset: str | None

    def named(self) -> Row:
        """The fields of a row that say what it is of."""
        return {
            "judge": self.judge,
            "dataset": self.dataset,
            "summarizer": self.system.summarizer,
            "setting": self.system.setting,
            "axes": self.system.axes._asdict(),
        }

    def without(self, **axes: Any) -> Key:
        """The same for all systems that differ in these *axes* alone, given the values that stand for all."""
        return self._replace(system=self.system._replace(**axes))


def groups(summaries: Sequence[CheckedSummary]) -> Iterator[tuple[Key, Group]]:
    """The summaries of each row, in order of appearance."""
    found: dict[Key, list[CheckedSummary]] = {}
    for summary in summaries:
        found.setdefault(Key(summary.judge, summary.system, summary.dataset), []).append(summary)
    yield from found.items()


def score(group: Group, settings: Settings, *name: object) -> Estimate:
    """The pooled mean of *group*, in points."""
    by_query = _averaged(group)
    sums = np.array(list(by_query.values()), dtype=np.float64).reshape(-1, 2)
    return pooled_mean(sums[:, 0], sums[:, 1], list(by_query), **settings.own(*name)).scaled(_POINTS)


def _averaged(group: Group) -> dict[str, tuple[float, float]]:
    """Total and count of each query: those of its summary, or the mean over its repeats that have a number."""
    found: dict[str, list[tuple[float, int]]] = {}
    for summary in group:
        found.setdefault(summary.query_id, []).extend([(summary.total, summary.n)] if summary.n else [])
    return {
        query: (sum(total for total, _ in rows) / max(1, len(rows)), sum(n for _, n in rows) / max(1, len(rows)))
        for query, rows in found.items()
    }


def cells(summaries: Sequence[CheckedSummary], settings: Settings) -> list[Row]:
    """One row a judge, system and data set."""
    rows = []
    for key, group in groups(summaries):
        n_cells = sum(summary.n_cells for summary in group)
        unjudged = sum(summary.n_unjudged for summary in group)
        rows.append(
            key.named()
            | {
                "method": key.system.method,
                "order": key.system.order,
                "n_documents": key.system.n_documents,
                "length_tokens": key.system.length_tokens,
                "faithfulness": score(group, settings, key).as_json(),
                "n_summaries": len(group),
                "n_repeats": 1 + max(summary.repeat for summary in group),
                "n_failed": sum(summary.failure is not None for summary in group),
                "failures": dict(Counter(summary.cause or summary.failure for summary in group if summary.failure)),
                "n_without_score": sum(summary.failure is None and not summary.n for summary in group),
                "unjudged_share": unjudged / n_cells if n_cells else None,
            }
        )
    return rows


def place_rows(summaries: Sequence[CheckedSummary], settings: Settings, untestable: Untestable = NOTHING) -> list[Row]:
    """
    Curves by place, with their index and counts of what has no place; one row a judge, system and data set.

    The p-values of one judge, measure and data set are a family, and adjusted together (Holm). Each row draws
    permutations of its own, enough of them that the smallest adjusted p-value is about 0.01 in a family of any size.
    *untestable* has judges whose faithfulness has no curve on a data set, with the reason.
    """
    placed = [found for found in groups(summaries) if any(summary.places for summary in found[1])]
    sizes = Counter((key.judge, key.dataset) for key, _ in placed)
    rows = []
    for key, group in placed:
        enough = settings._replace(
            resamples=max(settings.resamples, _PERMUTATIONS_A_ROW * sizes[key.judge, key.dataset])
        )
        rows.append(
            key.named() | _places(group, settings, key, untestable.get((key.judge, key.dataset)), tested=enough)
        )
    for family, measure in product(sizes, ("faithfulness", "coverage")):
        own = [row for row in rows if (row["judge"], row["dataset"]) == family]
        tested = [row for row in own if row[measure]["index"] is not None]
        for row, adjusted in zip(tested, holm([row[measure]["index"]["p"] for row in tested]), strict=True):
            row[measure]["index"]["p_holm"] = adjusted
    return rows


def _places(
    group: Group, settings: Settings, key: Key, untestable: str | None, *, tested: Settings | None = None
) -> Row:
    """Curves and indices; *tested* has the number of permutations if that is not the number of resamples."""
    judged = [summary for summary in group if summary.places is not None and len(summary.places.covered)]
    places = [summary.places for summary in judged if summary.places is not None]
    queries = [summary.query_id for summary in judged]
    clusters = list(dict.fromkeys(queries))
    bins = n_bins(places)
    found: Row = {"bins": bins, "degenerate": degenerate(places, bins)._asdict()}
    for measure, by_summary in (("faithfulness", attributed_sums(places)), ("coverage", covered_sums(places))):
        sums = averaged(by_summary, queries)
        if measure == "faithfulness" and untestable is not None:
            found[measure] = {"curve": None, "index": None, "reason": untestable}
            continue
        own = settings.own(measure, key)
        permutations = (tested or settings).resamples
        index = bias_index(sums, bins, seed=own["seed"], permutations=permutations)
        found[measure] = {
            "curve": [point.scaled(_POINTS).as_json() for point in curve(sums, clusters, bins, **own)],
            "index": None if index is None else _index(index),
        }
    return found


def _index(index: BiasIndex) -> Row:
    in_points = {key: _POINTS * getattr(index, key) for key in ("spread", "lead", "ends")}
    return index._asdict() | in_points | {"shape": index.shape}


def order_rows(summaries: Sequence[CheckedSummary], settings: Settings) -> list[Row]:
    """
    Faithfulness by the order of documents, as Table 5: a row a judge, data set, summarizer and method with several.

    Sensitivity is the largest minus the smallest of the row, which is never negative: `chance` and `p` are of the same
    statistic when orders are exchanged within queries; the p-values of all rows of a judge and data set are one family.
    """
    alike: dict[Key, dict[str, Group]] = {}
    for key, group in groups(summaries):
        if key.system.permutation is None:
            alike.setdefault(key.without(order="given"), {})[key.system.order] = group
    rows: dict[tuple[str, str | None], list[Row]] = {}
    for base, by_order in alike.items():
        scores = {order: score(own, settings, base, order) for order, own in by_order.items()}
        if len(scores) > 1 and any(estimate.value is not None for estimate in scores.values()):
            moved = order_sensitivity(_by_query(by_order), largest_spread, **settings.own("exchanged", base))
            row = base.named() | {order: estimate.as_json() for order, estimate in scores.items()} | moved.as_json()
            rows.setdefault((base.judge, base.dataset), []).append(row)
    return [row for own in rows.values() for row in with_holm(own)]


def _by_query(by_order: Mapping[str, Group]) -> Array:
    """Total and count of each query in each order, shape (queries, orders, 2); no summary counts 0."""
    place = {
        query: index for index, query in enumerate(dict.fromkeys(s.query_id for g in by_order.values() for s in g))
    }
    sums = np.zeros((len(place), len(by_order), 2))
    for index, group in enumerate(by_order.values()):
        for query, found in _averaged(group).items():
            sums[place[query], index] = found
    return sums


def length_rows(summaries: Sequence[CheckedSummary], settings: Settings, untestable: Untestable = NOTHING) -> list[Row]:
    """
    Faithfulness by length, as Figure 3, with the curve by place at each length (the surface).

    A row a judge, data set, summarizer, order and method with several lengths, in one `unit`: documents, or tokens that
    whole documents fit. `lengths` have each its score and its curve (None if no place is known), and both units:
    `n_documents` is the mean over prompts, from `fewest` to `most`, and `length_tokens` is None if the unit is
    documents.
    """
    alike: dict[tuple[Key, str], list[tuple[int, Group]]] = {}
    for key, group in groups(summaries):
        system = key.system
        unit, length = ("tokens", system.length_tokens) if system.length_tokens else ("documents", system.n_documents)
        if length is not None:
            alike.setdefault((key.without(n_documents=None, length_tokens=None), unit), []).append((length, group))
    rows = []
    for (base, unit), by_length in alike.items():
        if len(by_length) > 1:
            lengths = [
                {
                    **_both_units(unit, length, group),
                    "faithfulness": score(group, settings, base, length).as_json(),
                    "curve": _surface(group, settings, base, untestable.get((base.judge, base.dataset))),
                }
                for length, group in sorted(by_length, key=lambda pair: pair[0])
            ]
            rows.append(base.named() | {"unit": unit, "lengths": lengths})
    return rows


def _surface(group: Group, settings: Settings, key: Key, untestable: str | None) -> list[Row] | None:
    """The curve of one length; None: no place is known."""
    if not any(summary.places for summary in group):
        return None
    curve: list[Row] | None = _places(group, settings, key, untestable)["faithfulness"]["curve"]
    return curve


def _both_units(unit: str, length: int, group: Group) -> Row:
    held = [summary.n_documents for summary in group]
    return {
        "n_documents": length if unit == "documents" else float(np.mean(held)),
        "fewest": min(held),
        "most": max(held),
        "length_tokens": length if unit == "tokens" else None,
    }


_Placed = dict[tuple[System, str, int], SummaryPlaces]
"""System, query and repeat -> the summary's places."""


def alignment_rows(summaries: Sequence[CheckedSummary]) -> list[Row]:
    """
    Measure how far two judges attribute sentences to the same places: Spearman's correlation (appendix C.1).

    A row a data set and pair of judges; `n` sentences are attributed by both.
    """
    datasets: dict[str | None, dict[str, _Placed]] = {}
    for summary in summaries:
        if summary.places is not None:
            by_judge = datasets.setdefault(summary.dataset, {})
            by_judge.setdefault(summary.judge, {})[summary.system, summary.query_id, summary.repeat] = summary.places
    return [
        {"dataset": dataset, "judge": one, "second": other, **_aligned(by_judge[one], by_judge[other])}
        for dataset, by_judge in datasets.items()
        for one, other in combinations(by_judge, 2)
    ]


def _aligned(one: _Placed, other: _Placed) -> dict[str, float | int | None]:
    pairs = [np.column_stack([one[key].aligned, other[key].aligned]) for key in one if key in other]
    both = np.concatenate(pairs) if pairs else np.zeros((0, 2))
    both = both[~np.isnan(both).any(axis=1)]
    if len(both) < 2 or (both == both[0]).all(axis=0).any():
        return {"spearman": None, "n": len(both)}
    return {"spearman": float(spearmanr(both[:, 0], both[:, 1]).statistic), "n": len(both)}


def permutation_rows(summaries: Sequence[CheckedSummary], half_width: float | None) -> list[Row]:
    """
    The score over drawn orders: their mean with its interval over orders (Student's t).

    A row a judge, system and data set.

    `narrow`: whether the interval is within *half_width* points to either side; None: no width was asked for.
    """
    alike: dict[Key, list[Group]] = {}
    for key, group in groups(summaries):
        if key.system.permutation is not None:
            alike.setdefault(key.without(permutation=None), []).append(group)
    return [base.named() | _over_orders(found, half_width) for base, found in alike.items()]


def _over_orders(orders: Sequence[Group], half_width: float | None) -> Row:
    scores = [_mean(group) for group in orders]
    known = np.array([score for score in scores if score is not None])
    found: Row = {"n_orders": len(orders), "lowest": None, "highest": None, "narrow": None}
    if len(known) < len(orders) or len(known) < 2:
        return found | {"calibrated": Estimate(None, None, None, len(known)).as_json()}
    mean = float(known.mean())
    half = float(student_t.ppf((1 + LEVEL) / 2, len(known) - 1) * known.std(ddof=1) / np.sqrt(len(known)))
    return found | {
        "calibrated": Estimate(mean, mean - half, mean + half, len(known)).as_json(),
        "lowest": float(known.min()),
        "highest": float(known.max()),
        "narrow": None if half_width is None else half <= half_width,
    }


def _mean(group: Group) -> float | None:
    totals, counts = zip(*_averaged(group).values(), strict=True)
    return _POINTS * sum(totals) / sum(counts) if sum(counts) else None
