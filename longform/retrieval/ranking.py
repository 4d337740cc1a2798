"""
Turn scores into ranks, join the scores of several retrievers, and tell what makes measures differ from published ones.

A score array has shape (documents,), in the haystack's order. NaN says that a document has no score: it is not ranked.
Scores are rounded to 6 decimals before anything is compared, so that batch sizes and threads never decide a rank. Those
of other people's systems may be shares of one over all documents, and lie at 1e-8: they keep 6 digits of their own.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray

from longform.errors import LongformError
from longform.records import Qrel, Query
from longform.retrieval.bm25 import Bm25
from longform.rows import RankedRow
from longform.text.words import STOP_WORDS

SCORE_DECIMALS = 6
OTHERS_VERSION = "6 digits of small scores"
"""Version of the rankings of other people's systems."""

_WHOLE = 0.1  # 6 decimals are 6 digits from here on

_CLITIC = r"n't\b|'(?:s|m|d|ll|re|ve)\b"
_MARK = r"[;@#$%&?!\[\](){}<>\"“”‘’«»„]|--+|\.\.+|[,:](?!\d)|'(?!\w)"
_ACRONYM = r"(?:[^\W\d_]\.){2,}"
_KEYWORD = re.compile(rf"{_ACRONYM}|{_CLITIC}|{_MARK}|\.(?=\s|$)|(?:(?!{_CLITIC}|{_MARK}|\.(?:\s|$))\S)+")


NOT_RANKED = ""
"""The document of the one row of a ranking that could not be made; its failure says why."""


def rounded(scores: ArrayLike, *, of_others: bool = False) -> NDArray[np.float64]:
    """
    Return the scores as they are stored and compared: 6 decimals, no negative zero.

    Scores that are *of_others* keep 6 digits if they are smaller.
    """
    given = np.asarray(scores, dtype=np.float64)
    values = given.round(SCORE_DECIMALS)
    if of_others:
        small = (np.abs(given) < _WHOLE) & (given != 0)
        values[small] = [float(f"{value:.{SCORE_DECIMALS - 1}e}") for value in given[small].tolist()]
    return values + 0.0


def ranked(scores: ArrayLike, *, depth: int | None = None, of_others: bool = False) -> list[int]:
    """
    Return document indices by descending rounded score, the first *depth* of them.

    Ties keep the haystack's order, also if *depth* cuts through them; NaN is left out.
    """
    values = rounded(scores, of_others=of_others)
    candidates = np.flatnonzero(~np.isnan(values))
    if depth is not None and depth < len(candidates):
        present = values[candidates]
        candidates = candidates[present >= -np.partition(-present, depth - 1)[depth - 1]]
    order: list[int] = candidates[np.argsort(-values[candidates], kind="stable")][:depth].tolist()
    return order


def ranked_rows(
    query: Query, system: str, doc_ids: Sequence[str], scores: ArrayLike, *, depth: int, of_others: bool
) -> list[RankedRow]:
    """Return the rows of the ranking that the scores of a haystack's documents make, down to a *depth*."""
    values = rounded(scores, of_others=of_others)
    return [
        {
            "query_id": query.query_id,
            "haystack_id": query.haystack_id,
            "system": system,
            "doc_id": doc_ids[place],
            "rank": rank,
            "score": float(values[place]),
        }
        for rank, place in enumerate(ranked(values, depth=depth, of_others=of_others))
    ]


def z_scores(scores: ArrayLike, *, of_others: bool = False) -> NDArray[np.float64]:
    """
    Return standard scores over the haystack (population deviation); all zero if the scores do not differ.

    Raises:
        LongformError: A document has no score.
    """
    values = rounded(scores, of_others=of_others)
    if missing := int(np.isnan(values).sum()):
        msg = (
            f"a z-score needs a score for each of the {len(values)} documents, {missing} have none; "
            "fuse partial lists with by: reciprocal_rank"
        )
        raise LongformError(msg)
    if values.size == 0 or values.min() == values.max():
        return np.zeros_like(values)
    return np.asarray((values - values.mean()) / values.std())


def z_sum(
    score_arrays: Sequence[ArrayLike],
    weights: Sequence[float] | None = None,
    *,
    of_others: Sequence[bool] | None = None,
) -> NDArray[np.float64]:
    """Return the sum of the retrievers' z-scores, each times its weight (None: 1), shape (documents,)."""
    factors = [1.0] * len(score_arrays) if weights is None else weights
    others = of_others or [False] * len(score_arrays)
    parts = zip(factors, score_arrays, others, strict=True)
    return np.asarray(np.sum([w * z_scores(scores, of_others=other) for w, scores, other in parts], axis=0))


def reciprocal_rank_fusion(
    score_arrays: Sequence[ArrayLike], *, rank_constant: int, of_others: Sequence[bool] | None = None
) -> NDArray[np.float64]:
    """
    Return the sum over retrievers of 1 / (rank_constant + rank), ranks from 1; an unranked document gets 0 from a
    retriever.

    Cormack, Clarke and Buettcher, Reciprocal Rank Fusion outperforms Condorcet (SIGIR 2009); their constant is 60.
    Neighbouring ranks below about 900 differ by less than the 6 decimals that scores keep, and then tie.

    The larger *rank_constant*, the less first places count. Scores have the shape (documents,) each; *of_others* tells
    the retrievers that are other people's systems; None: none is.
    """
    fused = np.zeros(len(np.asarray(score_arrays[0])))
    for scores, others in zip(score_arrays, of_others or [False] * len(score_arrays), strict=True):
        order = ranked(scores, of_others=others)
        fused[order] += 1 / (rank_constant + 1 + np.arange(len(order)))
    return fused


def keyword_tokens(text: str) -> list[str]:
    """
    Return lower-case tokens, punctuation kept and contractions split, as the Penn Treebank tokenizer cuts them.

    A full stop before white space is a token of its own, except in an acronym such as `u.s.`.
    """
    return _KEYWORD.findall(text.lower())


def keyword_overlap(query_tokens: Iterable[str], documents: Sequence[Collection[str]]) -> NDArray[np.float64]:
    """
    Return the share of the query's tokens, stop words removed and duplicates kept, found in each document.

    SummHay's released `keywords` retriever, with this project's own stop words.

    *query_tokens* are from `keyword_tokens`, *documents* the distinct tokens of each.

    Returns:
        Shape (documents,), in [0, 1]; all zero if the query holds nothing but stop words.
    """
    wanted = [token for token in query_tokens if token not in STOP_WORDS]
    if not wanted:
        return np.zeros(len(documents))
    return np.array([sum(token in tokens for token in wanted) / len(wanted) for tokens in documents])


def expansion_terms(
    index: Bm25, base_scores: ArrayLike, *, documents: int, terms: int, of_others: bool = False
) -> dict[str, float]:
    """
    Return the heaviest terms of the best documents, with their weights.

    A term weighs the sum over the *documents* best of softmax(z-score of the base) * occurrences * idf.

    Returns:
        At most *terms* terms, heaviest first; equal weights stand in the order the haystack first uses them.
    """
    best = ranked(base_scores, of_others=of_others)[:documents]
    if not best:
        return {}
    strength = np.exp(z_scores(base_scores, of_others=of_others)[best])
    mass = (index.term_frequency.tocsr()[best].T @ (strength / strength.sum())) * index.idf
    names = list(index.terms)
    heaviest = np.argsort(-mass, kind="stable")[:terms]
    return {names[column]: float(mass[column]) for column in heaviest if mass[column] > 0}


def feedback_scores(
    index: Bm25, base_scores: ArrayLike, *, documents: int, terms: int, weight: float, of_others: bool = False
) -> NDArray[np.float64]:
    """
    Return z(base) + *weight* * z(BM25 of the expansion), shape (documents,).

    Raises:
        LongformError: The base retriever left a document without a score.
    """
    base = z_scores(base_scores, of_others=of_others)
    expansion = expansion_terms(index, base_scores, documents=documents, terms=terms, of_others=of_others)
    return np.asarray(base + weight * z_scores(index.weighted_scores(expansion)))


_SHOWN = 3


def grades_told(qrels: Iterable[Qrel], query_ids: Collection[str]) -> Iterator[str]:
    """Yield a sentence if whole queries are judged by several grades above 0, which measures here do not tell apart."""
    grades = sorted({one.relevance for one in qrels if one.target_id is None and one.query_id in query_ids})
    if len(positive := [grade for grade in grades if grade > 0]) > 1:
        yield (
            f"Judgements have the grades {', '.join(map(str, positive))}, and measures of rankings read them as yes or "
            f"no, yes from {positive[0]} on; trec_eval's nDCG takes grades as gains, and differs."
        )


def own_documents_told(
    queries: Collection[Query], qrels: Iterable[Qrel], documents: Iterable[pa.Table]
) -> Iterator[str]:
    """
    Yield a sentence if queries stand among the documents that they search, by their ids or their words.

    An id of digits alone is likely a number of both, and no sign of it. What is judged relevant is an answer.

    *documents* are tables of doc_id, haystack_id and text, read once.
    """
    asked: dict[tuple[str, str], set[str]] = {}  # haystack, and id or words -> queries
    for query in queries:
        for name in {query.text.strip(), *([] if query.query_id.isdecimal() else [query.query_id])}:
            asked.setdefault((query.haystack_id, name), set()).add(query.query_id)
    relevant = {(one.query_id, one.doc_id) for one in qrels if one.relevance > 0}
    names = pa.array(dict.fromkeys(name for _, name in asked), pa.string())
    own: dict[str, None] = {}
    for table in documents:
        words = pc.utf8_trim_whitespace(table["text"])
        found = table.filter(pc.or_(pc.is_in(words, value_set=names), pc.is_in(table["doc_id"], value_set=names)))
        for row in found.to_pylist():
            for name in (row["doc_id"], row["text"].strip()):
                for query_id in sorted(asked.get((row["haystack_id"], name), ())):
                    if (query_id, row["doc_id"]) not in relevant:
                        own[query_id] = None
    if own:
        shown = ", ".join([*own][:_SHOWN]) + (", ..." if len(own) > _SHOWN else "")
        stand = f"{len(own):,} of {len(queries):,} queries {'stands' if len(own) == 1 else 'stand'}"
        yield (
            f"{stand} among the documents, by the same id or in the same words ({shown}): such a document is ranked, "
            "likely first, and counts as not relevant. Published numbers, as BEIR's on ArguAna, leave it out."
        )
