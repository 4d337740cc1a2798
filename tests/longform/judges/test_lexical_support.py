from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.judges.lexical_support import (
    SIGNALS,
    Evidence,
    LexicalSupportModel,
    evidence,
    shared_runs,
    shipped_lexical_support,
)
from longform.models import read_model
from longform.support.index import SupportIndex

DOCUMENT = (
    "The council met in March. It voted 7 to 2 to rebuild the bridge. Shops fear a quiet summer. Swans nest here."
)


def one_hot(n: int) -> np.ndarray:
    return np.eye(n, dtype=np.float32)


def index() -> SupportIndex:
    return SupportIndex([DOCUMENT]).with_vectors(one_hot(4))


@pytest.mark.parametrize(
    ("sentence", "window", "length", "share"),
    [
        ("a b c d", "a b c d", 3, 1.0),
        ("a b c d", "x a b c", 3, 0.5),
        ("a b c d", "d c b a", 3, 0.0),
        ("a b c d", "d c b a", 1, 1.0),
        pytest.param("a b", "z a b", 3, 1.0, id="shorter-than-a-run"),
        pytest.param("...", "a b", 3, 0.0, id="no-words"),
        pytest.param("a b c", "", 3, 0.0, id="empty-window"),
        pytest.param("The A, b: [3]", "the a b", 3, 1.0, id="marks-and-case"),
    ],
)
def test_runs_in_order_are_shared(sentence: str, window: str, length: int, share: float) -> None:
    assert shared_runs(sentence, window, length) == share


@given(st.text(), st.text(), st.integers(1, 4))
def test_a_share_is_one_of_the_sentence(sentence: str, window: str, length: int) -> None:
    assert 0 <= shared_runs(sentence, window, length) <= 1


def test_a_copied_sentence_shares_all_and_its_place_is_named() -> None:
    (found,) = evidence(index(), ["It voted 7 to 2 to rebuild the bridge."], one_hot(4)[1:2])
    assert (found.recall_3, found.cosine) == pytest.approx((1, 1))
    assert (found.word_triples, found.word_pairs, found.numbers) == (1, 1, 1)
    start, text = found.window
    assert start in (0, 1)
    assert "voted 7 to 2" in text
    assert "Swans" not in text


def test_a_wrong_number_shares_less() -> None:
    right, wrong = evidence(
        index(),
        ["It voted 7 to 2 to rebuild the bridge.", "It voted 9 to 2 to rebuild the bridge."],
        one_hot(4)[[1, 1]],
    )
    assert wrong.word_triples < right.word_triples
    assert wrong.numbers == 0.5


def test_evidence_is_of_one_document_with_vectors() -> None:
    with pytest.raises(ValueError, match="expected vectors and one document"):
        evidence(SupportIndex([DOCUMENT]), ["A."], one_hot(4)[:1])
    both = SupportIndex([DOCUMENT, DOCUMENT]).with_vectors(np.concatenate([one_hot(4)] * 2))
    with pytest.raises(ValueError, match="got 2 documents"):
        evidence(both, ["A."], one_hot(4)[:1])


def shared(value: float) -> Evidence:
    return Evidence(value, value, value, value, value, (0, ""))


def test_the_model_is_a_logistic_of_its_own_signals() -> None:
    model = LexicalSupportModel(("cosine", "recall_3"), (2.0, 1.0), -1.5, 0.5)
    found = [Evidence(0.5, 0.25, 9, 9, 9, (0, ""))]
    assert model.probability(model.features(found)) == pytest.approx([1 / (1 + np.exp(0.5))], abs=1e-6)
    assert LexicalSupportModel.from_json(model.as_json()) == model


def test_the_shipped_model_reads_more_as_better_and_separates() -> None:
    model = shipped_lexical_support()
    assert model.signals == SIGNALS
    assert min(model.weights) > 0
    low, high = model.probability(model.features([shared(0.1), shared(0.95)]))
    assert low < 0.1
    assert high > 0.9
    assert {"model", "recipe", "fitted_on", "reach"} <= read_model("support_judge").keys()
