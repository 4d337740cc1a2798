"""
Fits the offline judge of coverage on labels of released summaries, and measures it on labels it was not fitted on.

The ordinal model learns from labels alone. A guard's strength is the one at which damaged copies come closest to what
they should score (`lab.fits.judge_examples`). What is left out, by haystack or by query, reaches neither.

Not fitted, but chosen by hand: the features and guards of the judge by words, the constants of
`longform.judges.offline_coverage`, and how far a denial reaches (`longform.text.statements`). They were chosen with
labels of both news topics in sight, people's among them, so that figures against people are of held-out coefficients,
not of a held-out design. What was tried and not taken reached r .80 to .83 there; the largest single step was from
denials that reach to the end of the sentence (.81) to the published six words (.83). Other designs of words alone,
chosen with a topic left out, gained too little there to ship (decision 92).

The judge that reads vectors beside words is fitted on people's labels of two topics. Its design
(`longform.judges.coverage_model.VECTORS`) was chosen by fits on each topic measured on the other, with both in view:
figures of a topic kept out are of held-out coefficients, not of a held-out design.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from lab.fits import INTERVALS, cuts_by_shares, fit_ordinal, significant
from lab.fits.judge_examples import (
    ANSWERS,
    JudgeExample,
    LabelledSet,
    LabelledSummary,
    judge_examples,
)
from longform.errors import LongformError
from longform.judges.card_columns import Reach, reach_of
from longform.judges.coverage_model import VECTORS, WORDS, Calibration, Design, JudgeModel, column
from longform.judges.offline_coverage import Reading
from longform.judges.perturbations import PERTURBATIONS, PerturbedScore, drop_table, perturb
from longform.judges.target_cards import SCALE_NAMES, TOPIC_KEPT_OUT
from longform.metrics import agreement
from longform.metrics.agreement import WEIGHTS, JudgedPair

PEOPLE_VECTORS = "people-vectors"
TEXTS_HELD = 50_000
"""More than all texts of the study and their copies, which take about 0.3 GB."""
PENALTY_STRENGTH: Mapping[Calibration, float] = {"people": 0.1, "gpt-4o": 1.0}
"""Inverse of the L2 penalty: 562 labels of people, 10,374 of GPT-4o."""


def fit_judge(
    examples: Sequence[JudgeExample],
    *,
    calibration: Calibration,
    fitted_on: str,
    left_out: Collection[str],
    design: Design = WORDS,
) -> JudgeModel:
    """
    The judge that the examples teach.

    Args:
        examples: Of one annotator, their evidence by the rule of the design.
        calibration: Whose labels they carry.
        fitted_on: What they are, in words, for the model's reader.
        left_out: Haystack ids and query ids whose examples must not reach the fit.
        design: The features and guards of the judge.

    Raises:
        LongformError: What is left does not hold all three labels.
    """
    kept = [e for e in examples if e.haystack_id not in left_out and e.query_id not in left_out]
    released = [e for e in kept if e.damage is None]
    labels = np.array([e.label for e in released])
    if set(labels.tolist()) != set(WEIGHTS.values()):
        raise LongformError(f"{fitted_on}: expected examples of all labels, found {sorted(set(labels.tolist()))}")
    features = np.stack([column([e.evidence for e in released], name) for name in design.features], axis=1)
    coefficients, intercepts = fit_ordinal(features, labels, strength=PENALTY_STRENGTH[calibration])
    unguarded = JudgeModel(
        calibration=calibration,
        fitted_on=fitted_on,
        fitted_haystacks=tuple(sorted({e.haystack_id for e in kept})),
        coefficients=coefficients,
        intercepts=intercepts,
        strengths={},
        cuts=(0.0, 0.0),
        features=design.features,
        fit=design.fit,
    )
    model = unguarded._replace(strengths=_strengths(unguarded, kept, design.guards))
    scores = model.scores([e.evidence for e in released])
    return model._replace(cuts=cuts_by_shares(scores, labels))


def _strengths(
    unguarded: JudgeModel, examples: Sequence[JudgeExample], guards: Sequence[str] = WORDS.guards
) -> dict[str, float]:
    """Guard -> the strength s in [0, 1] that minimises the squared distance of score (1 - s guard) from the label."""
    strengths = {}
    for guard in guards:
        damage = ANSWERS[guard]
        copies = [e for e in examples if e.damage == damage]
        evidence = [e.evidence for e in copies]
        scores, labels = unguarded.unguarded_scores(evidence), np.array([e.label for e in copies])
        taken = scores * column(evidence, guard)
        total = float(taken @ taken)
        if total == 0:
            raise LongformError(f"no copy damaged by {damage!r} moves the guard {guard!r}: its strength is unknown")
        strengths[guard] = significant(min(1.0, max(0.0, float(taken @ (scores - labels)) / total)))
    return strengths


def fit_shipped_judges(people: LabelledSet, gpt4o: LabelledSet) -> dict[str, JudgeModel]:
    """File name in `longform/models` -> the judge fitted on all that the release labels, nothing left out."""
    return {
        "judge_people.json": fit_judge(
            judge_examples(people), calibration="people", fitted_on=people.name, left_out=()
        ),
        "judge_gpt4o.json": fit_judge(judge_examples(gpt4o), calibration="gpt-4o", fitted_on=gpt4o.name, left_out=()),
    }


# ---------------------------------------------------------------- reach

_TEST_SEED = 29
"""Not the seed of the copies that the guards were fitted on."""

Models = Mapping[str, JudgeModel]
"""Query id -> the model that its summaries are judged by."""


def judge_reach(
    people: LabelledSet,
    gpt4o: LabelledSet,
    *,
    kept_out: LabelledSet | None,
    query_texts: Mapping[str, str],
) -> list[Reach]:
    """
    Return the agreement of the judges by words with labels that they were not fitted on.

    Args:
        people: People's labels. Queries are left out one at a time.
        gpt4o: GPT-4o's labels; those of people's haystacks never reach a judge that is measured.
        kept_out: People's labels of topics that nothing else here labels; None: there are none.
        query_texts: Query id -> its text, of all queries that people labelled.
    """
    haystacks = {summary.haystack_id for summary in people.summaries}
    examples, marked = judge_examples(people), judge_examples(gpt4o)
    others = fit_judge(marked, calibration="gpt-4o", fitted_on=gpt4o.name, left_out=haystacks)
    damage = Damage(bullets_outside(gpt4o, haystacks), query_texts)
    transfers = (
        []
        if kept_out is None
        else [
            Transfer("people", examples, people.name, kept_out, "people"),
            Transfer("people", judge_examples(kept_out), kept_out.name, people, "people"),
            Transfer("gpt-4o", marked, gpt4o.name, kept_out, "gpt-4o"),
        ]
    )
    by_people, by_gpt4o = f"{people.name}, without the query", f"{gpt4o.name}, without the haystack"
    models = models_without_query(people, examples)
    return [
        *(row for transfer in transfers for row in topic_reach(transfer, damage)),
        *_all_reach("people", people, models, damage, by_people),
        *_all_reach("GPT-4o", people, dict.fromkeys(people.targets, others), damage, by_gpt4o),
    ]


class Damage(NamedTuple):
    """Text to damage summaries with, which the guards were not fitted with, and their queries by id."""

    foreign: Sequence[str]
    query_texts: Mapping[str, str]


class Transfer(NamedTuple):
    """A fit whose every example is of another topic than the labels that it is measured on."""

    calibration: Calibration
    examples: Sequence[JudgeExample]
    fitted_on: str
    measured: LabelledSet
    judge: str  # the name of the shipped judge whose design it has
    design: Design = WORDS

    def fit(self) -> JudgeModel:
        """Return the judge, fitted without the topic."""
        return fit_judge(
            self.examples,
            calibration=self.calibration,
            fitted_on=self.fitted_on,
            left_out={summary.haystack_id for summary in self.measured.summaries},
            design=self.design,
        )


def topic_reach(transfer: Transfer, damage: Damage) -> list[Reach]:
    """Return agreement and drops on topics kept out of the fit."""
    labelled, scale = transfer.measured, f"{SCALE_NAMES[transfer.judge]}, {TOPIC_KEPT_OUT}"
    return _all_reach(scale, labelled, dict.fromkeys(labelled.targets, transfer.fit()), damage, transfer.fitted_on)


def _all_reach(scale: str, labelled: LabelledSet, models: Models, damage: Damage, fitted_on: str) -> list[Reach]:
    rows = [
        *agreement_reach(labelled, models, fitted_on=fitted_on),
        *drop_reach(labelled, models, damage, fitted_on=fitted_on),
    ]
    return [row._replace(measure=f"judge as {scale}: {row.measure}") for row in rows]


def models_without_query(
    labelled: LabelledSet, examples: Sequence[JudgeExample], *, fitted_on: str = "", design: Design = WORDS
) -> Models:
    """Return for each query of *labelled* the judge that the other queries teach."""
    name = fitted_on or labelled.name
    return {
        query_id: fit_judge(examples, calibration="people", fitted_on=name, left_out=[query_id], design=design)
        for query_id in dict.fromkeys(summary.query_id for summary in labelled.summaries)
    }


class Topics:
    """
    People's labels of two topics, for the judge that reads vectors; their examples are made once.

    Args:
        first: Labels of one topic, with an encoder.
        second: Labels of another topic.
    """

    def __init__(self, first: LabelledSet, second: LabelledSet) -> None:
        of_first, of_second = (judge_examples(topic, VECTORS.fit) for topic in (first, second))
        self.sets, self.examples = (first, second), [*of_first, *of_second]
        self.name = f"{first.name} and {second.name}"
        self.transfers = [
            Transfer("people", of_first, first.name, second, PEOPLE_VECTORS, VECTORS),
            Transfer("people", of_second, second.name, first, PEOPLE_VECTORS, VECTORS),
        ]

    def fit(self) -> JudgeModel:
        """Return the judge that both topics teach."""
        return fit_judge(self.examples, calibration="people", fitted_on=self.name, left_out=(), design=VECTORS)

    def reach(self, damage: Damage) -> list[Reach]:
        """Return what the judge reaches on a topic that was kept out, both ways, then on queries that were left out."""
        found = [row for transfer in self.transfers for row in topic_reach(transfer, damage)]
        for topic in self.sets:
            models = models_without_query(topic, self.examples, fitted_on=self.name, design=VECTORS)
            fitted_on = "labels of both topics, without the query"
            found += _all_reach(SCALE_NAMES[PEOPLE_VECTORS], topic, models, damage, fitted_on)
        return found


def _read(labelled: LabelledSet, models: Models) -> list[tuple[LabelledSummary, list[Reading]]]:
    insights = labelled.query_insights()
    return [(s, insights[s.query_id].readings(s.lines, models[s.query_id])) for s in labelled.summaries]


def _pairs(summary: LabelledSummary, readings: Sequence[Reading]) -> list[JudgedPair]:
    return [
        JudgedPair(summary.summary_id, answer, link, reading.answer, reading.linked, reading.score)
        for answer, link, reading in zip(summary.answers, summary.links, readings, strict=True)
        if answer is not None and reading.answer is not None
    ]


def agreement_reach(people: LabelledSet, models: Models, *, fitted_on: str) -> list[Reach]:
    pairs = [pair for summary, readings in _read(people, models) for pair in _pairs(summary, readings)]
    measures = {
        "pearson": agreement.score_agreement,
        "pearson of answers": agreement.answer_agreement,
        "kappa": agreement.answer_kappa,
        "linking recall": agreement.linking_recall,
        "bias of answers": agreement.mean_bias,
    }
    return [
        reach_of(name, measure(pairs, **INTERVALS), fitted_on=fitted_on, scored_on=people.name)
        for name, measure in measures.items()
    ]


# ---------------------------------------------------------------- perturbations


def bullets_outside(labelled: LabelledSet, haystacks: Collection[str]) -> list[str]:
    return [line for s in labelled.summaries if s.haystack_id not in haystacks for line in s.lines[1:]]


def drop_reach(labelled: LabelledSet, models: Models, damage: Damage, *, fitted_on: str) -> list[Reach]:
    """Return drops of the mean score by each way to damage a summary."""
    scores = [score for name in PERTURBATIONS for score in _perturbed(labelled, models, name, damage)]
    return [
        reach_of(f"drop by {row.perturbation}, {row.rows}", row.drop, fitted_on=fitted_on, scored_on=labelled.name)
        for row in drop_table(scores, **INTERVALS)
    ]


def _perturbed(labelled: LabelledSet, models: Models, name: str, damage: Damage) -> list[PerturbedScore]:
    insights = labelled.query_insights()
    found = []
    for summary, before in _read(labelled, models):
        query = damage.query_texts[summary.query_id]
        changed = perturb(name, summary.lines, seed=_TEST_SEED, foreign=damage.foreign, query=query)
        after = insights[summary.query_id].readings(changed, models[summary.query_id])
        texts = [target.text for target in labelled.targets[summary.query_id]]
        found += [
            PerturbedScore(name, summary.summary_id, answer == "full", old.score, new.score)
            for text, answer, old, new in zip(texts, summary.answers, before, after, strict=True)
            if old.score is not None
            and new.score is not None
            and answer is not None
            # a changed number can be seen only where the insight has one
            and (name != "number" or perturb(name, [text], seed=_TEST_SEED) != [text])
        ]
    return found
