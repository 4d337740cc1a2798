"""Holds verdicts against labels: the figures of a card, and several judges beside each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from jobs.calibration.label_texts import data_set_statistics
from jobs.calibration.labelled import Calibration, Labelled, Verdicts
from longform.judges.adversarial import Scored, ScoredPair, adversarial
from longform.judges.card_columns import (
    Adversarial,
    Card,
    CardFrame,
    CostColumns,
    Figures,
    LabelSet,
    Reach,
)
from longform.judges.card_figures import (
    average_bias,
    sample_bias,
    shown_row,
    support_figures,
    target_figures,
    target_labels,
)
from longform.judges.cards import describe, held_out_rows
from longform.judges.kind import Kind
from longform.judges.merges import (
    DOCUMENT,
    JOINED,
    Cells,
    graded,
    label_set,
    labelled_items,
    merged_rows,
    order_study,
    text_index,
)
from longform.judges.meta_evaluation import NOT_EACH, HeldJudge, meta_evaluation
from longform.judges.offline_coverage import shipped_judge
from longform.judges.worth import WORTHS, LabelledItem, pairs_of, target_item
from longform.metrics.coverage import citation_quality
from longform.metrics.faithfulness import RECOMMENDED
from longform.metrics.statistics import Array
from longform.results.judges_compared import judges_answer
from longform.results.results import VerbAnswer
from longform.rows import JudgementRow
from longform.settings.judges import JudgeSettings
from longform.text.citations import bullets, cited_numbers

NOTHING_OLDER = {"of_targets": None, "of_support": None}
"""The names of findings in results of older versions."""


class Measured(NamedTuple):
    """The findings on a judge that was held against labels."""

    card: Card | None  # None: the labels allow none
    told: Mapping[str, Any] | None  # all findings, if the card is a part of them
    n: int  # answers that were wanted
    n_unjudged: int
    held: HeldJudge  # for comparing it with others of its task
    # figures by every way to merge, if sentences were checked against documents
    merges: Sequence[Mapping[str, Any]] = ()


def measured(calibration: Calibration, verdicts: Verdicts, frame: CardFrame) -> Measured:
    """Hold the judge's verdicts against the labels; its card begins with *frame*."""
    of_kind = _by_documents if calibration.kind.of_documents else _by_targets
    return of_kind(calibration, verdicts, frame)


def compared(labelled: Labelled, found: Sequence[Measured], kind: Kind) -> VerbAnswer:
    """Hold several judges of a kind beside each other; beside the tables stand the findings of older versions."""
    of_documents, worth = kind.of_documents, WORTHS[kind.worth]
    labels = _checked_labels(labelled) if of_documents else target_labels(labelled.labels, labelled.summaries)
    is_each = not of_documents or DOCUMENT in (mode.name for mode in labelled.modes)
    beside = meta_evaluation(
        worth,
        [one.held for one in found],
        labels,
        task=kind.task,
        settings=labelled.scoring.settings,
        unanswered=None if is_each else NOT_EACH,
    )
    if of_documents:
        beside["importance"] = labelled.importance.words if labelled.orders else None
        beside["statistics"] = data_set_statistics(labelled.place, labelled.texts)
        beside["grid"] = [{"judge": one.held.name, **row} for one in found for row in one.merges]
    older = {**NOTHING_OLDER, "of_support" if of_documents else "of_targets": beside}
    return judges_answer(beside, worth)._replace(beside=older)


def _checked_labels(labelled: Labelled) -> LabelSet:
    return label_set([text.summary for text in labelled.texts], labelled.chosen)


# ---------------------------------------------------------------- by targets


def _by_targets(calibration: Calibration, verdicts: Verdicts, frame: CardFrame) -> Measured:
    labelled, settings = calibration.labelled, calibration.labelled.scoring.settings
    items = _target_items(calibration, labelled.as_written(verdicts))
    fitted = fitted_haystacks(calibration.members.values())
    labels = target_labels(labelled.labels, labelled.summaries)
    figures = target_figures(items, labelled.summaries, labels, fitted=fitted, settings=settings)
    if held_out := _held_out(calibration.settings, figures):
        figures["held_out"] = held_out
    if (perturbed := _adversarial(calibration, verdicts)) is not None:
        figures["adversarial"] = perturbed
    card: Card = {**frame, **figures}
    pairs, summaries = pairs_of(items), labelled.summaries
    average = average_bias(pairs, summaries, settings).as_json()
    more = {"bias": {**sample_bias(pairs, summaries, settings), "average": average}}
    cost = _cost(calibration, frame["cost"])
    held = HeldJudge(calibration.judge, items, fitted, cost, describe(card), more, perturbed)
    return Measured(card, None, len(items), figures["n_unjudged"], held)


def _target_items(calibration: Calibration, verdicts: Verdicts) -> list[LabelledItem]:
    labelled, queries = calibration.labelled, calibration.labelled.place.benchmark.queries
    answers = {(row["summary_id"], row["target_id"]): row for rows in verdicts.values() for row in rows}
    rows = [(label, labelled.summaries[label["summary_id"]]) for label in labelled.labels]
    return [
        target_item(
            calibration.kind,
            label,
            answers.get((label["summary_id"], label["target_id"])),
            source=row["haystack_id"],
            part=queries[row["query_id"]].domain,
        )
        for label, row in rows
    ]


def _adversarial(calibration: Calibration, verdicts: Verdicts) -> Adversarial | None:
    """Return the section of a card on perturbed summaries; None if a judge of this kind has none."""
    labelled = calibration.labelled
    if labelled.why_unperturbed is not None:
        return {"rows": [], "missing": {}, "reason": labelled.why_unperturbed}
    if not labelled.perturbations:
        return None
    return adversarial(labelled.copies, _scored_by(calibration, verdicts), **labelled.scoring.settings)


def _scored_by(calibration: Calibration, verdicts: Verdicts) -> Scored:
    """Return the views of a judge, whose *verdicts* have the name of a perturbation as their mode."""
    kind, labelled, copies = calibration.kind, calibration.labelled, calibration.labelled.copies
    benchmark, summaries = labelled.place.benchmark, labelled.summaries
    found = {
        (mode if mode in {name for name, _ in copies} else None, row["summary_id"], row["target_id"]): row
        for (mode, _), rows in verdicts.items()
        for row in rows
    }

    def scored(perturbation: str | None, summary: str, target: str) -> ScoredPair:
        row = found.get((perturbation, summary, target))
        if row is None or row["answer"] is None:
            return ScoredPair(None)
        score = kind.number(row["answer"], row["probability"])
        gold = benchmark.gold_numbers(summaries[summary]["haystack_id"])
        if gold is None or not kind.counts[row["answer"]] or row["linked_unit"] is None:
            return ScoredPair(score)
        lines = (
            [bullet.text for bullet in bullets(summaries[summary]["text"] or "")]
            if perturbation is None
            else copies[perturbation, summary].lines
        )
        return ScoredPair(score, citation_quality(cited_numbers(lines[row["linked_unit"]]), gold[target]).precision)

    return scored


def _cost(calibration: Calibration, cost: CostColumns) -> CostColumns:
    """Return the cost of these verdicts; that of predictions is printed for another set of summaries."""
    released = [name for name in calibration.members if name not in calibration.made]
    if not released:
        return cost
    return {"usd": None, "why": f"the release does not say what predictions on these summaries cost ({cost['why']})"}


def fitted_haystacks(judges: Iterable[JudgeSettings | None]) -> frozenset[str]:
    """Return the haystacks whose summaries any of *judges* was fitted on."""
    models = {judge.fitted_model for judge in judges if judge is not None}
    return frozenset(one for model in models if model is not None for one in shipped_judge(model).fitted_haystacks)


def _held_out(judge: JudgeSettings | None, card: Figures) -> list[Reach]:
    """Return figures of the offline judge on text it was fitted on, with a part left out; only beside such labels."""
    fitted = None if judge is None else judge.fitted_model
    return held_out_rows(fitted) if fitted is not None and any(row["fitted"] for row in card["texts"]) else []


# ---------------------------------------------------------------- by documents


def _by_documents(calibration: Calibration, verdicts: Verdicts, frame: CardFrame) -> Measured:
    labelled, scoring = calibration.labelled, calibration.labelled.scoring
    summaries, modes = [text.summary for text in labelled.texts], [mode.name for mode in labelled.modes]
    cells, failures = cells_of(calibration.kind, verdicts)
    n, n_unjudged = sum(matrix.size for matrix in cells.values()), sum(failures.values())
    told = {
        "judge": calibration.judge,
        **graded(summaries, cells, modes, scoring),
        "n_cells": n,
        "n_cells_unjudged": n_unjudged,
        "failures": failures,
        "orders": order_study(summaries, cells, scoring) if labelled.orders else None,
    }
    card: Card | None = {**frame, **support_figures(told, _checked_labels(labelled))} if shown_row(told) else None
    items = [
        item
        for summary in summaries
        for item in labelled_items(summary, cells.get((DOCUMENT, summary.summary_id)), RECOMMENDED, scoring)
    ]
    more = {
        "threshold": scoring.threshold,
        "n_cells": n,
        "n_unjudged": n_unjudged,
        "in_sample": [],  # no judge of support is fitted on labels
        "orders": told["orders"],
    }
    line = describe(card) if card else None
    held = HeldJudge(calibration.judge, items, frozenset(), frame["cost"], line, more)
    return Measured(card, told, n, n_unjudged, held, list(merged_rows(told["grid"], cuts=_cuts(verdicts))))


def cells_of(kind: Kind, verdicts: Verdicts) -> tuple[Cells, dict[str, int]]:
    """Return the cells, and how many were not judged, by reason."""
    missing = (
        row["failure"] or "no reason recorded" for rows in verdicts.values() for row in rows if row["answer"] is None
    )
    return {key: _matrix(kind, rows) for key, rows in verdicts.items()}, dict(Counter(missing))


def _matrix(kind: Kind, rows: Sequence[JudgementRow]) -> Array:
    at = [(text_index(row), row["unit_index"] or 0) for row in rows]
    matrix = np.full((max(p for p, _ in at) + 1, max(s for _, s in at) + 1), np.nan)
    for cell, row in zip(at, rows, strict=True):
        value = kind.number(row["answer"], row["probability"])
        matrix[cell] = np.nan if value is None else value
    return matrix


def _cuts(verdicts: Verdicts) -> bool:
    """Return whether the judge read joined documents in windows of its own."""
    joined = (rows for (mode, _), rows in verdicts.items() if mode == JOINED.name)
    return any(row["chunk_index"] is not None for rows in joined for row in rows)
