"""
Several judges of a task beside each other, on the same labels: agreement, cost, differences, people's own agreement.

Judges of a summary's targets: SummHay, table 1 (insight-level Pearson correlation, linking accuracy and cost of each
judge) and table 4 (bias by family of summarizers and its average over families; words a bullet against score and
against bias).

Judges of support, as the tables of Wan et al. (On Positional Bias of Faithfulness for Long-form Summarization) have
metrics of faithfulness: table 2 (statistics of the data sets), table 3 (merging over documents by judge), table 4
(orders of the joined documents), table 6 (chunks), table 7 (merging over documents and over sentences). Balanced
accuracy throughout, in each data set and its mean over data sets; intervals resample articles within each data set.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from longform.judges.card_columns import Adversarial, CostColumns, OrderStudy
from longform.judges.card_figures import LabelledTarget, labels_of_targets, pairs_of, sample_bias
from longform.judges.meta_evaluation import (
    DOCUMENT,
    FULL,
    Cells,
    LabelledSummary,
    Scoring,
    grid_items,
    items_by_data_set,
    labelled_numbers,
)
from longform.judges.people_agreement import ONE_ANNOTATOR, Findings, people_agreement
from longform.metrics import agreement
from longform.metrics.agreement import JudgedPair, Label
from longform.metrics.balanced import Labelled, mean_recall, recall_sums
from longform.metrics.contrasts import Compared, contrasts, n_used
from longform.metrics.faithfulness import RECOMMENDED
from longform.metrics.statistics import (
    Array,
    Estimate,
    bootstrap,
    cluster_sums,
    drawn_sums,
    of_draws,
    pearson_of_sums,
)
from longform.rows import SummaryRow

ALL = "all"
"""The part of the labels that is all of them."""

NO_KIND = "text of unknown kind"

ORIGINAL = "original"
"""The joined documents as a judge cuts them itself, and the maximum over its windows (table 3's first row)."""

AVERAGE = "average"

NOT_EACH = "the documents were not judged each apart (mode document)"

Settings = Mapping[str, int]


def _differences(
    names: Sequence[str],
    column: str,
    parts: Sequence[str],
    compared: Callable[[int, int, str], Compared],
    settings: Settings,
) -> Iterator[Findings]:
    """Yield the differences of each two judges in each of *parts*, which *column* names, as one family."""
    places = [(first, second, part) for first, second in combinations(range(len(names)), 2) for part in parts]
    found = contrasts([compared(*place) for place in places], **settings)
    for (first, second, part), difference in zip(places, found, strict=True):
        yield {"first": names[first], "second": names[second], column: part, "difference": difference}


def _people(
    people: Sequence[Label], answers: Mapping[str, Sequence[Label]], counts: Mapping[str, float], settings: Settings
) -> Findings:
    among = people_agreement(people, answers, counts, **settings)
    return {"people": among, "people_reason": None if among else ONE_ANNOTATOR}


# ---------------------------------------------------------------- targets


class TargetJudge(NamedTuple):
    """
    A judge with its answers beside people's labels.

    Attributes:
        targets: All labels of people, with its verdicts; the same labels in the same order for all judges.
        fitted_haystacks: Haystacks whose summaries it was fitted on.
        card: The line of its card.
        adversarial: The card's section on perturbed summaries; None: it has none.
    """

    name: str
    targets: Sequence[LabelledTarget]
    fitted_haystacks: frozenset[str]
    cost: CostColumns
    card: str
    adversarial: Adversarial | None = None

    def of(self, places: Sequence[int]) -> list[LabelledTarget]:
        return [self.targets[place] for place in places]

    def is_fitted_on(self, places: Sequence[int]) -> bool:
        return any(one.haystack_id in self.fitted_haystacks for one in self.of(places))


Parts = Mapping[str, Sequence[int]]
"""Part of the labels -> the places of its labels."""


def target_meta(
    judges: Sequence[TargetJudge], summaries: Mapping[str, SummaryRow], *, task: str, settings: Settings
) -> Findings:
    """
    Hold several judges of a task beside each other, one or more, of the same labels.

    A judge's figures of a part of the labels leave out `n_unjudged` of `n_labels`; it is `in_sample` if the judge was
    fitted on some of them. Biases are a judge's mean score less that of people, of 1, over summaries.
    """
    targets = judges[0].targets
    parts = _parts(targets)
    people = [one.people for one in targets if one.people is not None]
    answers = {judge.name: [one.answer for one in judge.targets if one.answer is not None] for judge in judges}
    return {
        "task": task,
        "labels": labels_of_targets(targets),
        "n_labels": len(people),
        "parts": list(parts),
        "judges": [_target_judge(judge, parts, summaries, settings) for judge in judges],
        "differences": [row for part in parts for row in _target_differences(judges, part, parts[part], settings)],
        **_people(people, answers, targets[0].counts, settings),
    }


def _parts(targets: Sequence[LabelledTarget]) -> Parts:
    """Return all labels, and those of each kind of text if there are several."""
    kinds = sorted({one.text for one in targets}, key=str)
    found: dict[str, Sequence[int]] = {ALL: range(len(targets))}
    for kind in kinds if len(kinds) > 1 else ():
        found[kind or NO_KIND] = [place for place, one in enumerate(targets) if one.text == kind]
    return found


def _target_judge(
    judge: TargetJudge, parts: Parts, summaries: Mapping[str, SummaryRow], settings: Settings
) -> Findings:
    pairs = pairs_of(judge.targets)
    return {
        "judge": judge.name,
        "card": judge.card,
        "adversarial": judge.adversarial,
        "cost": judge.cost,
        "parts": {part: _part(judge, places, settings) for part, places in parts.items()},
        "bias": {
            **sample_bias(pairs, summaries, settings),
            "average": _average(pairs, summaries, settings).as_json(),
        },
    }


def _part(judge: TargetJudge, places: Sequence[int], settings: Settings) -> Findings:
    labelled = [one for one in judge.of(places) if one.people is not None]
    pairs = pairs_of(labelled)
    return {
        "pearson": agreement.score_agreement(pairs, **settings).as_json(),
        "linking_accuracy": agreement.linking_accuracy(pairs, **settings).as_json(),
        "n_labels": len(labelled),
        "n_unjudged": len(labelled) - len(pairs),
        "in_sample": judge.is_fitted_on(places),
    }


def _average(pairs: Sequence[JudgedPair], summaries: Mapping[str, SummaryRow], settings: Settings) -> Estimate:
    """Return the mean over families of their mean bias; a family that a resample lacks is left out of it."""
    ids, _, biases = agreement.sample_biases(pairs)
    families = [summaries[one]["summarizer"] for one in ids]
    names = sorted(set(families))
    belongs = np.array([[family == name for name in names] for family in families], dtype=np.float64)
    belongs = belongs.reshape(len(ids), len(names))  # (summaries, families), also of none

    def of_sums(sums: Array) -> Array:
        found: Array = np.nanmean(sums[:, : len(names)] / sums[:, len(names) :], axis=1)
        return found

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of means of nothing but NaN
        columns = np.hstack([belongs * biases[:, None], belongs])
        return bootstrap(columns, ids, of_sums, n=len(ids), **settings)


def _target_differences(
    judges: Sequence[TargetJudge], part: str, places: Sequence[int], settings: Settings
) -> Iterator[Findings]:
    """Yield the differences of each two judges' correlations, on the labels that both judged, as one family."""
    own = judges[0].of(places)
    numbers = [[one.number(one.answer) for one in judge.of(places)] for judge in judges]
    people, clusters = [one.number(one.people) for one in own], [one.summary_id for one in own]
    fitted = {judge.name for judge in judges if judge.is_fitted_on(places)}

    def compared(first: int, second: int, _part: str) -> Compared:
        return _correlations(numbers[first], numbers[second], people, clusters)

    for row in _differences([judge.name for judge in judges], "part", [part], compared, settings):
        yield {**row, "in_sample": [row[side] for side in ("first", "second") if row[side] in fitted]}


def _correlations(
    first: Sequence[float | None],
    second: Sequence[float | None],
    people: Sequence[float | None],
    clusters: Sequence[str],
) -> Compared:
    """Compare two correlations with people on the items that have all three numbers."""
    rows = np.array([(a, b, c) for a, b, c in zip(first, second, people, strict=True)], dtype=np.float64)
    there = ~np.isnan(rows).any(axis=1)
    rows = rows - (rows[there].mean(axis=0) if there.any() else 0.0)
    x, y, z = rows.T
    columns = np.column_stack([np.ones_like(x), x, z, x * x, z * z, x * z, y, y * y, y * z])
    columns[~there] = 0.0

    def of_sums(sums: Array) -> Array:
        second = np.column_stack([sums[:, 0], sums[:, 6], sums[:, 2], sums[:, 7], sums[:, 4], sums[:, 8]])
        found: Array = pearson_of_sums(sums[:, :6]) - pearson_of_sums(second)
        return found

    return Compared(cluster_sums(columns, clusters), of_sums, int(there.sum()))


# ---------------------------------------------------------------- support


class SupportJudge(NamedTuple):
    """
    A judge with its cells.

    Attributes:
        cells: (mode, summary id) -> numbers, NaN unjudged.
        cuts: True if it cuts long texts into windows of its own.
        orders: The study of orders; None: it was not asked.
        scoring: Rules by which its numbers become figures.
        card: The line of its card; None: it has none, as the documents were not judged each apart.
        n_unjudged: Cells without a number, of n_cells.
        n_cells: Cells in all.
    """

    name: str
    cells: Cells
    cuts: bool
    orders: OrderStudy | None
    scoring: Scoring
    cost: CostColumns
    card: str | None
    n_unjudged: int
    n_cells: int


def support_meta(
    judges: Sequence[SupportJudge],
    summaries: Sequence[LabelledSummary],
    statistics: Sequence[Mapping[str, Any]],
    people: Sequence[Label],
    modes: Sequence[str],
    *,
    importance: str | None,
) -> Findings:
    """
    Hold several judges of support beside each other.

    Args:
        judges: One or more, of the same labels.
        summaries: With people's labels.
        statistics: A row for each data set.
        people: The same labels, each with its annotator.
        modes: The texts that sentences were checked against, but for orders.
        importance: The rule by which orders rank documents, in words; None: there are no orders.
    """
    scoring, each = judges[0].scoring, DOCUMENT in modes
    settings = {"seed": scoring.seed, "resamples": scoring.resamples}
    answers = {judge.name: list(_answers(judge, summaries, people)) for judge in judges} if each else {}
    return {
        "importance": importance,
        "statistics": list(statistics),
        "judges": [_support_judge(judge) for judge in judges],
        "grid": [row for judge in judges for row in _grid(judge, summaries, modes)],
        "differences": list(_support_differences(judges, summaries, settings)) if each else [],
        "differences_reason": None if each else NOT_EACH,
        **_people(people, answers, {"supported": 1.0, "unsupported": 0.0}, settings),
    }


def _support_judge(judge: SupportJudge) -> Findings:
    return {
        "judge": judge.name,
        "card": judge.card,
        "cost": judge.cost,
        "threshold": judge.scoring.threshold,
        "n_cells": judge.n_cells,
        "n_unjudged": judge.n_unjudged,
        "in_sample": [],  # no judge of support is fitted on labels
        "orders": judge.orders,
    }


def _grid(judge: SupportJudge, summaries: Sequence[LabelledSummary], modes: Sequence[str]) -> Iterator[Findings]:
    for documents, sentences, items in grid_items(summaries, judge.cells, modes, judge.scoring):
        name = ORIGINAL if documents == FULL and judge.cuts else documents
        yield {"judge": judge.name, "documents": name, "sentences": sentences, **_merged(items, judge.scoring)}


def _merged(items: Mapping[str, Sequence[Labelled]], scoring: Scoring) -> Findings:
    """Return the balanced accuracy of one merging in each data set, and its mean over them."""
    drawn = {name: _drawn(_set_sums(of_set, scoring.threshold), scoring) for name, of_set in items.items()}
    numbers = {name: sum(one.number is not None for one in of_set) for name, of_set in items.items()}
    found = {name: of_draws(values, numbers[name]) for name, values in drawn.items()}
    undefined = [name for name, one in found.items() if one.value is None]
    # a data set of one article has no draws, and then the average has no interval
    sets = np.broadcast_arrays(*drawn.values()) if drawn and not undefined else [np.array([np.nan])]
    average = of_draws(np.mean(np.stack(sets), axis=0), sum(numbers.values()))
    if any(one.low is None for one in found.values()):
        average = average._replace(low=None, high=None)
    reasons = dict.fromkeys(undefined, "labels of one class alone, or none judged")
    return {
        "data_sets": {name: one.as_json() for name, one in found.items()},
        "average": average.as_json(),
        "reasons": reasons | ({AVERAGE: f"undefined in {', '.join(undefined)}"} if undefined else {}),
    }


def _set_sums(items: Sequence[Labelled], threshold: float) -> Array:
    """Return the sums of each article's judged labels, shape (articles, 4); no label was judged: one row of zeros."""
    judged = [one for one in items if one.number is not None]
    if not judged:
        return np.zeros((1, 4))
    numbers = np.array([one.number for one in judged], dtype=np.float64)
    labels = np.array([one.supported for one in judged], dtype=bool)
    return cluster_sums(recall_sums(numbers, labels, threshold=threshold), [one.cluster for one in judged])


def _drawn(sums: Array, scoring: Scoring) -> Array:
    """Return the balanced accuracy, then that of each draw of articles; of one article there are no draws."""
    drawn = drawn_sums(sums, seed=scoring.seed, resamples=scoring.resamples if len(sums) > 1 else 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.concatenate([mean_recall(some) for some in (sums.sum(axis=0, keepdims=True), *drawn)])


def _support_differences(
    judges: Sequence[SupportJudge], summaries: Sequence[LabelledSummary], settings: Settings
) -> Iterator[Findings]:
    """Return the differences of each two judges in each data set and on average, as one family."""
    items = [items_by_data_set(summaries, judge.cells, DOCUMENT, RECOMMENDED, judge.scoring) for judge in judges]
    names = list(items[0])
    articles = list(dict.fromkeys(one.cluster for name in names for one in items[0][name]))

    def compared(first: int, second: int, part: str) -> Compared:
        sets = [(items[first][name], items[second][name]) for name in (names if part == AVERAGE else [part])]
        return _recalls(sets, (judges[first].scoring.threshold, judges[second].scoring.threshold), articles)

    parts = [*names, *([AVERAGE] if len(names) > 1 else [])]
    return _differences([judge.name for judge in judges], "data_set", parts, compared, settings)


def _recalls(
    sets: Sequence[tuple[Sequence[Labelled], Sequence[Labelled]]],
    thresholds: tuple[float, float],
    articles: Sequence[object],
) -> Compared:
    """Compare two balanced accuracies on labels that both judged: of one data set, or means over several."""
    place = {article: index for index, article in enumerate(articles)}
    blocks, n = [], 0
    for one_set in sets:
        both = [(a, b) for a, b in zip(*one_set, strict=True) if a.number is not None and b.number is not None]
        block = np.zeros((len(articles), 8))
        if both:
            labels = np.array([a.supported for a, _ in both], dtype=bool)
            rows = [
                recall_sums(np.array([pair[side].number for pair in both], dtype=np.float64), labels, threshold=bound)
                for side, bound in enumerate(thresholds)
            ]
            np.add.at(block, [place[a.cluster] for a, _ in both], np.hstack(rows))
        blocks.append(block)
        n += len(both)

    def of_sums(sums: Array) -> Array:
        parts = [mean_recall(block[:, :4]) - mean_recall(block[:, 4:]) for block in np.hsplit(sums, len(sets))]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            found: Array = np.mean(np.stack(parts), axis=0)
        return found

    return Compared(np.hstack(blocks), of_sums, n, min(map(n_used, blocks)))


def _answers(judge: SupportJudge, summaries: Sequence[LabelledSummary], people: Sequence[Label]) -> Iterator[Label]:
    """Yield the judge's answer beside each label of people, which stand in the order of *summaries*."""
    numbers = [one for summary in summaries for one in _numbers(judge, summary)]
    for label, one in zip(people, numbers, strict=True):
        if one is not None:
            answer = "supported" if one > judge.scoring.threshold else "unsupported"
            yield Label(judge.name, label.summary_id, label.item, answer, None, one)


def _numbers(judge: SupportJudge, summary: LabelledSummary) -> list[float | None]:
    cells = judge.cells.get((DOCUMENT, summary.summary_id))
    if cells is None:
        return [None] * len(summary.labels)
    return [one.number for one in labelled_numbers(summary, cells, RECOMMENDED, fidelity=judge.scoring.fidelity)]
