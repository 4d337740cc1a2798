"""
The encoder that a configuration names: of this machine, or behind an endpoint of OpenAI's dialect.

An endpoint's vectors are kept as those of local encoders are, by the URL, the model's name and the text.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from actors.local_models.checkpoints import cache_folder, check_checkpoint, checkpoint_content, checkpoint_path
from actors.local_models.encoder import Encoder, TextEncoder
from actors.local_models.text_model import TEXTS_READ
from actors.local_models.tokenizer import TokenCounter, text_chunks
from actors.local_models.vector_table import VectorTable, current_table
from actors.serving.endpoint import Endpoint, token_of
from longform.errors import LongformError
from longform.keys import content_key
from longform.settings.endpoints import EmbeddingsEndpointSettings, EncoderSettings

KIND = "encoder"
_VERSION = "1"
"""Changes with any change of the vector of a text, beside those of the server."""

_ROUND = 1024  # texts whose vectors are kept together: so many are asked for again after a fault
_NEARLY_UNIT = 0.01  # a length nearer to 1 is rounding, and such vectors are kept as they came


class EndpointEncoder(TextEncoder):
    """
    Asks for the vectors of texts that no table holds, several requests at once.

    Raises:
        UsageError: The variable with the token is unset, or this cluster has no such application.
    """

    def __init__(
        self, settings: EmbeddingsEndpointSettings, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        super().__init__()
        self._settings = settings
        self._endpoint = Endpoint(KIND, settings, sleep=sleep)
        self._width: int | None = None  # of a vector, once one is known

    @property
    def dimensions(self) -> int:
        return (self._table.dimensions if self._table is not None else None) or self._width or 0

    @property
    def _table(self) -> VectorTable | None:
        key = partial(content_key, "vectors of an endpoint", _VERSION)
        return current_table(key, f"{self._settings.url} {self._settings.model}", cache=cache_folder().parent)

    @cached_property
    def _counter(self) -> TokenCounter:
        return TokenCounter(threads=1)

    def chunks(self, text: str, *, max_tokens: int | None, prefix: str = "") -> list[str]:
        """
        Return `text_chunks` by tokens of cl100k.

        Raises:
            UsageError: The prefix leaves no room for text.
        """
        assert max_tokens is not None, "the settings name a size where chunks are made"
        return text_chunks(text, self._counter.counts, limit=max_tokens, prefix=prefix)

    def _encode(self, texts: list[str]) -> Iterator[tuple[list[str], NDArray[np.float16]]]:
        for start in range(0, len(texts), _ROUND):
            asked = texts[start : start + _ROUND]
            yield asked, asyncio.run(self._asked(asked))

    async def _asked(self, texts: Sequence[str]) -> NDArray[np.float16]:
        size = self._settings.batch_texts
        parts = [texts[start : start + size] for start in range(0, len(texts), size)]
        found = np.concatenate(await asyncio.gather(*map(self._batch, parts)))
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        scale = np.where(np.abs(lengths - 1) < _NEARLY_UNIT, 1.0, np.maximum(lengths, np.finfo(np.float64).tiny))
        return np.asarray(found / scale, dtype=np.float16)

    async def _batch(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Ask for the vectors of one request: shape (texts, dimensions)."""
        try:
            found = sorted(await self._endpoint.client.embed(self._settings.model, texts))
        except LongformError as error:
            raise LongformError(f"{self._endpoint.where}: {error}") from error
        widths = {len(vector) for _, vector in found} | {self.dimensions or len(found[0][1])}
        if len(widths) != 1:
            raise LongformError(f"{self._endpoint.where}: expected vectors of one length, found {sorted(widths)}")
        self._width = widths.pop()
        TEXTS_READ.add(len(texts))
        return np.array([vector for _, vector in found], dtype=np.float64)


def check_encoder(settings: EncoderSettings, *, with_keys: bool = True) -> None:
    """
    Find the model without reading its weights, or the token of its endpoint, which is not asked.

    Raises:
        UsageError: It is not there; the message says what to do.
    """
    if settings.endpoint is None:
        check_checkpoint(settings.model)
    elif with_keys:
        token_of(KIND, settings.endpoint)


def open_encoder(settings: EncoderSettings, *, threads: int = 1) -> TextEncoder:
    """
    Return the encoder.

    Raises:
        UsageError: The model cannot be loaded, the variable with the token is unset, or the cluster has no such
            application.
    """
    if settings.endpoint is None:
        return Encoder(checkpoint_path(settings.model), threads=threads)
    return EndpointEncoder(settings.endpoint)


def encoder_version(settings: EncoderSettings) -> str:
    """Return what changes with the vectors: the content of a model here, the place and name of one behind a URL."""
    if settings.endpoint is None:
        return checkpoint_content(settings.model)
    return f"{settings.url} {settings.model}"
