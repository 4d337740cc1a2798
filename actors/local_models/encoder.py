"""
An encoder: texts to unit vectors, and documents to chunks that fit its window.

The vector of a text depends on nothing but the text: texts are read beside others of as many tokens, without padding,
and vectors are rounded to float16. So a vector that is read from a table is the one that would be made.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from actors.local_models.bert import unit
from actors.local_models.checkpoints import cache_folder, cannot_load, checkpoint_content, model_path
from actors.local_models.text_model import TEXTS_READ, TextModel, open_text_model
from actors.local_models.tokenizer import text_chunks
from actors.local_models.vector_table import VectorTable, current_table
from longform.errors import UsageError
from longform.keys import content_key
from longform.text.vectors import TextVectors

_LOG = logging.getLogger(__name__)

_VERSION = "2"
"""Changes with any change of the vector of a text, beside those of the model."""

_BATCH_TOKENS = 1024  # larger ones leave the processor's caches: 4,096 took 1.1 times as long


class TextEncoder(ABC):
    """
    Makes vectors of texts, and remembers them by text until `forget`, so that a haystack is embedded once.

    If this process keeps vectors (`actors.local_models.vector_table`), those of the table are taken, and others come to
    it.
    """

    def __init__(self) -> None:
        self._vectors: dict[str, NDArray[np.float32]] = {}
        self._said: set[str] = set()

    @property
    @abstractmethod
    def dimensions(self) -> int:
        """The length of a vector."""

    @property
    @abstractmethod
    def _table(self) -> VectorTable | None:
        """The table of the vectors where the process keeps them; None: it keeps none."""

    @abstractmethod
    def _encode(self, texts: list[str]) -> Iterator[tuple[list[str], NDArray[np.float16]]]:
        """Give some of *texts* with their vectors, shape (texts, dimensions), until all are there."""

    @abstractmethod
    def chunks(self, text: str, *, max_tokens: int | None, prefix: str = "") -> list[str]:
        """Return consecutive pieces of *text*, none longer than *max_tokens* once *prefix* stands before it."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors, shape (texts, dimensions). Equal texts are embedded once; the window cuts long ones."""
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            table = self._table
            found = table.find(new) if table is not None else {}
            self._remember(list(found), list(found.values()))
            for made, halves in self._encode([text for text in new if text not in found]):
                self._remember(made, halves)
                if table is not None:
                    table.add(made, halves)
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        return np.stack([self._vectors[text] for text in texts])

    def _remember(self, texts: Sequence[str], halves: Sequence[NDArray[np.float16]] | NDArray[np.float16]) -> None:
        """Keep vectors in memory, of unit length as float32."""
        if len(texts):
            self._vectors.update(zip(texts, unit(np.asarray(halves, dtype=np.float32)), strict=True))

    def forget(self) -> None:
        """Drop the vectors in memory."""
        self._vectors.clear()

    def _say_once(self, words: str) -> None:
        if words not in self._said:
            self._said.add(words)
            _LOG.warning(words)


class Encoder(TextEncoder):
    """
    One model of this machine. With a table of vectors, it is loaded when a text is not there.

    Raises:
        UsageError: The model cannot be loaded.
    """

    def __init__(self, model: str, *, threads: int) -> None:
        super().__init__()
        self._name, self._path, self._threads = model, model_path(model), threads
        if self._table is None:
            self._model  # noqa: B018  # loaded now, so that a fault is found before any work

    @cached_property
    def _model(self) -> TextModel:
        try:
            return open_text_model(self._path)
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            raise UsageError(cannot_load(self._name, error)) from error

    @cached_property
    def window(self) -> int:
        """The tokens that the model reads of one text, special tokens included."""
        return self._model.window

    @cached_property
    def dimensions(self) -> int:
        """The length of a vector."""
        held = self._table.dimensions if self._table is not None else None
        return held or self._model.dimensions

    @property
    def _table(self) -> VectorTable | None:
        """The table of this model where the process keeps vectors; None for one on a hub, whose content may change."""
        if not Path(self._path).is_dir():
            return None
        return current_table(_table_key, self._path, cache=cache_folder().parent)

    def _batches(self, texts: Sequence[str]) -> Iterator[NDArray[np.int64]]:
        """Give the places of texts of as many tokens, long ones first: padding would change the last digits."""
        lengths = np.minimum(self.lengths(texts), self.window)
        for length in np.unique(lengths)[::-1]:
            alike = np.flatnonzero(lengths == length)
            size = max(1, _BATCH_TOKENS // max(int(length), 1))
            for start in range(0, len(alike), size):
                yield alike[start : start + size]

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text, special tokens included, uncut."""
        return self._model.lengths(texts) if texts else []

    def read(self, texts: Sequence[str]) -> list[TextVectors]:
        """
        Return the vectors of texts, and of their word pieces, from one pass; the window cuts long ones.

        Nothing is remembered or taken from a table: vectors of pieces take a hundred times the room.
        """
        found: dict[str, TextVectors] = {}
        alone = list(dict.fromkeys(texts))
        batches = ([alone[at] for at in batch] for batch in self._batches(alone))
        with ThreadPoolExecutor(self._threads) as pool:
            for made in pool.map(lambda batch: zip(batch, self._model.read(batch), strict=True), batches):
                read = dict(made)
                found |= read
                TEXTS_READ.add(len(read))
        return [found[text] for text in texts]

    def pieces(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the word pieces of each text that `read` would make vectors of."""
        return self._model.pieces(texts) if texts else []

    def chunks(self, text: str, *, max_tokens: int | None, prefix: str = "") -> list[str]:
        """
        Return `text_chunks` of *max_tokens*; null, or more than the window: of the window, which the log then says.

        Raises:
            UsageError: The prefix leaves no room for text.
        """
        if max_tokens is not None and max_tokens > self.window:
            self._say_once(
                f"encoder {self._name} reads {self.window} tokens: chunk_tokens {max_tokens} is taken as that many"
            )
        found = text_chunks(text, self.lengths, limit=min(max_tokens or self.window, self.window), prefix=prefix)
        TEXTS_READ.add(1)
        return found

    def _encode(self, texts: list[str]) -> Iterator[tuple[list[str], NDArray[np.float16]]]:
        if texts:
            yield texts, self._encoded(texts)

    def _encoded(self, texts: list[str]) -> NDArray[np.float16]:
        """
        Embed all of *texts*: shape (texts, dimensions).

        Each thread embeds batches of its own: several threads at one batch would change the last digits, and gain less.
        """
        found = np.empty((len(texts), self.dimensions), dtype=np.float16)
        batches = list(self._batches(texts))
        alike = ([texts[at] for at in batch] for batch in batches)
        with ThreadPoolExecutor(self._threads) as pool:
            for batch, made in zip(batches, pool.map(self._model.embed, alike), strict=True):
                found[batch] = made
                TEXTS_READ.add(len(batch))
        return found


@cache
def _table_key(path: str) -> str:
    """Return the key of the vectors of the model in a folder."""
    return content_key("vectors", _VERSION, checkpoint_content(path))
