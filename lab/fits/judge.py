"""
Fits the offline judge of coverage on labels of released summaries, and measures it on labels it was not fitted on.

The ordinal model learns from labels alone. A guard's strength is the one at which damaged copies come closest to what
they should score (`lab.fits.judge_examples`). What is left out, by haystack or by query, reaches neither.

Not fitted, but chosen by hand: the features and guards of the judge by words, the constants of
`longform.judges.offline_coverage`, and how far a denial reaches (`longform.text.statements`). They were chosen with
labels of both news topics in sight, people's among them, so that figures against people are of held-out coefficients,
not of a held-out design. What was tried and not taken reached r .80 to .83 there; the largest single step was from
denials that reach to the end of the sentence (.81) to the published six words (.83). Other designs of words alone,
chosen with a topic left out, gained too little there to ship (decision 92); `lab.fits.judge_vectors` fits the
design that reads vectors.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from lab.fits.judge_examples import (
    ANSWERS,
    JudgeExample,
    LabelledSet,
    LabelledSummary,
    judge_examples,
)
from lab.fits.logistic import cuts_by_shares, fit_ordinal, significant
from lab.fits.reach import INTERVALS
from longform.errors import LongformError
from longform.judges.card_columns import Reach, reach_of
from longform.judges.coverage_model import WORDS, Calibration, Design, JudgeModel, column
from longform.judges.offline_coverage import Reading
from longform.judges.perturbations import PERTURBATIONS, PerturbedScore, drop_table, perturb
from longform.judges.target_cards import SCALE_NAMES, TOPIC_KEPT_OUT
from longform.metrics import agreement
from longform.metrics.agreement import WEIGHTS, JudgedPair
from longform.metrics.coverage import score_summary
from longform.metrics.measure import Verdict

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
    second: LabelledSet,
    gpt4o: LabelledSet,
    *,
    kept_out: LabelledSet | None,
    query_texts: Mapping[str, str],
    gold: Mapping[str, Collection[int]],
) -> list[Reach]:
    """
    Return the judge's agreement with labels that it was not fitted on.

    Args:
        people: People's labels. Queries are left out one at a time.
        second: GPT-4o's labels of the same summaries, whose mean with the judge is measured too.
        gpt4o: GPT-4o's labels of at least two haystacks, left out one at a time; those of people's haystacks never
            reach a judge that is measured against people.
        kept_out: People's labels of topics that nothing else here labels; None: there are none.
        query_texts: Query id -> its text, of all queries that people labelled.
        gold: Insight id -> numbers of the documents that state it, of *gpt4o*'s insights.
    """
    haystacks = {summary.haystack_id for summary in people.summaries}
    gpt4o_examples = judge_examples(gpt4o)
    others = fit_judge(gpt4o_examples, calibration="gpt-4o", fitted_on=gpt4o.name, left_out=haystacks)
    without_query = _models_without_query(people)
    without_haystack = dict.fromkeys(people.targets, others)
    foreign = bullets_outside(gpt4o, haystacks)
    found = []
    if kept_out is not None:
        found += [
            row
            for transfer in (
                Transfer("people", judge_examples(people), people.name, kept_out, "people"),
                Transfer("people", judge_examples(kept_out), kept_out.name, people, "people"),
                Transfer("gpt-4o", gpt4o_examples, gpt4o.name, kept_out, "gpt-4o"),
            )
            for row in topic_reach(transfer, foreign, query_texts)
        ]
    for scale, models, fitted_on in (
        ("people", without_query, f"{people.name}, without the query"),
        ("GPT-4o", without_haystack, f"{gpt4o.name}, without the haystack"),
    ):
        rows = [
            *agreement_reach(people, models, fitted_on=fitted_on),
            *_mean_reach(people, second, models, fitted_on=fitted_on),
            *drop_reach(people, models, foreign, query_texts, fitted_on=fitted_on),
        ]
        found += [row._replace(measure=f"judge as {scale}: {row.measure}") for row in rows]
    return [*found, _second_alone(people, second), *_system_reach(gpt4o, gpt4o_examples, gold)]


class Transfer(NamedTuple):
    """A fit whose every example is of another topic than the labels that it is measured on."""

    calibration: Calibration
    examples: Sequence[JudgeExample]
    fitted_on: str
    measured: LabelledSet
    judge: str  # the name of the shipped judge whose design it has
    design: Design = WORDS


def topic_reach(transfer: Transfer, foreign: Sequence[str], query_texts: Mapping[str, str]) -> list[Reach]:
    """Agreement and drops on topics kept out of the fit."""
    labelled = transfer.measured
    model = fit_judge(
        transfer.examples,
        calibration=transfer.calibration,
        fitted_on=transfer.fitted_on,
        left_out={summary.haystack_id for summary in labelled.summaries},
        design=transfer.design,
    )
    models = dict.fromkeys(labelled.targets, model)
    rows = [
        *agreement_reach(labelled, models, fitted_on=transfer.fitted_on),
        *drop_reach(labelled, models, foreign, query_texts, fitted_on=transfer.fitted_on),
    ]
    scale = SCALE_NAMES[transfer.judge]
    return [row._replace(measure=f"judge as {scale}, {TOPIC_KEPT_OUT}: {row.measure}") for row in rows]


def _models_without_query(labelled: LabelledSet) -> Models:
    examples = judge_examples(labelled)
    return {
        query_id: fit_judge(examples, calibration="people", fitted_on=labelled.name, left_out=[query_id])
        for query_id in dict.fromkeys(summary.query_id for summary in labelled.summaries)
    }


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


def _mean_reach(people: LabelledSet, second: LabelledSet, models: Models, *, fitted_on: str) -> list[Reach]:
    """Correlation with people of the mean of the judge and the second annotator."""
    verdicts = {summary.summary_id: summary.answers for summary in second.summaries}
    mean = []
    for summary, readings in _read(people, models):
        for pair, verdict in zip(_pairs(summary, readings), verdicts[summary.summary_id], strict=True):
            assert verdict is not None
            assert pair.probability is not None
            mean.append(pair._replace(probability=(pair.probability + WEIGHTS[verdict]) / 2))
    agreed = agreement.score_agreement(mean, **INTERVALS)
    return [reach_of("pearson of the mean with GPT-4o's verdict", agreed, fitted_on=fitted_on, scored_on=people.name)]


def _second_alone(people: LabelledSet, second: LabelledSet) -> Reach:
    verdicts = {summary.summary_id: summary for summary in second.summaries}
    pairs = [
        JudgedPair(summary.summary_id, answer, link, verdict, second_link, None)
        for summary in people.summaries
        for answer, link, verdict, second_link in zip(
            summary.answers,
            summary.links,
            verdicts[summary.summary_id].answers,
            verdicts[summary.summary_id].links,
            strict=True,
        )
        if answer is not None and verdict is not None
    ]
    agreed = agreement.answer_agreement(pairs, **INTERVALS)
    return reach_of("GPT-4o's own verdicts: pearson", agreed, fitted_on="nothing", scored_on=people.name)


# ---------------------------------------------------------------- perturbations


def bullets_outside(labelled: LabelledSet, haystacks: Collection[str]) -> list[str]:
    return [line for s in labelled.summaries if s.haystack_id not in haystacks for line in s.lines[1:]]


def drop_reach(
    people: LabelledSet, models: Models, foreign: Sequence[str], query_texts: Mapping[str, str], *, fitted_on: str
) -> list[Reach]:
    """Drops of the mean score; the foreign text is none that the guards were fitted with."""
    scores = [score for name in PERTURBATIONS for score in _perturbed(people, models, name, foreign, query_texts)]
    found = []
    for row in drop_table(scores, **INTERVALS):
        place = f"{row.perturbation}, {row.rows}"
        found.append(reach_of(f"drop by {place}", row.drop, fitted_on=fitted_on, scored_on=people.name))
    return found


def _perturbed(
    people: LabelledSet, models: Models, name: str, foreign: Sequence[str], query_texts: Mapping[str, str]
) -> list[PerturbedScore]:
    insights = people.query_insights()
    found = []
    for summary, before in _read(people, models):
        changed = perturb(name, summary.lines, seed=_TEST_SEED, foreign=foreign, query=query_texts[summary.query_id])
        after = insights[summary.query_id].readings(changed, models[summary.query_id])
        texts = [target.text for target in people.targets[summary.query_id]]
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


# ---------------------------------------------------------------- systems


def _system_reach(
    gpt4o: LabelledSet, examples: Sequence[JudgeExample], gold: Mapping[str, Collection[int]]
) -> list[Reach]:
    """Joint scores of systems on each haystack, by the judge fitted on the others, against GPT-4o's own labels."""
    found = []
    for haystack_id in dict.fromkeys(summary.haystack_id for summary in gpt4o.summaries):
        scored = gpt4o.only(haystack_id)
        model = fit_judge(examples, calibration="gpt-4o", fitted_on=gpt4o.name, left_out=[haystack_id])
        read = _read(scored, dict.fromkeys(scored.targets, model))
        judged = [(s, [r.answer for r in readings], [r.linked for r in readings]) for s, readings in read]
        labels = [(s, list(s.answers), list(s.links)) for s in scored.summaries]
        ours, theirs = _joint_scores(judged, gpt4o, gold), _joint_scores(labels, gpt4o, gold)
        found += _system_figures(ours, theirs, f"{gpt4o.name}, without haystack", f"haystack {haystack_id}")
    return found


def _system_figures(
    ours: Mapping[str, float], theirs: Mapping[str, float], fitted_on: str, scored_on: str
) -> list[Reach]:
    from scipy.stats import kendalltau

    a, b = (np.array([scores[system] for system in theirs]) for scores in (ours, theirs))
    values = {
        "judge as GPT-4o: Kendall tau of systems' joint scores": float(kendalltau(a, b).statistic),
        "judge as GPT-4o: mean absolute error of systems' joint scores, in points": 100 * float(np.abs(a - b).mean()),
    }
    return [Reach(name, value, None, None, len(a), fitted_on, scored_on) for name, value in values.items()]


def _joint_scores(
    judged: Iterable[tuple[LabelledSummary, Sequence[str | None], Sequence[int | None]]],
    labelled: LabelledSet,
    gold: Mapping[str, Collection[int]],
) -> dict[str, float]:
    """System -> its joint score pooled over insights, as the product scores it."""
    totals: dict[str, tuple[float, int]] = {}
    for summary, answers, links in judged:
        targets = labelled.targets[summary.query_id]
        verdicts = [
            Verdict(target.target_id, answer, linked_unit=link)
            for target, answer, link in zip(targets, answers, links, strict=True)
        ]
        joint = next(
            s for s in score_summary(verdicts, summary.bullets, gold, partial_score=0.5) if s.measure == "joint"
        )
        total, n = totals.get(summary.system, (0.0, 0))
        totals[summary.system] = (total + joint.total, n + joint.n)
    return {system: total / n for system, (total, n) in totals.items()}
