"""The base of every reranker, one behind an endpoint of Cohere's or Jina's dialect, and a cross-encoder here."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from pydantic import JsonValue

from actors.chat.opening import Asking
from actors.local_models.checkpoints import cannot_load, changing_content, check_checkpoint, checkpoint_path
from actors.local_models.text_model import TEXTS_READ
from actors.serving.endpoint import Endpoint, token_of
from longform.chat.asking import Asks
from longform.errors import LongformError, UsageError
from longform.records import Document, Query
from longform.retrieval.ranking import OTHERS_VERSION, ranked, rounded
from longform.settings.retrievers import CrossEncoderRerankerSettings, EndpointRerankerSettings
from longform.settings.strict import PartSettings

KIND = "reranker"
Settings = TypeVar("Settings", bound=PartSettings)

Ranking = tuple[Query, Sequence[Document]]
"""A query, whose text is what is searched with, and its documents as they were ranked."""


class Reranked(NamedTuple):
    """A place in the new order."""

    place: int  # in the order that came in, from 0
    score: float | None  # null: not scored, because it stands below the depth, is not ranked, or its call failed
    failure: str | None = None  # why there is no score if one was asked for


class Means(NamedTuple):
    """The means of a reranker: threads of a local model, and what a chat model is asked with; None: it asks none."""

    threads: int = 1
    asking: Asking | None = None


class Reranker(ABC, Generic[Settings]):
    """Reorders the first documents of another's ranking."""

    def __init__(self, settings: Settings, _means: Means, /) -> None:
        self._settings = settings

    @classmethod
    def version(cls, _settings: Settings, _prompts: str | None, /) -> dict[str, JsonValue]:
        """Return all that its orders depend on beside the settings; a folder of prompts may have its own."""
        return {}

    @classmethod
    @abstractmethod
    def check(cls, settings: Settings, prompts: str | None, with_keys: bool, /) -> None:
        """
        Look for what it needs, the tokens of endpoints if *with_keys*; nothing is loaded.

        Raises:
            UsageError: It is not there.
        """

    @abstractmethod
    async def order(self, query: Query, documents: Sequence[Document]) -> list[Reranked]:
        """Return all *documents* in their new order; the query's text is what is searched with."""

    async def orders(self, rankings: Sequence[Ranking]) -> list[list[Reranked]]:
        """Return the new order of each of *rankings*."""
        return list(await asyncio.gather(*(self.order(*ranking) for ranking in rankings)))

    def plan(self, rankings: Sequence[Ranking]) -> Asks[list[list[Reranked]]]:
        """Return the plan by which its chat model is asked about *rankings*."""
        raise NotImplementedError(f"{type(self).__name__} asks no chat model")


def reranked(
    scored: Sequence[tuple[int, float]], n_documents: int, failures: Mapping[int, str] | None = None
) -> list[Reranked]:
    """Return the places of *scored*, then all others as they came, without a score; *failures* say why by place."""
    rest = sorted({*range(n_documents)}.difference(place for place, _ in scored))
    without = [Reranked(place, None, (failures or {}).get(place)) for place in rest]
    return [*(Reranked(place, score) for place, score in scored), *without]


class EndpointReranker(Reranker[EndpointRerankerSettings]):
    """
    Asks with all documents of a query at once; overload and dead replicas are waited out, by *sleep*.

    Raises:
        UsageError: The variable with the token is unset, or this cluster has no such application.
    """

    def __init__(
        self,
        settings: EndpointRerankerSettings,
        means: Means,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        super().__init__(settings, means)
        self._endpoint = Endpoint(KIND, settings, sleep=sleep)

    @classmethod
    def version(cls, _settings: EndpointRerankerSettings, _prompts: str | None, /) -> dict[str, JsonValue]:
        return {"scores": OTHERS_VERSION}

    @classmethod
    def check(cls, settings: EndpointRerankerSettings, _prompts: str | None, with_keys: bool, /) -> None:
        if with_keys:
            token_of(KIND, settings)

    async def order(self, query: Query, documents: Sequence[Document]) -> list[Reranked]:
        return await self.rerank(query.text, [document.text for document in documents])

    async def rerank(self, query: str, texts: Sequence[str]) -> list[Reranked]:
        """
        Return all *texts* in their new order.

        The first of them, down to the depth, stand by descending score, ties as the server has them; the rest follow as
        they came, without a score.

        Raises:
            LongformError: Nobody answered in time, or the answer is no order of these documents.
        """
        asked = texts[: self._settings.depth]
        try:
            found = await self._endpoint.client.rerank(self._settings.model, query, asked)
        except LongformError as error:
            raise LongformError(f"{self._endpoint.where}: {error}") from error
        known = {place: score for place, score, _ in found if score is not None}
        scored = zip(known, rounded([*known.values()], of_others=True).tolist(), strict=True)
        failures = {place: failure for place, _, failure in found if failure is not None}
        return reranked(sorted(scored, key=lambda one: -one[1]), len(texts), failures)


# ---------------------------------------------------------------- a cross-encoder

_BATCH_SIZE = 32
_LOGIT_DECIMALS = 4
"""A float32 logit around 8 differs by up to 3e-5 from one processor, batch or number of threads to another."""

_UNABLE = ("Model", "ForMaskedLM", "ForPreTraining")
"""Endings of the names of models that read texts and score no pairs: one that scores is made of them untrained."""


class CrossEncoderModel:
    """
    A Sentence Transformers cross-encoder with one output, by hub name, folder, `package:NAME` or `s3://`.

    `window` is the number of tokens that it reads of a pair, special tokens included.

    Raises:
        UsageError: The model cannot be loaded, was not trained to score pairs, or has several outputs (an entailment
            model is a judge, not a reranker).
    """

    def __init__(self, model: str, *, threads: int) -> None:
        path = checkpoint_path(model)
        import torch
        from sentence_transformers import CrossEncoder
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()
        torch.set_num_threads(threads)
        try:
            # Logits: a sigmoid would crowd the best documents into ties at 1.000000.
            self._model = CrossEncoder(path, activation_fn=torch.nn.Identity())
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            raise UsageError(cannot_load(model, error)) from error
        made_as = getattr(self._model.config, "architectures", None) or []
        if made_as and all(name.endswith(_UNABLE) for name in made_as):
            msg = f"reranker {model!r}: expected a checkpoint that was trained to score pairs, found a {made_as[0]}"
            raise UsageError(f"{msg}, whose scores would be drawn by chance; name a cross-encoder")
        if self._model.num_labels != 1:
            raise UsageError(f"reranker {model!r}: expected one output, the relevance; found {self._model.num_labels}")
        self.window: int = self._model.max_seq_length or self._model.tokenizer.model_max_length

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the relevance of each text as a logit of 4 decimals. The model's window cuts long texts."""
        return self.score_pairs([(query, text) for text in texts])

    def lengths(self, pairs: Sequence[tuple[str, str]]) -> list[int]:
        """Count the tokens of each pair, special tokens included, uncut."""
        if not pairs:
            return []
        queries, texts = ([pair[side] for pair in pairs] for side in (0, 1))
        encoded = self._model.tokenizer(queries, texts, truncation=False, padding=False, verbose=False)
        return [len(ids) for ids in encoded["input_ids"]]

    def score_pairs(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Score pairs (query, text); equal pairs are scored once, so that they tie."""
        if not pairs:
            return []
        distinct = list(dict.fromkeys(tuple(pair) for pair in pairs))
        logits = self._model.predict(distinct, batch_size=_BATCH_SIZE, show_progress_bar=False, convert_to_numpy=True)
        TEXTS_READ.add(len(distinct))
        scores = dict(zip(distinct, (logits.astype(float).round(_LOGIT_DECIMALS) + 0.0).tolist(), strict=True))
        return [scores[tuple(pair)] for pair in pairs]

    def rerank(self, query: str, texts: Sequence[str], *, depth: int) -> list[Reranked]:
        """
        Return all *texts* in their new order.

        The first *depth* stand by descending score, ties as they came; the rest follow as they came, without a score.
        """
        scores = self.score(query, texts[:depth])
        return reranked([(place, scores[place]) for place in ranked(scores)], len(texts))


class CrossEncoderReranker(Reranker[CrossEncoderRerankerSettings]):
    """
    Reorders by a model that is loaded here.

    Raises:
        UsageError: The model cannot be used.
    """

    def __init__(self, settings: CrossEncoderRerankerSettings, means: Means) -> None:
        super().__init__(settings, means)
        self._model = CrossEncoderModel(settings.model, threads=means.threads)

    @classmethod
    def version(cls, settings: CrossEncoderRerankerSettings, _prompts: str | None, /) -> dict[str, JsonValue]:
        content = changing_content(settings.model)
        return {"content": content} if content else {}

    @classmethod
    def check(cls, settings: CrossEncoderRerankerSettings, _prompts: str | None, _with_keys: bool, /) -> None:
        check_checkpoint(settings.model)

    async def order(self, query: Query, documents: Sequence[Document]) -> list[Reranked]:
        return self._model.rerank(query.text, [document.text for document in documents], depth=self._settings.depth)
