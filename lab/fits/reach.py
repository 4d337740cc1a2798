"""
Reach of the support model, the summarizer and the retrievers on haystacks that no part of them was fitted on.

Each haystack is measured with models of the others. A figure is a pooled mean over haystacks, with an interval over
queries; a domain of several haystacks has figures of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from lab.fits import INTERVALS
from lab.fits.haystacks import GoldHaystack, fit_support, set_f1
from lab.fits.ranker import extractor, fit_ranker, ranked_queries
from longform.judges.card_columns import Reach, reach_of
from longform.judges.coverage_model import JudgeModel
from longform.judges.offline_coverage import QueryInsights, stem_weights
from longform.metrics.coverage import score_summary
from longform.metrics.measure import Verdict
from longform.metrics.retrieval import gold_recall
from longform.metrics.statistics import pooled_mean
from longform.records import Query, Target
from longform.retrieval.packing import pack
from longform.retrieval.ranking import ranked
from longform.retrieval.statements import cluster_feedback_scores, statement_scores
from longform.summaries.extractive import Extractor, bullet_lines
from longform.support.feedback import Readers, read_twice
from longform.support.model import Kind, SupportModel, expected_f1_sets
from longform.text.citations import bullets

KINDS: tuple[Kind, ...] = ("words", "vectors", "words_and_gap")
"""The support models that ship."""
MAX_WORDS = 300
BUDGET_TOKENS = 15_000
N_STATEMENTS = 12
_OTHERS = "gold maps of the other haystacks"


class Row(NamedTuple):
    """A sum and a count of one query, which a figure is pooled from."""

    measure: str
    fitted_on: str
    scored_on: str
    total: float
    n: int
    query_id: str


def pooled(rows: Iterable[Row]) -> list[Reach]:
    """Return a figure for each measure, fit and group, in order of first appearance."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault(row[:3], []).append(row)
    found = []
    for (measure, fitted_on, scored_on), own in groups.items():
        totals, counts = (np.array(side, dtype=np.float64) for side in ([r.total for r in own], [r.n for r in own]))
        estimate = pooled_mean(totals, counts, [row.query_id for row in own], **INTERVALS)
        found.append(reach_of(measure, estimate, fitted_on=fitted_on, scored_on=scored_on))
    return found


# ---------------------------------------------------------------- documents of insights


def support_without(haystacks: Sequence[GoldHaystack], kind: Kind, left_out: str) -> SupportModel:
    """Return the model fitted on all haystacks but one."""
    return fit_support([haystack.claims for haystack in haystacks], kind, left_out=[left_out])


def readers_without(haystacks: Sequence[GoldHaystack], left_out: str) -> Readers:
    """Return both models of a claim that is read twice, fitted on all haystacks but one."""
    return Readers(support_without(haystacks, "words", left_out), support_without(haystacks, "words_and_gap", left_out))


def document_reach(haystacks: Sequence[GoldHaystack]) -> list[Reach]:
    """Return the mean F1 of the documents found for each insight, by reading and domain."""
    return pooled(
        Row(f"documents found for an insight, by {reading}: F1", _OTHERS, f"{domain} ({len(members)})", f1, 1, query_id)
        for reading in ("words", "vectors", "words read twice")
        for domain, members in sorted(_by_domain(haystacks).items())
        for member in members
        for f1, query_id in zip(_found_f1(reading, member, haystacks), member.claims.query_ids, strict=True)
    )


def _by_domain(haystacks: Sequence[GoldHaystack]) -> dict[str, list[GoldHaystack]]:
    found: dict[str, list[GoldHaystack]] = {}
    for haystack in haystacks:
        found.setdefault(haystack.domain, []).append(haystack)
    return found


def _found_f1(reading: str, haystack: GoldHaystack, haystacks: Sequence[GoldHaystack]) -> Sequence[float]:
    if reading == "words read twice":
        readers = readers_without(haystacks, haystack.haystack_id)
        probability = read_twice([target.text for target in haystack.targets], haystack.index, readers)
    else:
        kind: Kind = "words" if reading == "words" else "vectors"
        probability = support_without(haystacks, kind, haystack.haystack_id).probability(haystack.claims.signals)
    f1: list[float] = set_f1(expected_f1_sets(probability), haystack.claims.gold).tolist()
    return f1


# ---------------------------------------------------------------- summaries


class HeldOut(NamedTuple):
    """A haystack with the summarizer that was fitted on the others."""

    haystack: GoldHaystack
    extractor: Extractor


def held_out(haystacks: Sequence[GoldHaystack]) -> list[HeldOut]:
    """Return each haystack with support model and ranker of the others, whose features come from that model too."""
    found = []
    for haystack in haystacks:
        model = support_without(haystacks, "vectors", haystack.haystack_id)
        others = [other for other in haystacks if other is not haystack]
        ranker = fit_ranker(ranked_queries(others, model), left_out=[haystack.haystack_id])
        found.append(HeldOut(haystack, extractor(haystack, model, ranker)))
    return found


Judge = Callable[[Sequence[str]], Sequence[tuple[str | None, int | None]]]
"""Bullets -> the answer to each insight of one query, and the bullet that says it."""


class SummaryJudge(NamedTuple):
    """A judge that summaries are measured by; that of a query is fitted without it."""

    name: str  # as figures name it
    fitted_on: str
    judge_for: Callable[[GoldHaystack, Query], Judge]


def judge_by_words(haystack: GoldHaystack, query: Query, model: JudgeModel) -> Judge:
    """Return the offline judge of one query."""
    weights = stem_weights([target.text for target in haystack.targets])
    insights = QueryInsights(haystack.insights(query), weights)
    return lambda lines: [(reading.answer, reading.linked) for reading in insights.readings(lines, model)]


def summary_reach(systems: Sequence[HeldOut], judges: Sequence[SummaryJudge]) -> list[Reach]:
    """
    Return coverage, citation and joint score of the summaries of whole haystacks, by each judge.

    As many bullets as the query has insights, at most 300 words.
    """
    domains = _by_domain([system.haystack for system in systems])
    return pooled(
        Row(f"summarizer, judged {judge.name}: {measure}", f"{_OTHERS}; {judge.fitted_on}", group, total, n, query_id)
        for judge in judges
        for system in systems
        for measure, total, n, query_id in _scored(system, judge)
        for group in (
            "all",
            system.haystack.domain,
            *([f"haystack {system.haystack.haystack_id}"] if len(domains[system.haystack.domain]) > 1 else []),
        )
    )


def _scored(system: HeldOut, judge: SummaryJudge) -> Iterator[tuple[str, float, int, str]]:
    haystack = system.haystack
    gold = haystack.gold_numbers()
    for query, targets in haystack.queries:
        extracted = system.extractor.extract(haystack.query_text(query), len(targets), MAX_WORDS)
        units = bullets(bullet_lines(extracted))
        readings = judge.judge_for(haystack, query)([unit.text for unit in units])
        verdicts = [
            Verdict(target.target_id, answer, linked_unit=linked)
            for target, (answer, linked) in zip(targets, readings, strict=True)
        ]
        for score in score_summary(verdicts, units, gold, partial_score=0.5):
            if score.measure in ("coverage", "citation", "joint"):
                yield score.measure, 100 * score.total, score.n, query.query_id


# ---------------------------------------------------------------- retrieval


def retrieval_reach(systems: Sequence[HeldOut], document_tokens: Mapping[str, Sequence[int]]) -> list[Reach]:
    """
    Return the mean recall of an insight's gold documents in 15,000 tokens, by fitted retriever.

    Args:
        systems: Each haystack with the summarizer that was fitted without it.
        document_tokens: Haystack id -> tokens of each document.
    """
    rows = []
    for haystack, summarizer in systems:
        for query, targets in haystack.queries:
            text = haystack.query_text(query)
            feedback = cluster_feedback_scores(summarizer.support, text)
            statements = statement_scores(summarizer, text, n_statements=N_STATEMENTS)
            for name, scores in {"cluster feedback": feedback, "statements": statements}.items():
                total, n = _recalls(haystack, targets, ranked(scores), document_tokens[haystack.haystack_id])
                measure = f"{name}: recall in {BUDGET_TOKENS:,} tokens"
                rows += [Row(measure, _OTHERS, group, total, n, query.query_id) for group in ("all", haystack.domain)]
    return pooled(rows)


def _recalls(
    haystack: GoldHaystack, targets: Sequence[Target], ranking: Sequence[int], tokens: Sequence[int]
) -> tuple[float, int]:
    packed = pack(ranking, document_tokens=tokens, budget_tokens=BUDGET_TOKENS, order="given", importance=None, seed=0)
    context = [str(document) for document in packed.documents]
    recalls = [
        gold_recall(context, [str(place) for place in np.flatnonzero(haystack.states(target.target_id))])
        for target in targets
    ]
    known = [recall for recall in recalls if recall is not None]
    return sum(known), len(known)
