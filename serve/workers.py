"""The models that give vectors and scores, as the jobs load them."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from actors.chat.opening import Asking
from actors.local_models.checkpoints import checkpoint_content, checkpoint_path
from actors.local_models.encoder import Encoder
from actors.python_class import actor_of
from actors.retrieval.reranker import CrossEncoderModel, Means, Ranking, Reranker
from actors.serving.messages import About
from longform.errors import LongformError
from longform.keys import content_key
from longform.records import Document, Query
from longform.retrieval.ranking import rounded
from serve.chat_workers import LoopThread, local_pool
from serve.engine import PairsItem, Texts, TextsItem, Work, tokens_of
from serve.settings import RerankerOfAJob, ServedCosine, ServedCrossEncoder, ServedEncoder, ServedPython

_WARM = ("A first text.", "It makes the model ready.")


class EmbeddingWorker:
    """Items {texts}; a unit is a text, its content a unit vector. UsageError: the model cannot be loaded."""

    def __init__(self, name: str, settings: ServedEncoder, *, threads: int) -> None:
        self._encoder = Encoder(checkpoint_path(settings.model), threads=threads)
        self.about = About(
            name,
            "embedding",
            version=f"encoder+{checkpoint_content(settings.model)}",
            window=self._encoder.window,
            dimensions=self._encoder.dimensions,
            estimated=False,
        )
        self.run(list(_WARM))

    def split(self, item: TextsItem) -> list[str]:
        return list(item["texts"])

    def run(self, units: list[str]) -> list[Work]:
        vectors, lengths = _embedded(self._encoder, units)
        window = self._encoder.window
        return [
            Work(vector, min(length, window), length > window) for vector, length in zip(vectors, lengths, strict=True)
        ]


class PairWorker:
    """Items {query, texts}; a unit is a pair."""

    def split(self, item: PairsItem) -> list[tuple[str, str]]:
        return [(item["query"], text) for text in item["texts"]]


class CrossEncoderWorker(PairWorker):
    """Scores pairs; a unit's content is a logit. UsageError: the model cannot be loaded, or has several outputs."""

    def __init__(self, name: str, settings: ServedCrossEncoder, *, threads: int) -> None:
        self._model = CrossEncoderModel(checkpoint_path(settings.model), threads=threads)
        version = f"cross_encoder+{checkpoint_content(settings.model)}"
        # Inside, scores are logits, by which ties are told apart; the application turns them into what is asked for.
        kind, window = settings.scores, self._model.window
        self.about = About(name, "rerank", version, score_kind=kind, window=window, estimated=False)
        self.run([_WARM])

    def run(self, units: list[tuple[str, str]]) -> list[Work]:
        scores, lengths = self._model.score_pairs(units), self._model.lengths(units)
        return [_scored(score, length, self._model.window) for score, length in zip(scores, lengths, strict=True)]


class CosineWorker(PairWorker):
    """Scores pairs; a unit's content is the cosine of the two vectors. UsageError: the model cannot be loaded."""

    def __init__(self, name: str, settings: ServedCosine, *, threads: int) -> None:
        self._encoder = Encoder(checkpoint_path(settings.model), threads=threads)
        version = f"cosine+{checkpoint_content(settings.model)}"
        window = self._encoder.window
        self.about = About(name, "rerank", version, score_kind="cosine", window=window, estimated=False)
        self.run([_WARM])

    def run(self, units: list[tuple[str, str]]) -> list[Work]:
        # (pairs, 2) -> (2 x pairs); equal texts are embedded once
        texts = [unit[side] for side in (0, 1) for unit in units]
        vectors, lengths = _embedded(self._encoder, texts)
        cosines = rounded((vectors[: len(units)] * vectors[len(units) :]).sum(axis=1)).tolist()
        longest = [max(both) for both in zip(lengths[: len(units)], lengths[len(units) :], strict=True)]
        return [_scored(cosine, length, self._encoder.window) for cosine, length in zip(cosines, longest, strict=True)]


class RerankerWorker:
    """A reranker as a job opens it. A unit is an item: what is said of a text may depend on those beside it."""

    def __init__(self, name: str, settings: RerankerOfAJob, *, threads: int, ledger: str | None) -> None:
        kind, chat = actor_of(settings, Reranker), settings.asked_model
        asking = None if chat is None else Asking(chat=local_pool(chat, "rerank", name, ledger))
        self._reranker: Reranker[Any] = kind(settings, Means(threads, asking))
        self._lasting = isinstance(settings, ServedPython)  # calls are in the ledger, a server answers for itself
        self._loop = LoopThread()
        version = content_key(settings.identity, kind.version(settings, None))
        self.about = About(name, "rerank", version, score_kind="own")

    def split(self, item: PairsItem) -> list[PairsItem]:
        return [item]

    def run(self, units: list[PairsItem]) -> list[Work]:
        orders = self._loop.run(self._reranker.orders([_ranking(unit) for unit in units]))
        return [
            Work(sorted(order), tokens_of(Texts().n_bytes(unit)), lasting=self._lasting, each=True)
            for unit, order in zip(units, orders, strict=True)
        ]


def _ranking(item: PairsItem) -> Ranking:
    documents = [Document(str(place), "", place, None, text) for place, text in enumerate(item["texts"])]
    return Query("request", "", item["query"]), documents


def _embedded(encoder: Encoder, texts: Sequence[str]) -> tuple[NDArray[np.float32], list[int]]:
    vectors = encoder.embed(texts)
    encoder.forget()
    return vectors, encoder.lengths(texts)


def _scored(score: float, length: int, window: int) -> Work:
    if not isfinite(score):
        raise LongformError("the model gave a score that is no number")
    return Work(score, min(length, window), length > window)
