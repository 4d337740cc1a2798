"""
Several judges of support beside each other, as the tables of Wan et al. have metrics of faithfulness.

On Positional Bias of Faithfulness for Long-form Summarization: table 2 (statistics of the data sets), table 3 (merging
over documents by judge), table 4 (orders of the joined documents), table 6 (chunks), table 7 (merging over documents
and over sentences). Balanced accuracy throughout, in each data set and its mean over data sets; intervals resample
articles within each data set.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from longform.judges.card_columns import CostColumns, OrderStudy
from longform.judges.meta_evaluation import (
    DOCUMENT,
    FULL,
    Cells,
    LabelledSummary,
    Scoring,
    grid_items,
    labelled_numbers,
)
from longform.judges.people_agreement import ONE_ANNOTATOR, Findings, people_agreement
from longform.metrics.agreement import Label
from longform.metrics.balanced import Labelled, mean_recall, recall_sums
from longform.metrics.contrasts import Compared, contrasts, n_used
from longform.metrics.faithfulness import RECOMMENDED
from longform.metrics.statistics import Array, cluster_sums, drawn_sums, of_draws

ORIGINAL = "original"
"""The joined documents as a judge cuts them itself, and the maximum over its windows (table 3's first row)."""

AVERAGE = "average"


class SupportJudge(NamedTuple):
    """
    A judge with its cells.

    Attributes:
        name: Its name.
        cells: (mode, summary id) -> numbers, NaN unjudged.
        cuts: True if it cuts long texts into windows of its own.
        orders: The study of orders; None: it was not asked.
        scoring: Rules by which its numbers become figures.
        cost: Of its verdicts.
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


NOT_EACH = "the documents were not judged each apart (mode document)"


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
    scoring = judges[0].scoring
    settings = {"seed": scoring.seed, "resamples": scoring.resamples}
    answers = {judge.name: list(_answers(judge, summaries, people)) for judge in judges} if DOCUMENT in modes else {}
    among = people_agreement(people, answers, {"supported": 1.0, "unsupported": 0.0}, **settings)
    return {
        "importance": importance,
        "statistics": list(statistics),
        "judges": [_judge(judge) for judge in judges],
        "grid": [row for judge in judges for row in _grid(judge, summaries, modes)],
        "differences": list(_differences(judges, summaries)) if DOCUMENT in modes else [],
        "differences_reason": None if DOCUMENT in modes else NOT_EACH,
        "people": among,
        "people_reason": None if among else ONE_ANNOTATOR,
    }


def _judge(judge: SupportJudge) -> Findings:
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


# ---------------------------------------------------------------- merging


def _grid(judge: SupportJudge, summaries: Sequence[LabelledSummary], modes: Sequence[str]) -> Iterator[Findings]:
    for documents, sentences, items in grid_items(summaries, judge.cells, modes, judge.scoring):
        name = ORIGINAL if documents == FULL and judge.cuts else documents
        yield _merged(judge, name, sentences, items)


def _merged(judge: SupportJudge, documents: str, sentences: str, items: Mapping[str, Sequence[Labelled]]) -> Findings:
    sums = {name: _set_sums(of_set, judge.scoring.threshold) for name, of_set in items.items()}
    drawn = {name: _drawn(of_set, judge.scoring) for name, of_set in sums.items()}
    numbers = {name: sum(one.number is not None for one in of_set) for name, of_set in items.items()}
    found = {name: of_draws(values, numbers[name]) for name, values in drawn.items()}
    undefined = [name for name, one in found.items() if one.value is None]
    # a data set of one article has no draws, and then the average has no interval
    sets = np.broadcast_arrays(*drawn.values()) if drawn and not undefined else [np.array([np.nan])]
    whole = np.mean(np.stack(sets), axis=0)
    average = of_draws(whole, sum(numbers.values()))
    if any(one.low is None for one in found.values()):
        average = average._replace(low=None, high=None)
    reasons = dict.fromkeys(undefined, "labels of one class alone, or none judged")
    return {
        "judge": judge.name,
        "documents": documents,
        "sentences": sentences,
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


# ---------------------------------------------------------------- differences


def _recommended(judge: SupportJudge, summaries: Sequence[LabelledSummary]) -> Mapping[str, Sequence[Labelled]]:
    rows = grid_items(summaries, judge.cells, [DOCUMENT], judge.scoring)
    wanted = (RECOMMENDED.documents, RECOMMENDED.sentences)
    return next(items for documents, sentences, items in rows if (documents, sentences) == wanted)


def _differences(judges: Sequence[SupportJudge], summaries: Sequence[LabelledSummary]) -> Iterator[Findings]:
    """Yield the differences of each two judges in each data set and on average, as one family."""
    items = [_recommended(judge, summaries) for judge in judges]
    names = list(items[0])
    articles = list(dict.fromkeys(one.cluster for name in names for one in items[0][name]))
    places = [
        (first, second, part)
        for first, second in combinations(range(len(judges)), 2)
        for part in [*names, *([AVERAGE] if len(names) > 1 else [])]
    ]
    family = [
        _compared(
            [(items[first][name], items[second][name]) for name in (names if part == AVERAGE else [part])],
            (judges[first].scoring.threshold, judges[second].scoring.threshold),
            articles,
        )
        for first, second, part in places
    ]
    settings = {"seed": judges[0].scoring.seed, "resamples": judges[0].scoring.resamples}
    for (first, second, part), found in zip(places, contrasts(family, **settings), strict=True):
        yield {
            "first": judges[first].name,
            "second": judges[second].name,
            "data_set": part,
            "difference": found,
        }


def _compared(
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
    return Compared(np.hstack(blocks), _difference_of(len(sets)), n, min(map(n_used, blocks)))


def _difference_of(n_sets: int) -> Callable[[Array], Array]:
    def of_sums(sums: Array) -> Array:
        parts = [mean_recall(block[:, :4]) - mean_recall(block[:, 4:]) for block in np.hsplit(sums, n_sets)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            found: Array = np.mean(np.stack(parts), axis=0)
        return found

    return of_sums


# ---------------------------------------------------------------- people


def _answers(judge: SupportJudge, summaries: Sequence[LabelledSummary], people: Sequence[Label]) -> Iterator[Label]:
    """Yield the judge's answer beside each label of people, which stand in the order of *summaries*."""
    numbers = [one for items in _in_order(judge, summaries) for one in items]
    for label, one in zip(people, numbers, strict=True):
        if one is not None:
            answer = "supported" if one > judge.scoring.threshold else "unsupported"
            yield Label(judge.name, label.summary_id, label.item, answer, None, one)


def _in_order(judge: SupportJudge, summaries: Sequence[LabelledSummary]) -> Iterator[list[float | None]]:
    for summary in summaries:
        cells = judge.cells.get((DOCUMENT, summary.summary_id))
        if cells is None:
            yield [None] * len(summary.labels)
            continue
        found = labelled_numbers(summary, cells, RECOMMENDED, fidelity=judge.scoring.fidelity)
        yield [one.number for one in found]
