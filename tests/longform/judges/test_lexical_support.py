"""Evidence of claims in a document, with vectors that say only which words are the same."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.judges.lexical_support import (
    ENOUGH_RECALL,
    GIVEN,
    SIGNALS,
    Evidence,
    LexicalSupportModel,
    SupportDocument,
    evidence,
    shared_runs,
    shipped_lexical_support,
)
from longform.models import read_model
from longform.support.index import SupportIndex
from longform.text.vectors import TextVectors
from longform.text.words import words

DOCUMENT = (
    "The council met in March. It voted 7 to 2 to rebuild the bridge. Shops fear a quiet summer. Swans nest here. "
    "All staff get 27 days of paid leave, and 3.4 million euros were spent. It is allowed to carry days over."
)
DIMENSIONS = 384


class WordsAlone:
    """An encoder to which words are alike only if they are the same."""

    def read(self, texts: Sequence[str]) -> list[TextVectors]:
        return [self._read(text) for text in texts]

    def pieces(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        return [tuple(words(text)) for text in texts]

    def _read(self, text: str) -> TextVectors:
        pieces = tuple(words(text))
        tokens = np.zeros((len(pieces), DIMENSIONS), dtype=np.float16)
        for place, piece in enumerate(pieces):
            tokens[place, sum(map(ord, piece)) % DIMENSIONS] = 1
        whole = tokens.astype(np.float32).sum(axis=0)
        return TextVectors(whole / np.linalg.norm(whole), pieces, tokens)


READER = WordsAlone()


def document() -> SupportDocument:
    index = SupportIndex([DOCUMENT])
    return SupportDocument(index.with_vectors(np.stack([one.sentence for one in READER.read(index.sentences)])))


def found(claim: str) -> Evidence:
    (one,) = evidence(document(), [claim], READER)
    return one


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


def test_a_copied_sentence_is_recalled_and_its_place_is_named() -> None:
    one = found("It voted 7 to 2 to rebuild the bridge.")
    assert one.signals["token_recall"] == ENOUGH_RECALL
    assert one.signals["verbatim"] == pytest.approx(1, abs=1e-3)
    assert "voted 7 to 2" in one.window[1]


@pytest.mark.parametrize(
    ("claim", "changed", "signal"),
    [
        ("The council met in March.", "The council never met in March.", "denials"),
        ("All staff get 27 days of leave.", "All staff get 25 days of leave.", "numbers"),
        ("The council met in March.", "The council met in April.", "names"),
        ("All staff get 27 days of leave.", "Only some staff get 27 days of leave.", "limits"),
        ("It is allowed to carry days over.", "It is forbidden to carry days over.", "denied"),
    ],
)
def test_a_change_of_one_word_shows_in_its_signal(claim: str, changed: str, signal: str) -> None:
    assert found(changed).signals[signal] > found(claim).signals[signal]


@pytest.mark.parametrize("claim", ["Staff get twenty-seven days of leave.", "3,400,000 euros were spent."])
def test_a_number_is_the_same_in_words_and_in_digits(claim: str) -> None:
    assert found(claim).signals["numbers"] == 0


def test_evidence_does_not_depend_on_other_claims() -> None:
    claims = ["The council met in March. Swans nest here.", "Shops fear a quiet summer."]
    for alone, beside in zip(map(found, claims), evidence(document(), claims, READER), strict=True):
        assert alone.signals == pytest.approx(beside.signals)


def test_evidence_is_of_one_document_with_vectors() -> None:
    with pytest.raises(ValueError, match="with vectors"):
        evidence(SupportDocument(SupportIndex([DOCUMENT])), ["A word."], READER)
    with pytest.raises(ValueError, match="got 2 documents"):
        evidence(SupportDocument(SupportIndex([DOCUMENT, DOCUMENT])), ["A word."], READER)


def test_the_shipped_model_is_whole_and_trusts_what_it_should() -> None:
    model = shipped_lexical_support()
    assert model.weights.keys() == {*SIGNALS, *GIVEN}
    assert model.weights["doubt"] < 0 < model.weights["token_recall"]
    assert 0 < model.bounds[0] <= model.threshold <= model.bounds[1] < 1
    assert LexicalSupportModel.from_json(model.as_json()) == model
    assert {"model", "recipe", "fitted_on", "reach"} <= read_model("support_judge").keys()
