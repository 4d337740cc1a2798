from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.errors import LongformError
from longform.retrieval.ranking import (
    keyword_overlap,
    keyword_tokens,
    ranked,
    reciprocal_rank_fusion,
    rounded,
    z_scores,
    z_sum,
)

SCORES = st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=30)


def test_ties_keep_the_order_of_the_haystack() -> None:
    assert ranked([1.0, 2.0, 1.0, 2.0]) == [1, 3, 0, 2]


def test_noise_below_six_decimals_decides_no_rank() -> None:
    """Another batch size moves a cosine by 1e-7; the document in front must stay in front."""
    assert ranked([0.5, 0.5 + 4e-7]) == [0, 1]


@pytest.mark.parametrize("scores", [[7e-9, 9.5e-8, 1.2e-8], [1e-8, 0.98, 3e-5], [-1e-8, 2e-9, 0.0]])
def test_small_scores_of_others_keep_their_order_and_their_values(scores: list[float]) -> None:
    """A softmax over a large collection ends at 1e-8, and 6 decimals would make a tie of it."""
    assert rounded(scores, of_others=True).tolist() == scores
    assert ranked(scores, of_others=True) == sorted(range(3), key=lambda place: -scores[place])
    assert rounded([score / 3 for score in scores], of_others=True) == pytest.approx(np.array(scores) / 3, rel=1e-5)


def test_fusions_see_small_scores_of_others() -> None:
    small, whole = [1e-8, 3e-8, 2e-8], [1.0, 3.0, 2.0]

    assert z_sum([small], of_others=[True]) == pytest.approx(z_sum([whole]))
    fused = reciprocal_rank_fusion([small], rank_constant=60, of_others=[True])
    assert fused.tolist() == reciprocal_rank_fusion([whole], rank_constant=60).tolist()


def test_a_document_without_a_score_is_not_ranked() -> None:
    assert ranked([np.nan, 1.0, np.nan, 2.0]) == [3, 1]


@given(scores=SCORES, depth=st.integers(1, 35))
def test_a_depth_is_the_head_of_the_whole_ranking_also_within_ties(scores: list[float], depth: int) -> None:
    assert ranked(scores, depth=depth) == ranked(scores)[:depth]


def test_no_score_is_a_negative_zero() -> None:
    assert str(rounded([-1e-9])[0]) == "0.0"


def test_z_scores_are_the_textbook_ones() -> None:
    """Mean 2, population deviation sqrt(2/3)."""
    assert z_scores([1.0, 2.0, 3.0]) == pytest.approx(np.array([-1, 0, 1]) / np.sqrt(2 / 3))


def test_scores_that_do_not_differ_say_nothing() -> None:
    assert z_scores([0.3, 0.3 + 1e-8, 0.3]).tolist() == [0.0, 0.0, 0.0]


@given(scores=SCORES, shift=st.integers(-5, 5), scale=st.integers(1, 9))
def test_z_scores_forget_scale_and_offset(scores: list[float], shift: int, scale: int) -> None:
    moved = [scale * score + shift for score in scores]
    assert z_scores(moved) == pytest.approx(z_scores(scores), abs=1e-9)


def test_a_retriever_that_cannot_tell_documents_apart_changes_no_z_sum() -> None:
    assert z_sum([[1.0, 2.0, 4.0], [7.0, 7.0, 7.0]]) == pytest.approx(z_scores([1.0, 2.0, 4.0]))


def test_z_scores_refuse_a_partial_list() -> None:
    with pytest.raises(LongformError, match="reciprocal_rank"):
        z_scores([1.0, np.nan])


def test_reciprocal_ranks_start_at_one() -> None:
    """Document 0 is first and third, document 1 second twice, document 2 third and first."""
    fused = reciprocal_rank_fusion([[9.0, 5.0, 1.0], [0.1, 0.2, 0.3]], rank_constant=60)
    assert fused == pytest.approx([1 / 61 + 1 / 63, 1 / 62 + 1 / 62, 1 / 63 + 1 / 61])


def test_a_document_one_list_leaves_out_gets_the_other_lists_share_only() -> None:
    fused = reciprocal_rank_fusion([[np.nan, 5.0], [2.0, 1.0]], rank_constant=10)
    assert fused == pytest.approx([1 / 11, 1 / 11 + 1 / 12])


def test_keyword_tokens_split_marks_and_contractions() -> None:
    assert keyword_tokens("Isn't the U.S. 'plan' Dillon's, (well-known)? $1,000.50.") == [
        *["is", "n't", "the", "u.s.", "'plan", "'", "dillon", "'s", ",", "(", "well-known", ")", "?", "$"],
        *["1,000.50", "."],
    ]


def test_keyword_overlap_counts_duplicates_and_drops_stop_words() -> None:
    """The first document holds three of the four tokens of `cats cats dogs ?`, the second one."""
    tokens = keyword_tokens("Are the cats cats, or dogs?".replace(",", ""))
    assert keyword_overlap(tokens, [{"cats", "?"}, {"dogs"}, set()]).tolist() == [0.75, 0.25, 0.0]


def test_a_query_of_stop_words_matches_nothing() -> None:
    assert keyword_overlap(["the", "of"], [{"the"}]).tolist() == [0.0]


def test_released_keyword_scores_are_reproduced() -> None:
    """The release used another tokenizer and stop-word list; 97 of 100 scores agree to the last digit."""
    folder = os.environ.get("LONGFORM_RELEASED_DATA")
    if not folder:
        pytest.skip("LONGFORM_RELEASED_DATA names no folder with released data")
    haystack = json.loads(gzip.decompress((Path(folder) / "summhay/topic_news3.json.gz").read_bytes()))
    tokens = [frozenset(keyword_tokens(document["document_text"])) for document in haystack["documents"]]
    equal = [
        abs(score - subtopic["retriever"]["keywords"][document["document_id"]]) < 1e-9
        for subtopic in haystack["subtopics"]
        for document, score in zip(
            haystack["documents"],
            keyword_overlap(keyword_tokens(f"{subtopic['query']} {subtopic['subtopic']}"), tokens),
            strict=True,
        )
    ]
    assert np.mean(equal) > 0.97
