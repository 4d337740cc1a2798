"""
Two attributions of the same sentences held against each other (Wan et al., appendix C.1 and Figure 5).

Every pair of judges is compared by the places of sentences. With the second aligner, each judge's curve also stands
beside the one that its numbers make where the second aligner puts the sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from longform.evidence.scan import pl
from longform.judges.merges import CITED
from longform.metrics.position_bias import PlaceSums, attributed_sums, averaged, binned, curve, n_bins
from longform.metrics.statistics import Array, Estimate, EstimateColumns, bootstrap, pearson
from longform.results.aggregate import Averaging
from longform.results.faithfulness_tables import Row, groups, places_in, with_places
from longform.settings.experiment import Experiment
from longform.settings.named_judges import ALIGNERS, SECOND_ALIGNER

MOST_UNPLACED = 0.02
"""The largest share of a judge's decided sentences that may be missing from its curve."""
_POINTS = 100.0


def attributed(checked: pl.DataFrame, experiment: Experiment) -> tuple[pl.DataFrame, list[Row]]:
    """
    Place all sentences: as each judge finds itself, unless a judge is named for that, or too few have a place.

    Then the aligner places them. Each data set decides for itself.

    Returns:
        `Evidence.checked` with the places as `placed`, and why faithfulness has no curve by them as `untestable`; and a
        row for each judge and data set.
    """
    named = experiment.faithfulness.attribution
    aligner = next((one for one in checked["judge"] if one == experiment.aligner), None)  # the others may come first
    others = checked.filter(judge=aligner).select("summary_id", placed="best") if aligner else None
    parts, rows = [], list[Row]()
    for own in checked.with_row_index("at").partition_by("judge", "dataset", maintain_order=True):
        judge, dataset = own.row(0, named=True)["judge"], own["dataset"][0]
        itself = own.with_columns(placed="best")
        n_decided, n_unplaced = _n_unplaced(itself)
        by, part, missing = judge, itself, n_unplaced
        if others is not None and judge != aligner and (named is not None or n_unplaced > MOST_UNPLACED * n_decided):
            by, part = (
                aligner,
                own.join(others, on="summary_id", how="left").with_columns(pl.coalesce("placed", "best")),
            )
            _, missing = _n_unplaced(part)
        untestable = _untestable(judge, by, missing, n_decided) if missing > MOST_UNPLACED * n_decided else None
        parts.append(part.with_columns(untestable=pl.lit(untestable, pl.String)))
        counts = {"n_decided": n_decided, "n_unplaced_by_itself": n_unplaced}
        rows.append({"judge": judge, "dataset": dataset, "by": by, "untestable": untestable, **counts})
    return pl.concat(parts).sort("at"), [] if experiment.support_mode == CITED else rows


def _n_unplaced(checked: pl.DataFrame) -> tuple[int, int]:
    """Return the number of sentences that have a number, and of those among them without a place."""
    decided = checked.select("numbers", "placed").explode("numbers", "placed").filter(pl.col("numbers").is_not_nan())
    return len(decided), decided.filter(pl.col("placed").list.len() == 0).height


def _untestable(judge: str, by: str, n: int, n_all: int) -> str:
    """Return why a judge has no curve."""
    missing = f"{n} of its {n_all} sentences have no place, all of them unsupported"
    if by == judge:
        return f"{missing}, and no other judge says where they stand; name one as `faithfulness.attribution`"
    return f"{missing}, and judge {by} has no document for them either"


def alignment_rows(summaries: pl.DataFrame, how: Averaging) -> list[Row]:
    """Measure how far two judges attribute sentences to the same places: a row a data set and pair of judges."""
    return [
        {
            "dataset": own["dataset"][0],
            "judge": one["judge"][0],
            "second": other["judge"][0],
            **_aligned(one, other, how),
        }
        for own in summaries.filter("by_place").partition_by("dataset", maintain_order=True)
        for one, other in combinations(own.partition_by("judge", maintain_order=True), 2)
    ]


def _aligned(one: pl.DataFrame, other: pl.DataFrame, how: Averaging) -> Row:
    others = other.select("summary_id", second="best")
    both = one.select("summary_id", "query_id", "best").join(others, on="summary_id", maintain_order="left")
    places = pl.col("best", "second").list
    sentences = both.explode("best", "second").with_columns(
        places.mean(), same=pl.col("best").list.set_intersection("second").list.len() > 0
    )
    known = sentences.drop_nulls(["best", "second"])
    n, same = len(known), int(known["same"].sum())
    if n < 2 or known.select(pl.col("best", "second").n_unique() == 1).row(0).count(True):
        return {"spearman": None, "low": None, "high": None, "n": n, "same": same}
    first, second = known.select(pl.col("best", "second").rank()).to_numpy().T
    _, seed, resamples = how.own("alignment")
    found = pearson(first, second, known["query_id"].to_list(), seed=seed, resamples=resamples)
    return {"spearman": found.value, "low": found.low, "high": found.high, "n": n, "same": same}


def placed_twice(summaries: pl.DataFrame, how: Averaging) -> list[Row]:
    """Return the curves of plain systems, documents as given, by both attributions; none without a second aligner."""
    second = summaries.filter("by_place", judge=SECOND_ALIGNER).select("summary_id", second="best")
    plain = with_places(summaries).filter(~pl.col("judge").is_in(ALIGNERS), order="given", method="plain")
    tested = plain.filter(pl.col("untestable").is_null(), pl.col("n_documents").is_null())
    return [
        {**key.named(), "second": SECOND_ALIGNER, **_curves(group, how.own("twice", key))}
        for key, group in groups(tested.join(second, on="summary_id", maintain_order="left"))
    ]


def _curves(group: pl.DataFrame, how: Averaging) -> Row:
    queries = group["query_id"].to_list()
    places, moved = places_in(group), places_in(group, "second")
    own, other, bins = (*(averaged(attributed_sums(one), queries) for one in (places, moved)), n_bins(places))
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
