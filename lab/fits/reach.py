"""
Reach of the support model, the summarizer and the retrievers on haystacks that no part of them was fitted on.

Each haystack is measured with models of the others. A figure is a pooled mean over haystacks, with an interval over
queries; a domain of several haystacks has figures of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import NamedTuple

import polars as pl

from lab.fits import INTERVALS
from lab.fits.haystacks import GoldHaystack, fit_support, set_f1
from lab.fits.ranker import fit_ranker, ranked_queries
from longform.judges.card_columns import Reach, reach_of
from longform.judges.coverage_model import JudgeModel
from longform.judges.offline_coverage import QueryInsights, stem_weights
from longform.metrics.coverage import score_summary
from longform.metrics.measure import Verdict
from longform.metrics.retrieval import gold_recall
from longform.metrics.statistics import pooled_mean
from longform.records import Query, Target
from longform.repair.by_matrix import Readers, read_twice
from longform.retrieval.packing import pack
from longform.retrieval.ranking import ranked
from longform.retrieval.statements import cluster_feedback_scores, statement_scores
from longform.summaries.extractive import Extractor, bullet_lines
from longform.support.model import Kind, SupportModel, expected_f1_sets
from longform.text.citations import bullets

KINDS: tuple[Kind, ...] = ("words", "vectors", "words_and_gap")
"""The support models that ship."""
MAX_WORDS = 300
BUDGET_TOKENS = 15_000
N_STATEMENTS = 12
_OTHERS = "gold maps of the other haystacks"
_FIGURE = ("measure", "fitted_on", "scored_on")
_COLUMNS = {**dict.fromkeys(_FIGURE, pl.String), "total": pl.Float64, "n": pl.Float64, "query_id": pl.String}


def pooled(rows: Iterable[tuple[str, str, str, float, float, str]]) -> list[Reach]:
    """Return a figure for each measure, fit and group of sums and counts of queries, in order of first appearance."""
    frame = pl.DataFrame(list(rows), _COLUMNS, orient="row")
    found = []
    for (measure, fitted_on, scored_on), own in frame.group_by(_FIGURE, maintain_order=True):
        estimate = pooled_mean(own["total"].to_numpy(), own["n"].to_numpy(), own["query_id"].to_list(), **INTERVALS)
        found.append(reach_of(str(measure), estimate, fitted_on=str(fitted_on), scored_on=str(scored_on)))
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
    sizes = Counter(haystack.domain for haystack in haystacks)
    return pooled(
        (f"documents found for an insight, by {reading}: F1", _OTHERS, f"{own.domain} ({sizes[own.domain]})", *row)
        for reading in ("words", "vectors", "words read twice")
        for own in sorted(haystacks, key=lambda haystack: haystack.domain)
        for row in zip(_found_f1(reading, own, haystacks), repeat(1), own.claims.query_ids)
    )


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


HeldOut = tuple[GoldHaystack, Extractor]
"""A haystack with the summarizer that was fitted on the others."""


def held_out(haystacks: Sequence[GoldHaystack]) -> list[HeldOut]:
    """Return each haystack with support model and ranker of the others, whose features come from that model too."""
    found = []
    for haystack in haystacks:
        model = support_without(haystacks, "vectors", haystack.haystack_id)
        others = [other for other in haystacks if other is not haystack]
        ranker = fit_ranker(ranked_queries(others, model), left_out=[haystack.haystack_id])
        numbered = [(document.number, document.text) for document in haystack.documents]
        found.append((haystack, Extractor(numbered, haystack.embed, model=model, ranker=ranker)))
    return found


Judge = Callable[[Sequence[str]], Sequence[tuple[str | None, int | None]]]
"""Bullets -> the answer to each insight of one query, and the bullet that says it."""


class SummaryJudge(NamedTuple):
    """A judge that summaries are measured by; that of a query is fitted without it."""

    name: str
    fitted_on: str
    judge_for: Callable[[GoldHaystack, Query], Judge]


def judge_by_words(haystack: GoldHaystack, query: Query, model: JudgeModel) -> Judge:
    """Return the offline judge of one query."""
    weights = stem_weights([target.text for target in haystack.targets])
    texts = [target.text for target in haystack.targets if target.query_id == query.query_id]
    insights = QueryInsights(texts, weights)
    return lambda lines: [(reading.answer, reading.linked) for reading in insights.readings(lines, model)]


def summary_reach(systems: Sequence[HeldOut], judges: Sequence[SummaryJudge]) -> list[Reach]:
    """
    Return coverage, citation and joint score of the summaries of whole haystacks, by each judge.

    As many bullets as the query has insights, at most 300 words.
    """
    sizes = Counter(haystack.domain for haystack, _ in systems)
    return pooled(
        (f"summarizer, judged {judge.name}: {measure}", f"{_OTHERS}; {judge.fitted_on}", group, total, n, query_id)
        for judge in judges
        for haystack, summarizer in systems
        for measure, total, n, query_id in _scored(haystack, summarizer, judge)
        for group in ("all", haystack.domain, f"haystack {haystack.haystack_id}")[
            : 3 if sizes[haystack.domain] > 1 else 2
        ]
    )


def _scored(
    haystack: GoldHaystack, summarizer: Extractor, judge: SummaryJudge
) -> Iterator[tuple[str, float, float, str]]:
    gold = haystack.gold_numbers()
    for query, targets in haystack.queries:
        extracted = summarizer.extract(haystack.query_text(query), len(targets), MAX_WORDS)
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
    """Return the mean recall of an insight's gold documents in 15,000 tokens, by fitted retriever."""
    rows = []
    for haystack, summarizer in systems:
        for query, targets in haystack.queries:
            text = haystack.query_text(query)
            feedback = cluster_feedback_scores(summarizer.support, text)
            statements = statement_scores(summarizer, text, n_statements=N_STATEMENTS)
            for name, scores in {"cluster feedback": feedback, "statements": statements}.items():
                recalls = _recalls(haystack, targets, ranked(scores), document_tokens[haystack.haystack_id])
                row = (sum(recalls), len(recalls), query.query_id)
                measure = f"{name}: recall in {BUDGET_TOKENS:,} tokens"
                rows += [(measure, _OTHERS, group, *row) for group in ("all", haystack.domain)]
    return pooled(rows)


def _recalls(
    haystack: GoldHaystack, targets: Sequence[Target], ranking: Sequence[int], tokens: Sequence[int]
) -> list[float]:
    packed = pack(ranking, document_tokens=tokens, budget_tokens=BUDGET_TOKENS, order="given", importance=None, seed=0)
    context = [haystack.documents[place].doc_id for place in packed.documents]
    recalls = [gold_recall(context, haystack.gold[target.target_id]) for target in targets]
    return [recall for recall in recalls if recall is not None]
