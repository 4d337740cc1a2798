from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from actors.local_models.checkpoints import MINILM, check_checkpoint
from actors.retrieval.reranker import CrossEncoderModel, Reranked
from longform.errors import UsageError
from longform.retrieval.ranking import ranked
from tests.scores import ONE_STEP


@pytest.fixture(scope="module")
def reranker(tmp_path_factory: pytest.TempPathFactory, save_cross_encoder: Callable[..., str]) -> CrossEncoderModel:
    folder = save_cross_encoder(tmp_path_factory.mktemp("models") / "cross-encoder", n_labels=1)
    check_checkpoint(folder)
    return CrossEncoderModel(folder, threads=1)


TEXTS = ["fed rate", "bank " * 30, "a", "rate bank fed a b c", "zoo"]


def test_a_score_does_not_depend_on_the_texts_beside_it(reranker: CrossEncoderModel) -> None:
    """Padding and batches change the last bits of a sum; what is ranked and stored does not show them."""
    together = reranker.score("bank rate", TEXTS)
    alone = [reranker.score("bank rate", [text])[0] for text in TEXTS]
    assert ranked(together) == ranked(alone)
    assert together == pytest.approx(alone, abs=ONE_STEP)
    assert len(set(together)) == len(TEXTS)


def test_equal_texts_tie_in_whichever_batch_they_are(reranker: CrossEncoderModel) -> None:
    """Batches of 32 are made by length: 31 longer texts put the equal ones into two."""
    longer = ["bank " * n for n in range(10, 41)]
    for text in ("rate bank fed a b c", "a fed bank", "zoo a rate", "cab", "fed fed bank z"):
        first, *_, last = reranker.score("bank rate", [text, *longer, text])
        assert first == last


def test_a_model_that_scores_no_pairs_is_refused(tmp_path: Path, save_cross_encoder: Callable[..., str]) -> None:
    """It would be loaded with scores drawn by chance: the packaged encoder, and one whose weights do not fit."""
    with pytest.raises(UsageError, match="expected a checkpoint that was trained to score pairs, found a BertModel"):
        CrossEncoderModel(MINILM, threads=1)
    folder = Path(save_cross_encoder(tmp_path / "other", n_labels=1))
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"hidden_size": 32}))
    with pytest.raises(UsageError, match="its weights have other shapes"):
        CrossEncoderModel(str(folder), threads=1)


def test_scores_are_rounded_logits(reranker: CrossEncoderModel) -> None:
    """A sigmoid would hold every score within (0, 1)."""
    scores = reranker.score("bank rate", TEXTS)
    assert scores == [round(score, 4) for score in scores]
    assert not all(0 < score < 1 for score in scores)


def test_the_first_are_rescored_and_the_rest_keep_their_order(reranker: CrossEncoderModel) -> None:
    scores = reranker.score("bank rate", TEXTS)
    found = reranker.rerank("bank rate", TEXTS, depth=3)
    assert [one.place for one in found[:3]] == sorted(range(3), key=lambda place: -scores[place])
    assert [one.score for one in found[:3]] == pytest.approx(sorted(scores[:3], reverse=True), abs=ONE_STEP)
    assert found[3:] == [Reranked(3, None), Reranked(4, None)]


def test_equal_texts_keep_their_order(reranker: CrossEncoderModel) -> None:
    assert [one.place for one in reranker.rerank("bank", ["fed"] * 4, depth=10)] == [0, 1, 2, 3]


def test_no_texts_are_no_scores(reranker: CrossEncoderModel) -> None:
    assert reranker.rerank("bank", [], depth=5) == []


def test_an_entailment_model_is_refused(tmp_path: Path, save_cross_encoder: Callable[..., str]) -> None:
    """Three labels have no single relevance; taking the first would be a silent guess."""
    folder = save_cross_encoder(tmp_path / "nli", n_labels=3)
    with pytest.raises(UsageError, match="found 3"):
        CrossEncoderModel(folder, threads=1)


def test_a_folder_that_is_not_there_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="expected a folder"):
        CrossEncoderModel("/no/such/reranker", threads=1)
