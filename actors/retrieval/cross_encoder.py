"""A cross-encoder: reads a query and a document together and says how well they fit."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import JsonValue

from actors.local_models.checkpoints import cannot_load, changing_content, check_checkpoint, checkpoint_path
from actors.local_models.text_model import TEXTS_READ
from actors.retrieval.reranker import Means, Reranked, Reranker, reranked
from longform.errors import UsageError
from longform.records import Document, Query
from longform.retrieval.ranking import ranked
from longform.settings.retrievers import CrossEncoderRerankerSettings

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
            msg = f"reranker {model!r}: expected one output, the relevance; found {self._model.num_labels}"
            raise UsageError(msg)
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
