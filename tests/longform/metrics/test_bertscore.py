"""BERTScore from vectors of tokens that are given: matches, what does not count, several references, windows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from longform.metrics.measure import Facts, TokenModel, TokenVectors
from longform.metrics.similarity import SHIPPED_MODEL, agreement, bertscores
from longform.records import Target

MEASURES = bertscores("bertscore_minilm", SHIPPED_MODEL, shown="MiniLM")
SCORE, CUT = (measure.per_summary for measure in MEASURES)


def tokens(places: Sequence[int], *, n_special: int = 0, cut: bool = False) -> TokenVectors:
    """Tokens with a unit vector each, of the axis of its place; the first ones are special."""
    counted = np.arange(len(places)) >= n_special
    return TokenVectors(np.eye(8, dtype=np.float32)[list(places)], counted, cut)


class OfQuery:
    haystack_id = "h"

    def __init__(self, *texts: str) -> None:
        self._targets = [Target(f"r{n}", "reference", "q", "h", n, None, text) for n, text in enumerate(texts)]

    def targets(self) -> Sequence[Target]:
        return self._targets


def facts(text: str | None, *references: str, **vectors: TokenVectors) -> Facts:
    def read(model: TokenModel, one: str) -> TokenVectors:
        assert model == SHIPPED_MODEL
        return vectors[one]

    haystack: Any = OfQuery(*references)
    return Facts(query_id="q", text=text, failure="length", haystack=haystack, tokens=read)


def test_each_token_counts_by_the_most_similar_one_of_the_other_text() -> None:
    found = agreement(tokens([0, 1, 2]), tokens([1, 2, 2, 3, 4]))
    assert found == pytest.approx((2 / 3, 3 / 5))
    assert found.f1 == pytest.approx(2 * (2 / 3) * (3 / 5) / (2 / 3 + 3 / 5))


def test_special_tokens_can_be_matched_and_do_not_count() -> None:
    assert agreement(tokens([7, 0], n_special=1), tokens([0, 1], n_special=1)) == (1.0, 0.0)
    assert agreement(tokens([7], n_special=1), tokens([0])).f1 == 0.0


def test_the_best_reference_counts_and_citations_are_taken_out() -> None:
    given = facts("A [2].", "near", "far", **{"A.": tokens([0, 1]), "near": tokens([0, 2]), "far": tokens([3])})
    assert SCORE(given).value == pytest.approx(0.5)


def test_a_summary_is_cut_if_any_of_its_texts_is() -> None:
    texts = {"A.": tokens([0]), "short": tokens([0]), "long": tokens([0], cut=True)}
    assert CUT(facts("A.", "short", **texts)).value == 0.0
    assert CUT(facts("A.", "short", "long", **texts)).value == 1.0


def test_what_cannot_be_scored_says_why() -> None:
    assert SCORE(facts(None, "near")).reason == "summary_failed: length"
    assert SCORE(facts("A.")).reason == "the query has no reference text"


def test_a_measure_tells_its_model_and_each_model_is_another_version() -> None:
    one, other = (bertscores("bertscore_x", TokenModel("x", layers), shown="x")[0] for layers in (3, 4))
    assert one.version != other.version
    assert (one.title, other.title) == ("BERTScore (x, layer 3)", "BERTScore (x, layer 4)")
    assert MEASURES[0].title == "BERTScore (MiniLM, layer 5)"
    assert MEASURES[0].beside == (MEASURES[1].name,)
