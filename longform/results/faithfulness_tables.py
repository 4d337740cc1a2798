"""
Tables of summaries judged by support judges: faithfulness by system, by place, by order and by length.

Every number is in points of 100 and stands with its interval over queries: of all queries of its row, those without a
number too, so that orders and lengths of one system resample the same queries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from longform.axes import SystemAxes
from longform.evidence.scan import pl
from longform.evidence.scores import means, samples
from longform.metrics.faithfulness import Merging
from longform.metrics.order_sensitivity import largest_spread, order_sensitivity, with_holm
from longform.metrics.paired_differences import n_sign_changes, stepwise_tests
from longform.metrics.position_bias import (
    FOUND,
    PlaceSums,
    SummaryPlaces,
    attributed_sums,
    averaged,
    bias_index,
    covered_sums,
    curve,
    degenerate,
    n_bins,
)
from longform.metrics.statistics import LEVEL, Array, Estimate, holm
from longform.results.aggregate import Averaging, mean_of, sums_of
from longform.results.differences import differences, finding_words, interval
from longform.results.evidence import Evidence
from longform.settings.experiment import Experiment
from longform.settings.systems import System

Row = dict[str, Any]
"""A row, which the columns of its table describe in `longform.studies`."""
_POINTS = 100.0
_PERMUTATIONS_A_ROW = round(2 / FOUND)  # of the family: one that reaches the curve leaves the adjusted p below FOUND
_OF_GROUP = ("judge", "dataset", "summarizer", "setting", *SystemAxes._fields)


class Key(NamedTuple):
    """Common properties of the summaries of one row."""

    judge: str
    system: System
    dataset: str | None

    @classmethod
    def of(cls, judge: str, facts: Mapping[str, Any]) -> Key:
        """Return the key of a summary, whose columns are *facts*."""
        axes, writer = SystemAxes(**{name: facts[name] for name in SystemAxes._fields}), facts["summarizer"]
        several = facts["setting"] != axes.words(with_budget=False)
        return cls(judge, System(**axes._asdict(), summarizer=writer, several_budgets=several), facts["dataset"])

    def but(self, **axes: Any) -> Key:
        """Return the key of the same system with other *axes*."""
        return self._replace(system=self.system._replace(**axes))

    def named(self) -> Row:
        """Return the columns that name a row."""
        return {
            "judge": self.judge,
            "dataset": self.dataset,
            "summarizer": self.system.summarizer,
            "setting": self.system.setting,
            "axes": self.system.axes._asdict(),
        }


def merging_of(experiment: Experiment) -> Merging:
    return Merging(experiment.faithfulness.documents, experiment.faithfulness.sentences)


def scored_summaries(evidence: Evidence, checked: pl.DataFrame, merging: Merging) -> pl.DataFrame:
    """Return the *checked* summaries that are reported, with their facts and their scores by a judge of support."""
    names = ["judge", "summary_id"]
    scores = means(evidence.score_table.frame.filter(pl.col("measure") == merging.name))
    facts = evidence.frames.summaries.drop("dataset").collect()
    reported = checked.join(facts, on="summary_id", maintain_order="left")
    return by_query(reported.join(scores.with_columns(pl.col(names).cast(pl.String)), on=names, maintain_order="left"))


def by_query(scores: pl.DataFrame) -> pl.DataFrame:
    """Let the query be the cluster, within which orders and places are exchanged."""
    return scores.with_columns(pl.col("summary_repeat").fill_null(0), cluster="query_id")


def groups(summaries: pl.DataFrame) -> Iterator[tuple[Key, pl.DataFrame]]:
    """Yield the summaries of each row, in order of appearance."""
    for own in summaries.partition_by(_OF_GROUP, maintain_order=True):
        first = own.row(0, named=True)
        yield Key.of(first["judge"], first), own


def alike(summaries: pl.DataFrame, **axes: Any) -> dict[Key, dict[Key, pl.DataFrame]]:
    """Return the groups of summaries that differ in *axes* alone, by the key that has these."""
    found: dict[Key, dict[Key, pl.DataFrame]] = {}
    for key, group in groups(summaries):
        found.setdefault(key.but(**axes), {})[key] = group
    return found


def score(group: pl.DataFrame, how: Averaging, *name: object) -> Estimate:
    """Return the mean of *group*, in points."""
    return mean_of(group, how.own(*name), with_empty=True).scaled(_POINTS)


def places_in(summaries: pl.DataFrame, best: str = "placed") -> list[SummaryPlaces]:
    """Return the places of summaries, whose sentences stand where the column *best* says."""
    columns = summaries.select("numbers", best, "covered", "n_covered").iter_rows()
    return [SummaryPlaces(np.array(n, float), at, np.array(c, float), np.array(k, float)) for n, at, c, k in columns]


def place_rows(summaries: pl.DataFrame, how: Averaging) -> list[Row]:
    """
    Return curves by place with their index and counts of what has no place, a row a judge, system and data set.

    The p-values of one judge, measure and data set are a family, and adjusted together (Holm). Each row draws
    permutations of its own, enough of them that a shape can be found in a family of any size.
    """
    placed = list(groups(summaries.filter(pl.col("by_place").any().over(_OF_GROUP))))
    sizes = Counter((key.judge, key.dataset) for key, _ in placed)
    rows: list[Row] = []
    for key, group in placed:
        permutations = max(how.resamples, _PERMUTATIONS_A_ROW * sizes[key.judge, key.dataset])
        rows.append({**key.named(), **_curves(group, how, key, permutations)})
    for family in sizes:
        own = [row for row in rows if (row["judge"], row["dataset"]) == family]
        _adjust(row["faithfulness"] for row in own)
        _adjust(row["coverage"] for row in own)
    return rows


def _adjust(measured: Iterable[Row]) -> None:
    """Adjust the p-values of one family, and tell its indices in points."""
    tested = [row for row in measured if row["index"] is not None]
    for row, adjusted in zip(tested, holm([row["index"].p for row in tested]), strict=True):
        index = row["index"]
        contrasts = {name: _POINTS * getattr(index, name) for name in ("spread", "lead", "ends")}
        row["index"] = {**index._asdict(), **contrasts, "p_holm": adjusted, "shape": index._replace(p=adjusted).shape}


def _curves(group: pl.DataFrame, how: Averaging, key: Key, permutations: int) -> Row:
    judged = with_places(group)
    places, queries = places_in(judged), judged["query_id"].to_list()
    bins, untestable = n_bins(places), group["untestable"][0]

    def of(measure: str, by_summary: PlaceSums) -> Row:
        sums, (_, seed, resamples) = averaged(by_summary, queries), how.own(measure, key)
        found = curve(sums, list(dict.fromkeys(queries)), bins, seed=seed, resamples=resamples)
        return {
            "curve": [point.scaled(_POINTS).as_json() for point in found],
            "index": bias_index(sums, bins, seed=seed, permutations=permutations),
        }

    return {
        "bins": bins,
        "degenerate": degenerate(places, bins),
        "faithfulness": of("faithfulness", attributed_sums(places))
        if untestable is None
        else {"curve": None, "index": None, "reason": untestable},
        "coverage": of("coverage", covered_sums(places)),
    }


def with_places(group: pl.DataFrame) -> pl.DataFrame:
    """Return the summaries of a *group* that say something by place."""
    return group.filter("by_place", pl.col("covered").list.len() > 0)


def order_rows(summaries: pl.DataFrame, how: Averaging) -> list[Row]:
    """
    Return faithfulness by the order of documents, as Table 5: a row a judge, data set, summarizer and method.

    Systems with one order have no row. Sensitivity is the largest minus the smallest of the row, which is never
    negative: `chance` and `p` are of the same statistic when orders are exchanged within queries; the p-values of all
    rows of a judge and data set are one family.
    """
    rows: dict[tuple[str, str | None], list[Row]] = {}
    for base, own in alike(_of_one_order(summaries), order="given").items():
        scores = {str(key.system.order): score(group, how, base, key.system.order) for key, group in own.items()}
        if len(scores) > 1 and any(found.value is not None for found in scores.values()):
            _, seed, resamples = how.own("exchanged", base)
            moved = order_sensitivity(_by_query(own.values()), largest_spread, seed=seed, resamples=resamples)
            row = {**base.named(), **moved, **{order: found.as_json() for order, found in scores.items()}}
            rows.setdefault((base.judge, base.dataset), []).append(row)
    return [row for family in rows.values() for row in with_holm(family)]


def _of_one_order(summaries: pl.DataFrame) -> pl.DataFrame:
    return summaries.filter(pl.col("permutation").is_null(), pl.col("order").is_not_null())


def _by_query(groups: Collection[pl.DataFrame]) -> Array:
    """Return total and count of each query in each group, shape (queries, groups, 2); no summary counts 0."""
    queries = list(dict.fromkeys(query for group in groups for query in group["query_id"]))
    return np.stack([sums_of(group, queries) for group in groups], axis=1)


def against_plain(summaries: pl.DataFrame, how: Averaging) -> list[Row]:
    """
    Return methods and orders against the plain one of the same summarizer on the same queries, in points.

    The plain system of a row has its retriever, budget and lengths, the order given and the plain method. The rows of a
    judge and data set are a family, adjusted together (Holm, `stepwise_tests`). Scores are over all queries of a
    system, the difference over those that both have.
    """
    found = dict(groups(_of_one_order(summaries)))
    values = [
        samples(group, "pooled", with_empty=True).with_columns(system=pl.lit(place, pl.Int64))
        for place, group in enumerate(found.values())
    ]
    places = {key: place for place, key in enumerate(found)}
    families: dict[tuple[str, str | None], list[tuple[Key, Key]]] = {}
    for key in found:
        plain = key.but(order="given", method="plain")
        if key != plain and plain in found:
            families.setdefault((key.judge, key.dataset), []).append((key, plain))
    rows: list[Row] = []
    for name, pairs in families.items():
        seed = how.own(*name, "against plain").seed
        asked = pl.DataFrame({side: [places[pair[n]] for pair in pairs] for n, side in enumerate(_ENDS)})
        tested = differences(pl.concat(values), asked, seed=seed, tests=stepwise_tests)
        own = [
            {**_beside_plain(*pair, test), "score": _mean(found[pair[0]]), "plain_score": _mean(found[pair[1]])}
            for pair, test in zip(pairs, tested.iter_rows(named=True), strict=True)
        ]
        n = max(row["n_queries"] for row in own)
        rows.append({"judge": name[0], "dataset": name[1], "n_sign_changes": n_sign_changes(n), "rows": own})
    return rows


_ENDS = ("first_system", "second_system")


def _beside_plain(key: Key, plain: Key, test: Row) -> Row:
    points = interval(test, 0, _POINTS)
    return {
        "summarizer": key.system.summarizer,
        "setting": key.system.setting,
        "plain": plain.system.setting,
        "order": key.system.order,
        "method": key.system.method,
        "difference": points.value,
        "low": points.low,
        "high": points.high,
        "p": test["p_alone"],
        "p_holm": test["p"],
        "n_queries": test["n_clusters"],
        "finding": finding_words(test),
    }


def length_rows(summaries: pl.DataFrame, how: Averaging) -> list[Row]:
    """
    Return faithfulness by length, as Figure 3, with the curve by place at each length (the surface).

    A row a judge, data set, summarizer, order and method with several lengths, in one `unit`: documents, or tokens that
    whole documents fit. `lengths` have each its score and its curve (None if no place is known), and both units:
    `n_documents` is the mean over prompts, from `fewest` to `most`, and `length_tokens` is None if the unit is
    documents.
    """
    return [
        {**base.named(), "unit": unit, "lengths": [_length(column, own[key], how, base) for key in by_length]}
        for unit, column in (("tokens", "length_tokens"), ("documents", "n_documents"))
        for base, own in alike(summaries.drop_nulls(column), n_documents=None, length_tokens=None).items()
        if len(by_length := sorted(own, key=lambda key: getattr(key.system, column))) > 1
    ]


def _length(column: str, group: pl.DataFrame, how: Averaging, base: Key) -> Row:
    given, length = group["n_given"], group[column][0]
    places = _curves(group, how, base, how.resamples) if group["by_place"].any() else None
    return {
        "n_documents": length if column == "n_documents" else given.mean(),
        "fewest": given.min(),
        "most": given.max(),
        "length_tokens": length if column == "length_tokens" else None,
        "faithfulness": score(group, how, base, length).as_json(),
        "curve": places["faithfulness"]["curve"] if places else None,
    }


def permutation_rows(summaries: pl.DataFrame, half_width: float | None) -> list[Row]:
    """
    Return the score over drawn orders: their mean with its interval over orders (Student's t).

    A row a judge, system and data set.

    `narrow`: whether the interval is within *half_width* points to either side; None: no width was asked for.
    """
    drawn = alike(summaries.drop_nulls("permutation"), permutation=None)
    return [{**base.named(), **_over_orders([*own.values()], half_width)} for base, own in drawn.items()]


def _over_orders(orders: Sequence[pl.DataFrame], half_width: float | None) -> Row:
    from scipy.stats import t as student_t  # slow to import

    scores = [_mean(group) for group in orders]
    known = np.array([score for score in scores if score is not None])
    if len(known) < len(orders) or len(known) < 2:
        unknown = Estimate(None, None, None, len(known)).as_json()
        return {"n_orders": len(orders), "lowest": None, "highest": None, "narrow": None, "calibrated": unknown}
    mean = float(known.mean())
    half = float(student_t.ppf((1 + LEVEL) / 2, len(known) - 1) * known.std(ddof=1) / np.sqrt(len(known)))
    return {
        "n_orders": len(orders),
        "calibrated": Estimate(mean, mean - half, mean + half, len(known)).as_json(),
        "lowest": float(known.min()),
        "highest": float(known.max()),
        "narrow": None if half_width is None else half <= half_width,
    }


def _mean(group: pl.DataFrame) -> float | None:
    total, n = samples(group, "pooled").select("total", "n").sum().row(0)
    return _POINTS * total / n if n else None
