"""
Two attributions of the same sentences held against each other (Wan et al., appendix C.1 and Figure 5).

Every pair of judges is compared by the places of sentences. With the second aligner, each judge's curve also stands
beside the one that its numbers make where the second aligner puts the sentences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from longform.metrics.position_bias import (
    PlaceSums,
    SummaryPlaces,
    attributed_sums,
    attributed_to,
    averaged,
    binned,
    curve,
    n_bins,
)
from longform.metrics.statistics import Array, Estimate, EstimateColumns, bootstrap, pearson
from longform.results.aggregate import Averaging
from longform.results.checked import CheckedSummary
from longform.results.faithfulness_tables import Group, Row, Untestable, groups
from longform.settings.judges import SECOND_ALIGNER
from longform.settings.systems import System

_POINTS = 100.0


class _Sentences(NamedTuple):
    places: SummaryPlaces
    query_id: str


_Placed = dict[tuple[System, str, int], _Sentences]
"""System, query and repeat -> the summary's places."""


def alignment_rows(summaries: Sequence[CheckedSummary], how: Averaging) -> list[Row]:
    """Measure how far two judges attribute sentences to the same places: a row a data set and pair of judges."""
    return [
        {"dataset": dataset, "judge": one, "second": other, **_aligned(by_judge[one], by_judge[other], how)}
        for dataset, by_judge in _by_judge(summaries).items()
        for one, other in combinations(by_judge, 2)
    ]


def _by_judge(summaries: Sequence[CheckedSummary]) -> dict[str | None, dict[str, _Placed]]:
    datasets: dict[str | None, dict[str, _Placed]] = {}
    for summary in summaries:
        if summary.places is not None:
            placed = datasets.setdefault(summary.dataset, {}).setdefault(summary.judge, {})
            placed[_key(summary)] = _Sentences(summary.places, summary.query_id)
    return datasets


def _key(summary: CheckedSummary) -> tuple[System, str, int]:
    return summary.system, summary.query_id, summary.repeat


def _aligned(one: _Placed, other: _Placed, how: Averaging) -> Row:
    shared = [key for key in one if key in other]
    pairs = [np.column_stack([one[key].places.aligned, other[key].places.aligned]) for key in shared]
    both = np.concatenate(pairs) if pairs else np.zeros((0, 2))
    queries = [one[key].query_id for key, pair in zip(shared, pairs, strict=True) for _ in pair]
    known: NDArray[np.bool_] = np.asarray(~np.isnan(both).any(axis=1))
    n, same = int(known.sum()), sum(_n_same(one[key].places, other[key].places) for key in shared)
    if n < 2 or (both[known] == both[known][0]).all(axis=0).any():
        return {"spearman": None, "low": None, "high": None, "n": n, "same": same}
    from scipy.stats import rankdata  # slow to import

    ranks = rankdata(both[known], axis=0)
    clusters = [query for query, is_known in zip(queries, known.tolist(), strict=True) if is_known]
    _, seed, resamples = how.own("alignment")
    found = pearson(ranks[:, 0], ranks[:, 1], clusters, seed=seed, resamples=resamples)
    return {"spearman": found.value, "low": found.low, "high": found.high, "n": n, "same": same}


def _n_same(one: SummaryPlaces, other: SummaryPlaces) -> int:
    return sum(bool(set(first) & set(second)) for first, second in zip(one.best, other.best, strict=True))


def placed_twice(
    summaries: Sequence[CheckedSummary], every: Sequence[CheckedSummary], how: Averaging, untestable: Untestable
) -> list[Row]:
    """
    Return the curves of plain systems, documents as given, by both attributions; none without a second aligner.

    Args:
        summaries: Of the judges.
        every: The same, with those of aligners.
        how: Curves are averaged and resampled.
        untestable: Judges without a curve, by data set.
    """
    second = {_key(one): one.places for one in every if one.judge == SECOND_ALIGNER and one.places is not None}
    rows: list[Row] = []
    for key, group in groups(summaries):
        own = [one for one in group if one.places is not None and _key(one) in second and len(one.places.covered)]
        plain = (key.system.order, key.system.method, key.system.n_documents) == ("given", "plain", None)
        if own and plain and (key.judge, key.dataset) not in untestable:
            rows.append({**key.named(), "second": SECOND_ALIGNER, **_curves(own, second, how.own("twice", key))})
    return rows


def _curves(group: Group, second: Mapping[tuple[System, str, int], SummaryPlaces], how: Averaging) -> Row:
    places = [one.places for one in group if one.places is not None]
    moved = [
        attributed_to(mine.numbers, second[_key(one)].best, len(mine.covered))
        for one, mine in zip(group, places, strict=True)
    ]
    queries, bins = [one.query_id for one in group], n_bins(places)
    own = averaged(attributed_sums(places), queries)
    other = averaged(PlaceSums([totals for totals, _ in moved], [counts for _, counts in moved]), queries)
    clusters = list(dict.fromkeys(queries))

    def shown(sums: PlaceSums) -> list[EstimateColumns]:
        found = curve(sums, clusters, bins, seed=how.seed, resamples=how.resamples)
        return [point.scaled(_POINTS).as_json() for point in found]

    return {"own": shown(own), "other": shown(other), "spearman": _spearman(own, other, clusters, bins, how).as_json()}


def _spearman(own: PlaceSums, other: PlaceSums, clusters: Sequence[str], bins: int, how: Averaging) -> Estimate:
    """Return the rank correlation of two curves over their places, with its interval over queries."""
    columns = np.column_stack([*binned(own, bins), *binned(other, bins)])

    def statistic(sums: Array) -> Array:
        from scipy.stats import rankdata  # slow to import

        totals, counts, others, n_others = np.split(sums, 4, axis=1)
        first, last = (rankdata(one, axis=1) for one in (totals / counts, others / n_others))
        first, last = (ranks - ranks.mean(axis=1, keepdims=True) for ranks in (first, last))
        norm = np.sqrt((first**2).sum(axis=1) * (last**2).sum(axis=1))
        found: Array = np.where(norm > 0, (first * last).sum(axis=1) / np.where(norm > 0, norm, 1.0), np.nan)
        return np.where(np.minimum(counts, n_others).min(axis=1) > 0, found, np.nan)

    return bootstrap(columns, clusters, statistic, n=bins, seed=how.seed, resamples=how.resamples)
