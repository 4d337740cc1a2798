"""Reach of the judge by spelling, which measures the offline summarizer, on labels that it was not fitted on."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lab.fits.judge_examples import LabelledSet
from lab.fits.reach import INTERVALS
from lab.fits.spelling_judge import SpelledExample, SpellingModel, fit_spelling, spelled_examples
from longform.judges.card_columns import Reach, reach_of
from longform.metrics import agreement
from longform.metrics.agreement import JudgedPair

PEOPLE_STRENGTH, GPT4O_STRENGTH = 0.1, 1.0
"""Inverse penalties, as those of the offline judge: 562 labels of people, 10,374 of GPT-4o."""

ModelOf = Callable[[SpelledExample], SpellingModel]
"""The judge of an example, fitted without it."""


def spelling_reach(people: LabelledSet, gpt4o: LabelledSet, kept_out: LabelledSet | None) -> list[Reach]:
    """
    Return the agreement of the judge with labels that it was not fitted on.

    Args:
        people: People's labels. Queries are left out one at a time.
        gpt4o: GPT-4o's labels of at least two haystacks, left out one at a time, also where people's are measured.
        kept_out: People's labels of topics that nothing else here labels; None: there are none.
    """
    asked, marked = spelled_examples(people), spelled_examples(gpt4o)
    by_query = {
        query_id: fit_spelling(asked, strength=PEOPLE_STRENGTH, left_out=[query_id])
        for query_id in dict.fromkeys(example.query_id for example in asked)
    }
    by_haystack = {
        haystack_id: fit_spelling(marked, strength=GPT4O_STRENGTH, left_out=[haystack_id])
        for haystack_id in dict.fromkeys(example.haystack_id for example in [*asked, *marked])
    }
    without = f"{gpt4o.name}, without the haystack"
    rows = [
        *_agreement(asked, lambda e: by_query[e.query_id], f"{people.name}, without the query", people.name),
        *_agreement(asked, lambda e: by_haystack[e.haystack_id], without, people.name),
    ]
    for haystack_id in dict.fromkeys(example.haystack_id for example in marked):
        scored = [example for example in marked if example.haystack_id == haystack_id]
        rows += _agreement(
            scored, lambda e: by_haystack[e.haystack_id], without, f"GPT-4o's labels, haystack {haystack_id}"
        )
    return [*rows, *(_transfer(people, asked, gpt4o, marked, kept_out) if kept_out else ())]


def _transfer(
    people: LabelledSet,
    asked: Sequence[SpelledExample],
    gpt4o: LabelledSet,
    marked: Sequence[SpelledExample],
    kept_out: LabelledSet,
) -> list[Reach]:
    unseen = spelled_examples(kept_out)
    haystacks = {example.haystack_id for example in unseen}
    by_people = fit_spelling(asked, strength=PEOPLE_STRENGTH, left_out=haystacks)
    by_gpt4o = fit_spelling(marked, strength=GPT4O_STRENGTH, left_out=haystacks)
    return [
        *_agreement(unseen, lambda _: by_people, people.name, kept_out.name),
        *_agreement(unseen, lambda _: by_gpt4o, gpt4o.name, kept_out.name),
    ]


def _agreement(examples: Sequence[SpelledExample], model_of: ModelOf, fitted_on: str, scored_on: str) -> list[Reach]:
    pairs = [_pair(example, model_of(example)) for example in examples]
    measures = {
        "pearson": agreement.score_agreement,
        "kappa": agreement.answer_kappa,
        "linking recall": agreement.linking_recall,
        "bias of answers": agreement.mean_bias,
    }
    return [
        reach_of(f"judge by spelling: {name}", measure(pairs, **INTERVALS), fitted_on=fitted_on, scored_on=scored_on)
        for name, measure in measures.items()
    ]


def _pair(example: SpelledExample, model: SpellingModel) -> JudgedPair:
    [(answer, _)], [score] = model.readings([example.evidence]), model.scores([example.evidence]).tolist()
    linked = None if answer == "none" else example.evidence.closest
    return JudgedPair(example.summary_id, example.answer, example.link, answer, linked, score)
