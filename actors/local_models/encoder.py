"""
An encoder: texts to unit vectors, and documents to chunks that fit its window.

The vector of a text depends on nothing but the text: texts are read beside others of as many tokens, without padding,
and vectors are rounded to float16. So a vector that is read from a table is the one that would be made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from actors.local_models.checkpoints import cache_folder, checkpoint_content
from actors.local_models.text_model import TextModel, open_text_model
from actors.local_models.vector_table import VectorTable, current_table
from actors.local_models.weights import cannot_load, model_path
from longform.errors import UsageError
from longform.keys import content_key

_VERSION = "2"
"""Changes with any change of the vector of a text, beside those of the model."""

_BATCH_TOKENS = 1024  # larger ones leave the processor's caches: 4,096 took 1.1 times as long


class Encoder:
    """
    One model. Vectors are remembered by text until `forget`, so that a haystack is embedded once.

    If this process keeps vectors (`actors.local_models.vector_table`), those of the table are taken, others come to it,
    and the model is loaded when a text is not there.

    Raises:
        UsageError: The model cannot be loaded.
    """

    def __init__(self, model: str, *, threads: int) -> None:
        self._name, self._path, self._threads = model, model_path(model), threads
        self._vectors: dict[str, NDArray[np.float32]] = {}
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

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors, shape (texts, dimensions). Equal texts are embedded once; the window cuts long ones."""
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            table = self._table
            found = table.find(new) if table is not None else {}
            self._remember(list(found), list(found.values()))
            if left := [text for text in new if text not in found]:
                halves = self._encode(left)
                self._remember(left, halves)
                if table is not None:
                    table.add(left, halves)
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        return np.stack([self._vectors[text] for text in texts])

    def _remember(self, texts: Sequence[str], halves: Sequence[NDArray[np.float16]] | NDArray[np.float16]) -> None:
        """Keep vectors in memory, of unit length as float32."""
        if len(texts):
            vectors = np.asarray(halves, dtype=np.float32)
            norms = np.linalg.norm(vectors, axis=1, keepdims=True)
            self._vectors.update(zip(texts, vectors / np.maximum(norms, np.finfo(np.float32).tiny), strict=True))

    def _batches(self, texts: Sequence[str]) -> Iterator[NDArray[np.int64]]:
        """Give the places of texts of as many tokens, long ones first: padding would change the last digits."""
        lengths = np.minimum(self.lengths(texts), self.window)
        for length in np.unique(lengths)[::-1]:
            alike = np.flatnonzero(lengths == length)
            size = max(1, _BATCH_TOKENS // max(int(length), 1))
            for start in range(0, len(alike), size):
                yield alike[start : start + size]

    def forget(self) -> None:
        """Drop the vectors in memory."""
        self._vectors.clear()

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text, special tokens included, uncut."""
        return self._model.lengths(texts) if texts else []

    def chunks(self, text: str, *, max_tokens: int | None, prefix: str = "") -> list[str]:
        """
        Return consecutive pieces of *text*, none longer than *max_tokens* (null: the window) once *prefix* stands
        before it.

        Whole sentences are packed while they fit; a longer sentence is halved at a space, or anywhere if it has none.
        Together the chunks are the text without outer white space; an empty text is one empty chunk.

        Raises:
            UsageError: The prefix leaves no room for text.
        """
        limit = min(max_tokens or self.window, self.window)
        room = limit - self.lengths([prefix])[0]
        if room < 1:
            msg = f"chunks of {limit} tokens leave no room after the prefix {prefix!r}; set a larger chunk_tokens"
            raise UsageError(msg)
        spans = self._spans(text.strip(), limit=limit, room=room, prefix=prefix)
        return [text.strip()[start:end].strip() for start, end in spans] or [""]

    def _spans(self, text: str, *, limit: int, room: int, prefix: str) -> list[tuple[int, int]]:
        """Start and end of each chunk in *text*."""
        import nupunkt

        pieces = self._halved(text, nupunkt.sent_spans(text), limit=limit, prefix=prefix)
        packed: list[tuple[int, int]] = []
        filled = room
        special = self.lengths([""])[0]
        for (start, end), length in zip(pieces, self.lengths([text[s:e] for s, e in pieces]), strict=True):
            if packed and filled + length - special <= room:
                packed[-1] = (packed[-1][0], end)
                filled += length - special
            else:
                packed.append((start, end))
                filled = length - special
        # Tokens of a whole can outnumber those of its parts in some vocabularies.
        return self._halved(text, packed, limit=limit, prefix=prefix)

    def _halved(self, text: str, spans: Sequence[tuple[int, int]], *, limit: int, prefix: str) -> list[tuple[int, int]]:
        """Return *spans*, each cut in two until it fits or is one character."""
        found: list[tuple[int, int]] = []
        lengths = self.lengths([prefix + text[start:end].strip() for start, end in spans])
        for (start, end), length in zip(spans, lengths, strict=True):
            if length <= limit or end - start < 2:
                found.append((start, end))
            else:
                halves = pairwise((start, _middle(text, start, end), end))
                found += self._halved(text, list(halves), limit=limit, prefix=prefix)
        return found

    def _encode(self, texts: list[str]) -> NDArray[np.float16]:
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
        return found


@cache
def _table_key(path: str) -> str:
    """Return the key of the vectors of the model in a folder."""
    return content_key("vectors", _VERSION, checkpoint_content(path))


def _middle(text: str, start: int, end: int) -> int:
    """Return a place to cut: the space nearest the middle on its left, else on its right, else the middle."""
    middle = (start + end) // 2
    left = text.rfind(" ", start + 1, middle + 1)
    if left > start:
        return left
    right = text.find(" ", middle, end - 1)
    return right if right > start else middle
