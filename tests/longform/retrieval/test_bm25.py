from __future__ import annotations

from math import log

import bm25s
import numpy as np
import pytest
import rank_bm25
from hypothesis import given
from hypothesis import strategies as st

from longform.retrieval.bm25 import Bm25, OkapiBm25, stem_documents
from longform.text.words import stems

DOCUMENTS = st.lists(st.lists(st.sampled_from("abcdefg"), max_size=12), min_size=1, max_size=8).filter(any)
QUERY = st.lists(st.sampled_from("abcdefghi"), min_size=1, max_size=6)


@given(documents=DOCUMENTS, query=QUERY, k1=st.sampled_from([0.9, 1.5, 2.5]), b=st.sampled_from([0.0, 0.4, 0.75, 1.0]))
def test_scores_are_those_of_bm25s(documents: list[list[str]], query: list[str], k1: float, b: float) -> None:
    reference = bm25s.BM25(method="lucene", k1=k1, b=b)
    reference.index(documents, show_progress=False)
    known = [token for token in query if token in reference.vocab_dict]
    expected = reference.get_scores(known) if known else np.zeros(len(documents))
    assert Bm25(documents, k1=k1, b=b).scores(query) == pytest.approx(expected, abs=1e-6)


def test_a_score_worked_by_hand() -> None:
    """Two documents of 2 and 4 words; `a` stands once in the second only."""
    index = Bm25([["b", "c"], ["a", "b", "c", "d"]], k1=1.5, b=0.75)
    idf = log(1 + (2 - 1 + 0.5) / (1 + 0.5))
    assert index.scores(["a"]) == pytest.approx([0, idf * 1 / (1 + 1.5 * (0.25 + 0.75 * 4 / 3))])


@given(documents=DOCUMENTS, query=QUERY)
def test_a_weight_is_a_repetition(documents: list[list[str]], query: list[str]) -> None:
    index = Bm25(documents, k1=1.2, b=0.75)
    weights = {token: float(query.count(token)) for token in query}
    assert index.weighted_scores(weights) == pytest.approx(index.scores(query))


def test_unknown_and_absent_terms_score_nothing() -> None:
    index = Bm25([["a"], ["b"]], k1=1.5, b=0.75)
    assert index.scores(["z"]).tolist() == index.scores([]).tolist() == [0.0, 0.0]


def test_a_haystack_of_empty_documents_can_be_searched() -> None:
    assert Bm25([[], []], k1=1.5, b=0.75).scores(["a"]).tolist() == [0.0, 0.0]


@given(text=st.text(alphabet=st.sampled_from("aAbing's,.-$ 12\n\tÉ\u2003\x1cΣσ"), max_size=60))
def test_stems_of_many_documents_are_the_stems_of_each(text: str) -> None:
    assert stem_documents([text, f"{text} {text}"]) == [stems(text), stems(f"{text} {text}")]


@given(documents=DOCUMENTS, query=QUERY, k1=st.sampled_from([0.9, 1.5]), b=st.sampled_from([0.0, 0.4, 0.75]))
def test_okapi_scores_are_those_of_rank_bm25(documents: list[list[str]], query: list[str], k1: float, b: float) -> None:
    reference = rank_bm25.BM25Okapi(documents, k1=k1, b=b, epsilon=0.25)
    ours = OkapiBm25(documents, k1=k1, b=b, epsilon=0.25).scores(query)
    assert ours * (k1 + 1) == pytest.approx(reference.get_scores(query), abs=1e-9)


def test_okapi_gives_a_term_of_most_documents_a_share_of_the_mean_idf() -> None:
    """`a` stands in all three documents, `b` and `c` in one each: ln(0.5 / 3.5) and twice ln(2.5 / 1.5)."""
    index = OkapiBm25([["a", "b"], ["a", "c"], ["a"]], k1=1.5, b=0.75, epsilon=0.25)
    negative, positive = log(0.5 / 3.5), log(2.5 / 1.5)
    mean = (negative + 2 * positive) / 3
    assert index.idf == pytest.approx([0.25 * mean, positive, positive])
