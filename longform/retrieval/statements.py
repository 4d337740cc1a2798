"""
Rank documents by repeated statements: the query's best sentences, and the documents that support them.

A document that says what the query asks for need not use the query's words; another document that says the same may.
Two retrievers read a collection that way. *Cluster feedback* (after Kurland and Lee, Corpus structure, language models
and ad hoc information retrieval, SIGIR 2004, with sentences and their supporting documents as the clusters) takes the
most relevant sentences that some but not most documents support. *Statements* takes the sentences that the offline
summarizer would quote, by its trained ranker.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from longform.summaries.extractive import Extractor, extractor_version
from longform.summaries.query_relevance import VectorQuery, relevance_here
from longform.summaries.sentence_support import SentenceSupport

VERSION = "1"
"""Changes with any change of a score that its parts do not make."""

_SENTENCES = 100
_FEWEST, _MOST = 3, 30
_PROBABLE = 0.5
_WORDS_UNLIMITED = 1_000_000

Array = NDArray[np.float64]


def cluster_feedback_scores(support: SentenceSupport, query: VectorQuery) -> Array:
    """
    Return the sum of relevance x probability of support over the most relevant repeated sentences, shape (documents,).

    A sentence counts if between 3 and 30 documents probably support it: fewer repeat nothing, more are common ground.
    Its relevance counts from that of the first sentence left out.
    """
    here = relevance_here(support, query)
    n_supporters = (support.probability >= _PROBABLE).sum(axis=1)
    repeated = np.flatnonzero((n_supporters >= _FEWEST) & (n_supporters <= _MOST))
    best = repeated[np.argsort(-np.round(here[repeated], 6), kind="stable")]
    kept, level = best[:_SENTENCES], here[best[_SENTENCES : _SENTENCES + 1]].max(initial=here.min(initial=0.0))
    return np.asarray((here[kept] - level) @ support.probability[kept])


def statement_scores(extractor: Extractor, query: VectorQuery, *, n_statements: int) -> Array:
    """
    Return the sum of rank score x probability of support over the sentences that a summary of *n_statements* would
    quote.

    Divided by the document's words relative to the mean: contexts have a budget of tokens, and under it a short
    document that says the same leaves room for another. Shape (documents,), in the extractor's order.
    """
    choice = extractor.ranked_choice(query, n_statements, _WORDS_UNLIMITED)
    total = np.zeros(extractor.support.probability.shape[1])
    for place, score in choice:
        total += score * extractor.support.probability[place]
    return total / _relative_lengths(extractor.support)


def _relative_lengths(support: SentenceSupport) -> Array:
    # a document without words supports nothing: any length but 0 will do
    lengths = np.maximum(support.document_words, 1)
    return np.asarray(lengths / lengths.mean())


def statements_version() -> str:
    """Return a text that changes with any change of a score: of the code here, the summarizer's, or the models'."""
    return f"statements@{VERSION}+{extractor_version()}"
