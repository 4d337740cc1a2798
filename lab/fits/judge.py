"""
Fits the offline judge of coverage on labels of released summaries, and measures it on labels it was not fitted on.

The ordinal model learns from labels alone. A guard's strength is the one at which damaged copies come closest to what
they should score (`lab.fits.judge_examples`). What is left out, by haystack or by query, reaches neither.

Not fitted, but chosen by hand: the features and guards of the judge by words, the constants of
`longform.judges.offline_coverage`, and how far a denial reaches (`longform.judges.claims`). They were chosen with
labels of both news topics in sight, people's among them, so that figures against people are of held-out coefficients,
not of a held-out design. What was tried and not taken reached r .80 to .83 there; the largest single step was from
denials that reach to the end of the sentence (.81) to the published six words (.83). Other designs of words alone,
chosen with a topic left out, gained too little there to ship (decision 92).

The judge that reads vectors beside words is fitted on people's labels of two topics. Its design
(`longform.judges.coverage_model.VECTORS`) was chosen by fits on each topic measured on the other, with both in view:
figures of a topic kept out are of held-out coefficients, not of a held-out design.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, partial
from itertools import product
from typing import NamedTuple

import numpy as np

from lab.fits import INTERVALS, fit_logistic, significant
from lab.fits.judge_examples import ANSWERS, JudgeExample, LabelledSet, LabelledSummary, judge_examples
from longform.errors import LongformError
from longform.judges.card_columns import Reach, reach_of
from longform.judges.card_figures import SCALE_NAMES, TOPIC_KEPT_OUT
from longform.judges.coverage_model import VECTORS, WORDS, Calibration, Design, JudgeModel, column
from longform.judges.offline_coverage import SHIPPED, Reading
from longform.judges.perturbations import PERTURBATIONS, dropped, perturb
from longform.metrics import agreement
from longform.metrics.agreement import WEIGHTS, JudgedPair, Label

PEOPLE_VECTORS = "people-vectors"
TEXTS_HELD = 50_000
"""More than all texts of the study and their copies, which take about 0.3 GB."""
PENALTY_STRENGTH: Mapping[Calibration, float] = {"people": 0.1, "gpt-4o": 1.0}
"""Inverse of the L2 penalty: 562 labels of people, 10,374 of GPT-4o."""
_CUTS = (0.5, 1.0)  # labels from which an answer is partial, and full


def fit_judge(
    examples: Sequence[JudgeExample],
    *,
    calibration: Calibration,
    fitted_on: str,
    left_out: Collection[str],
    design: Design = WORDS,
) -> JudgeModel:
    """
    The judge that the examples of one annotator teach, but those of haystacks and queries whose ids are *left_out*.

    Their evidence must be by the rule of the design.

    Raises:
        LongformError: What is left does not hold all three labels.
    """
    kept = [e for e in examples if e.haystack_id not in left_out and e.query_id not in left_out]
    released = [e for e in kept if e.damage is None]
    labels = np.array([e.label for e in released])
    if set(labels.tolist()) != set(WEIGHTS.values()):
        raise LongformError(f"{fitted_on}: expected examples of all labels, found {sorted(set(labels.tolist()))}")
    features = np.stack([column([e.evidence for e in released], name) for name in design.features], axis=1)
    strength = PENALTY_STRENGTH[calibration]
    partly, fully = (fit_logistic(features, labels >= cut, strength=strength) for cut in _CUTS)
    unguarded = JudgeModel(
        calibration=calibration,
        fitted_on=fitted_on,
        fitted_haystacks=tuple(sorted({e.haystack_id for e in kept})),
        coefficients=(partly[0], fully[0]),
        intercepts=(partly[1], fully[1]),
        strengths={},
        cuts=(0.0, 0.0),
        features=design.features,
        fit=design.fit,
    )
    model = unguarded._replace(strengths=_strengths(unguarded, kept, design.guards))
    scores = model.scores([e.evidence for e in released])
    shares = [(labels < cut).mean() for cut in _CUTS]  # those of the answers are those of the labels
    partial_from, full_from = np.quantile(scores, shares).tolist()
    return model._replace(cuts=(significant(partial_from), significant(full_from)))


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
    labels: dict[Calibration, LabelledSet] = {"people": people, "gpt-4o": gpt4o}
    return {
        f"{SHIPPED[name]}.json": fit_judge(judge_examples(own), calibration=name, fitted_on=own.name, left_out=())
        for name, own in labels.items()
    }


# ---------------------------------------------------------------- reach

_TEST_SEED = 29
"""Not the seed of the copies that the guards were fitted on."""

Models = Callable[[str], JudgeModel]
"""Query id -> the model that its summaries are judged by."""


def judge_reach(
    people: LabelledSet, gpt4o: LabelledSet, *, kept_out: LabelledSet | None, damage: Damage
) -> list[Reach]:
    """
    Return the agreement of the judges by words with labels that they were not fitted on.

    Of *people* one query at a time is left out; of *gpt4o* nothing about people's haystacks reaches a judge that is
    measured. *kept_out* are people's labels of topics that nothing else here labels.
    """
    examples, marked = judge_examples(people), judge_examples(gpt4o)
    rows = []
    if kept_out is not None:
        for transfer in (
            Transfer("people", examples, people.name, kept_out, "people"),
            Transfer("people", judge_examples(kept_out), kept_out.name, people, "people"),
            Transfer("gpt-4o", marked, gpt4o.name, kept_out, "gpt-4o"),
        ):
            rows += topic_reach(transfer, damage)
    by_people = models_without(examples, people.name)
    rows += _all_reach("people", people, by_people, damage, f"{people.name}, without the query")
    by_gpt4o = Transfer("gpt-4o", marked, gpt4o.name, people, "gpt-4o").fit()
    return rows + _all_reach("GPT-4o", people, lambda _: by_gpt4o, damage, f"{gpt4o.name}, without the haystack")


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
    model, scale = transfer.fit(), f"{SCALE_NAMES[transfer.judge]}, {TOPIC_KEPT_OUT}"
    return _all_reach(scale, transfer.measured, lambda _: model, damage, transfer.fitted_on)


def _all_reach(scale: str, labelled: LabelledSet, models: Models, damage: Damage, fitted_on: str) -> list[Reach]:
    rows = [
        *agreement_reach(labelled, models, fitted_on=fitted_on),
        *drop_reach(labelled, models, damage, fitted_on=fitted_on),
    ]
    return [{**row, "measure": f"judge as {scale}: {row['measure']}"} for row in rows]


def models_without(
    examples: Sequence[JudgeExample], fitted_on: str, *, calibration: Calibration = "people", design: Design = WORDS
) -> Models:
    """Return the judge that the other queries, or the other haystacks, teach; each is fitted once."""
    fit = partial(fit_judge, examples, calibration=calibration, fitted_on=fitted_on, design=design)
    return cache(lambda left_out: fit(left_out=[left_out]))


class Topics:
    """People's labels of two topics, with an encoder, for the judge that reads vectors; examples are made once."""

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
        models = models_without(self.examples, self.name, design=VECTORS)
        for topic in self.sets:
            fitted_on = "labels of both topics, without the query"
            found += _all_reach(SCALE_NAMES[PEOPLE_VECTORS], topic, models, damage, fitted_on)
        return found


def _read(labelled: LabelledSet, models: Models) -> list[tuple[LabelledSummary, list[Reading]]]:
    insights = labelled.query_insights()
    return [(s, insights[s.query_id].readings(s.lines, models(s.query_id))) for s in labelled.summaries]


def agreement_reach(people: LabelledSet, models: Models, *, fitted_on: str) -> list[Reach]:
    pairs = [
        JudgedPair(
            summary.summary_id,
            Label("people", summary.summary_id, place, answer, link),
            Label("judge", summary.summary_id, place, reading.answer, reading.linked, reading.score),
        )
        for summary, readings in _read(people, models)
        for place, (answer, link, reading) in enumerate(zip(summary.answers, summary.links, readings, strict=True))
        if answer is not None and reading.answer is not None
    ]
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


def bullets_outside(labelled: LabelledSet, haystacks: Collection[str]) -> list[str]:
    return [line for s in labelled.summaries if s.haystack_id not in haystacks for line in s.lines[1:]]


def drop_reach(labelled: LabelledSet, models: Models, damage: Damage, *, fitted_on: str) -> list[Reach]:
    """Return drops of the mean score by each way to damage a summary."""
    insights, read = labelled.query_insights(), _read(labelled, models)
    scores: dict[tuple[str, str], list[tuple[str, float, float]]] = {}
    for name, (summary, before) in product(PERTURBATIONS, read):
        query = damage.query_texts[summary.query_id]
        changed = perturb(name, summary.lines, seed=_TEST_SEED, foreign=damage.foreign, query=query)
        after = insights[summary.query_id].readings(changed, models(summary.query_id))
        targets = labelled.targets[summary.query_id]
        for target, answer, old, new in zip(targets, summary.answers, before, after, strict=True):
            # a changed number can be seen only where the insight has one
            tells = name != "number" or perturb(name, [target.text], seed=_TEST_SEED) != [target.text]
            if old.score is not None and new.score is not None and answer is not None and tells:
                for rows in ("fully covered", "all"):
                    pair = (summary.summary_id, old.score, new.score)
                    scores.setdefault((name, rows), []).extend([pair] if rows == "all" or answer == "full" else [])
    return [
        reach_of(
            f"drop by {name}, {rows}", dropped(of, **INTERVALS)["drop"], fitted_on=fitted_on, scored_on=labelled.name
        )
        for (name, rows), of in scores.items()
    ]
