"""
Pseudo-relevance feedback: words of the first documents widen the query.

After Lavrenko and Croft, Relevance-Based Language Models (SIGIR 2001), in the form known as RM3: the original query
keeps its say. Here that is a sum of z-scores, so that it widens any retriever, lexical or not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from longform.retrieval.bm25 import Bm25
from longform.retrieval.ranking import ranked, z_scores


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
