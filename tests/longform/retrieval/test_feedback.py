from __future__ import annotations

from math import exp

import pytest

from longform.retrieval.bm25 import Bm25
from longform.retrieval.ranking import expansion_terms, feedback_scores, z_scores

DOCUMENTS = [["fed", "rate", "rate"], ["fed", "bank"], ["rate", "hike", "hike"], ["zoo"]]
INDEX = Bm25(DOCUMENTS, k1=1.5, b=0.75)
BASE = [3.0, 2.0, 0.0, 0.0]


def test_a_term_weighs_softmax_times_frequency_times_idf() -> None:
    first, second = (exp(z) for z in z_scores(BASE)[:2])
    idf = dict(zip(INDEX.terms, INDEX.idf, strict=True))
    expected = {
        "fed": idf["fed"],
        "rate": first / (first + second) * 2 * idf["rate"],
        "bank": second / (first + second) * idf["bank"],
    }
    assert expansion_terms(INDEX, BASE, documents=2, terms=50) == pytest.approx(expected)


def test_only_the_heaviest_terms_are_kept() -> None:
    every = expansion_terms(INDEX, BASE, documents=2, terms=50)
    assert list(expansion_terms(INDEX, BASE, documents=2, terms=1)) == [max(every, key=lambda term: every[term])]


def test_feedback_finds_a_document_that_shares_words_with_the_best_only() -> None:
    """Documents 2 and 3 tie at first; document 2 says `rate`, as the best one does."""
    scores = feedback_scores(INDEX, BASE, documents=2, terms=50, weight=1.0)
    assert scores[2] > scores[3]


def test_the_scale_of_the_base_retriever_does_not_matter() -> None:
    """Reciprocal ranks are about 0.03, BM25 about 30; a softmax of raw scores would be flat or all on one document."""
    scaled = [1000 * score + 5 for score in BASE]
    assert feedback_scores(INDEX, scaled, documents=2, terms=9, weight=0.7) == pytest.approx(
        feedback_scores(INDEX, BASE, documents=2, terms=9, weight=0.7)
    )


def test_weight_zero_leaves_the_base_alone() -> None:
    assert feedback_scores(INDEX, BASE, documents=2, terms=9, weight=0.0) == pytest.approx(z_scores(BASE))
