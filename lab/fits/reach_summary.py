"""Reach of the offline summarizer and of the retrievers on haystacks that no part of them was fitted on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab.fits.haystacks import GoldHaystack, ranked_queries
from lab.fits.ranker import fit_ranker
from lab.fits.reach import INTERVALS
from lab.fits.reach_support import support_without
from lab.fits.spelling_judge import SpellingModel, spelled_evidence
from longform.judges.card_columns import Reach, reach_of
from longform.judges.coverage_model import JudgeModel
from longform.judges.offline_coverage import QueryInsights, stem_weights
from longform.metrics.coverage import score_summary
from longform.metrics.measure import Verdict
from longform.metrics.retrieval import gold_recall
from longform.metrics.statistics import pooled_mean
from longform.records import Query, Target
from longform.retrieval.packing import pack
from longform.retrieval.ranking import ranked, z_sum
from longform.retrieval.statements import cluster_feedback_scores, statement_scores
from longform.summaries.extractive import Extractor, bullet_lines
from longform.text.citations import bullets

MAX_WORDS = 300
BUDGET_TOKENS = 15_000
N_STATEMENTS = 12

_OTHERS = "gold maps of the other haystacks"

Total = tuple[float, int, str]  # sum, count, query id
Judge = Callable[[Sequence[str]], Sequence[tuple[str | None, int | None]]]
"""Bullets -> the answer to each insight of one query, and the bullet that says it."""

JudgeFor = Callable[[GoldHaystack, Query], Judge]
"""The judge of a query's summary, fitted without it."""


class SummaryJudge(NamedTuple):
    """A judge that summaries are measured by."""

    name: str  # as figures name it
    fitted_on: str
    judge_for: JudgeFor


def judge_by_words(haystack: GoldHaystack, query: Query, model: JudgeModel) -> Judge:
    """Return the offline judge of one query."""
    weights = stem_weights([target.text for target in haystack.targets])
    insights = QueryInsights(haystack.insights(query), weights)
    return lambda lines: [(reading.answer, reading.linked) for reading in insights.readings(lines, model)]


def judge_by_spelling(haystack: GoldHaystack, query: Query, model: SpellingModel) -> Judge:
    """Return the judge by spelling of one query."""
    insights = haystack.insights(query)
    return lambda lines: model.readings(spelled_evidence(insights, lines))


class HeldOut(NamedTuple):
    """A haystack with the summarizer that was fitted on the others."""

    haystack: GoldHaystack
    extractor: Extractor


def held_out(haystacks: Sequence[GoldHaystack]) -> list[HeldOut]:
    """Each haystack with support model and ranker of the others; the ranker's features come from that model too."""
    found = []
    for haystack in haystacks:
        model = support_without(haystacks, "vectors", haystack.haystack_id)
        others = [other for other in haystacks if other is not haystack]
        ranker = fit_ranker(ranked_queries(others, model), left_out=[haystack.haystack_id])
        found.append(HeldOut(haystack, haystack.extractor(model, ranker)))
    return found


# ---------------------------------------------------------------- summaries


def summary_reach(systems: Sequence[HeldOut], judges: Sequence[SummaryJudge]) -> list[Reach]:
    """
    Coverage, citation and joint score of the summaries of whole haystacks, by each judge.

    As many bullets as the query has insights, at most 300 words. A domain of several haystacks has figures of each.
    """
    found = []
    for judge in judges:
        totals: dict[tuple[str, str], list[Total]] = {}
        for system in systems:
            groups = _groups(system, systems)
            for measure, total in _scored(system, judge.judge_for):
                for group in groups:
                    totals.setdefault((measure, group), []).append(total)
        found += [
            _reach(
                f"summarizer, judged {judge.name}: {measure}",
                rows,
                fitted_on=f"{_OTHERS}; {judge.fitted_on}",
                scored_on=group,
            )
            for (measure, group), rows in totals.items()
        ]
    return found


def _groups(system: HeldOut, systems: Sequence[HeldOut]) -> list[str]:
    domain = system.haystack.domain
    alone = sum(other.haystack.domain == domain for other in systems) == 1
    return ["all", domain, *([] if alone else [f"haystack {system.haystack.haystack_id}"])]


def _scored(system: HeldOut, judge_for: JudgeFor) -> Iterable[tuple[str, Total]]:
    haystack = system.haystack
    gold = haystack.gold_numbers()
    for query, targets in haystack.queries:
        extracted = system.extractor.extract(haystack.query_text(query), len(targets), MAX_WORDS)
        units = bullets(bullet_lines(extracted))
        readings = judge_for(haystack, query)([unit.text for unit in units])
        verdicts = [
            Verdict(target.target_id, answer, linked_unit=linked)
            for target, (answer, linked) in zip(targets, readings, strict=True)
        ]
        for score in score_summary(verdicts, units, gold, partial_score=0.5):
            if score.measure in ("coverage", "citation", "joint"):
                yield score.measure, (100 * score.total, score.n, query.query_id)


# ---------------------------------------------------------------- retrieval

Scores = NDArray[np.float64]
FreeScores = Mapping[str, Mapping[str, Scores]]
"""Retriever -> query id -> score of each document."""


class Joined(NamedTuple):
    """A fusion of the statements with a retriever that nothing was fitted for."""

    name: str
    with_: str
    weights: tuple[float, ...]


def retrieval_reach(
    systems: Sequence[HeldOut],
    training_free: FreeScores,
    document_tokens: Mapping[str, Sequence[int]],
    *,
    joined: Joined,
) -> list[Reach]:
    """
    Mean recall of an insight's gold documents in 15,000 tokens, by retriever.

    Args:
        systems: From `held_out`.
        training_free: Scores of retrievers that nothing was fitted for.
        document_tokens: Haystack id -> tokens of each document.
        joined: The fusion to measure besides.
    """
    totals: dict[tuple[str, str], list[Total]] = {}
    for system in systems:
        haystack = system.haystack
        for query, targets in haystack.queries:
            given = {name: scores[query.query_id] for name, scores in training_free.items()}
            fitted = _fitted_scores(system, query)
            fused = {joined.name: z_sum([fitted["statements"], given[joined.with_]], joined.weights)}
            for name, scores in (given | fitted | fused).items():
                rows = _recalls(haystack, targets, ranked(scores), document_tokens[haystack.haystack_id])
                for group in ("all", haystack.domain):
                    totals.setdefault((name, group), []).append(rows)
    return [
        _reach(
            f"{name}: recall in {BUDGET_TOKENS:,} tokens",
            rows,
            fitted_on=_fitted_on(name, training_free),
            scored_on=group,
        )
        for (name, group), rows in totals.items()
    ]


def _fitted_scores(system: HeldOut, query: Query) -> dict[str, Scores]:
    text = system.haystack.query_text(query)
    return {
        "cluster feedback": cluster_feedback_scores(system.extractor.support, text),
        "statements": statement_scores(system.extractor, text, n_statements=N_STATEMENTS),
    }


def _fitted_on(name: str, training_free: FreeScores) -> str:
    return "nothing" if name in training_free else _OTHERS


def _recalls(haystack: GoldHaystack, targets: Sequence[Target], ranking: Sequence[int], tokens: Sequence[int]) -> Total:
    packed = pack(ranking, document_tokens=tokens, budget_tokens=BUDGET_TOKENS, order="given", importance=None, seed=0)
    context = [str(document) for document in packed.documents]
    recalls = [
        gold_recall(context, [str(place) for place in np.flatnonzero(haystack.states(target.target_id))])
        for target in targets
    ]
    known = [recall for recall in recalls if recall is not None]
    return sum(known), len(known), targets[0].query_id


def _reach(measure: str, rows: Sequence[Total], *, fitted_on: str, scored_on: str) -> Reach:
    totals, counts = (np.array([row[place] for row in rows], dtype=np.float64) for place in (0, 1))
    estimate = pooled_mean(totals, counts, [query_id for *_, query_id in rows], **INTERVALS)
    return reach_of(measure, estimate, fitted_on=fitted_on, scored_on=scored_on)
