"""Vectors of tokens, and BERTScore by them: as the package `bert-score` computes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.local_models.checkpoints import model_path
from actors.local_models.text_model import token_vectors
from longform.errors import UsageError
from longform.metrics.measure import TokenModel
from longform.metrics.similarity import SHIPPED_MODEL, agreement

PAIRS = [
    ("The dam was closed in May for repairs.", "The dam shut in May."),
    ("Swans nest [2] by the harbour, and nobody knew.", "Birds live near the port."),
]
BY_BERT_SCORE = [(0.802896, 0.900740, 0.849008), (0.570529, 0.634917, 0.601003)]
"""Precision, recall and F1 by bert-score 0.3.13 with the same model and num_layers=5."""


def test_scores_are_those_of_the_package() -> None:
    for (text, reference), expected in zip(PAIRS, BY_BERT_SCORE, strict=True):
        found = agreement(token_vectors(SHIPPED_MODEL, text), token_vectors(SHIPPED_MODEL, reference))
        assert (*found, found.f1) == pytest.approx(expected, abs=1e-5)


def test_a_text_longer_than_the_window_is_cut_and_says_so() -> None:
    whole, cut = (token_vectors(SHIPPED_MODEL, "dam " * n) for n in (510, 511))
    assert (len(whole.vectors), whole.cut) == (len(cut.vectors), False) == (512, False)
    assert cut.cut
    assert whole.vectors == pytest.approx(cut.vectors)
    assert list(cut.counted.nonzero()[0][[0, -1]]) == [1, 510]


def test_a_layer_that_the_model_lacks_is_refused() -> None:
    with pytest.raises(UsageError, match="expected layers of at most 6, which it has, found 7"):
        token_vectors(TokenModel(SHIPPED_MODEL.name, 7), "The dam.")


def test_a_folder_that_is_no_plain_encoder_is_read_by_transformers_with_the_same_vectors(tmp_path: Path) -> None:
    shipped = Path(model_path(SHIPPED_MODEL.name))
    for name in ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).symlink_to(shipped / name)
    for text in (PAIRS[0][0], "dam " * 600):
        ours, theirs = (
            token_vectors(SHIPPED_MODEL._replace(name=name), text) for name in (SHIPPED_MODEL.name, str(tmp_path))
        )
        assert theirs.vectors == pytest.approx(ours.vectors, abs=1e-5)
        assert (theirs.counted == ours.counted).all()
        assert theirs.cut == ours.cut


def test_scores_of_long_texts_are_those_of_the_installed_package() -> None:
    bert_score = pytest.importorskip("bert_score", reason="bert-score is not installed: pip install .[test]")
    more = "It rained for days on end, and the mill stood still. "
    texts = [f"{text} {more * n}" for n in (0, 9, 60) for text, _ in PAIRS]
    references = [reference for _, reference in PAIRS * 3]
    expected = bert_score.score(
        texts, references, model_type=model_path(SHIPPED_MODEL.name), num_layers=SHIPPED_MODEL.layers
    )
    for text, reference, *wanted in zip(texts, references, *(one.tolist() for one in expected), strict=True):
        found = agreement(token_vectors(SHIPPED_MODEL, text), token_vectors(SHIPPED_MODEL, reference))
        assert (*found, found.f1) == pytest.approx(wanted, abs=1e-4)
