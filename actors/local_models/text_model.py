"""A model that makes vectors of texts: BERT by ONNX Runtime if the folder holds one, else by Sentence Transformers."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from actors.local_models.bert import BertModel, plain_bert, text_vectors
from longform.text.vectors import TextVectors

EVERY_S = 2.0
"""Seconds from one report to the next."""

_GPU_FILES = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")


class TextModel(Protocol):
    """Several threads may call it at once."""

    @property
    def window(self) -> int:
        """The tokens that the model reads of one text, special tokens included."""
        ...

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        ...

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text, special tokens included, uncut."""
        ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors, shape (texts, dimensions), of texts of as many tokens. It uses one thread."""
        ...

    def read(self, texts: Sequence[str]) -> list[TextVectors]:
        """Return the vectors of texts of as many tokens, and of their tokens, from one pass. It uses one thread."""
        ...

    def pieces(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the pieces of each text that `read` would make vectors of."""
        ...


def open_text_model(path: str) -> TextModel:
    """
    Open the model in a folder, or of a name on a hub.

    Raises:
        OSError, ValueError, KeyError, RuntimeError: The library cannot load it.
    """
    if Path(path).is_dir() and not _has_gpu():
        files = tuple(sorted((str(file), file.stat().st_mtime_ns) for file in Path(path).rglob("*") if file.is_file()))
        found = _bert(path, files)
        if found is not None:
            return found
    return LibraryModel(path)


@lru_cache(maxsize=2)
def _bert(path: str, files: tuple[tuple[str, int], ...]) -> BertModel | None:
    """Return the model that all users of a folder share, as long as its files are these."""
    del files
    plain = plain_bert(Path(path))
    return None if plain is None else BertModel(plain)


def _has_gpu() -> bool:
    """Return whether PyTorch sees a GPU, and ask it only on a machine that has one."""
    if os.environ.get("CUDA_VISIBLE_DEVICES") == "" or not any(Path(file).exists() for file in _GPU_FILES):
        return False
    import torch

    return bool(torch.cuda.is_available())


class LibraryModel:
    """A model of Sentence Transformers, on the device that it chooses."""

    def __init__(self, path: str) -> None:
        from sentence_transformers import SentenceTransformer
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()
        self._model: Any = SentenceTransformer(path).eval()
        self._tokenizing = Lock()

    @property
    def window(self) -> int:
        return int(self._model.max_seq_length or self._model.tokenizer.model_max_length)

    @property
    def dimensions(self) -> int:
        return int(self._model.get_embedding_dimension() or 0)

    def lengths(self, texts: Sequence[str]) -> list[int]:
        with self._tokenizing:
            encoded = self._model.tokenizer(list(texts), truncation=False, padding=False, verbose=False)
        return [len(ids) for ids in encoded["input_ids"]]

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._pass(texts)[0]

    def read(self, texts: Sequence[str]) -> list[TextVectors]:
        found = []
        for sentence, tokens, (pieces, counted) in zip(*self._pass(texts), self._pieces(texts), strict=True):
            found.append(text_vectors(sentence, pieces, tokens[counted]))
        return found

    def pieces(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        return [pieces for pieces, _ in self._pieces(texts)]

    def _pieces(self, texts: Sequence[str]) -> list[tuple[tuple[str, ...], NDArray[np.bool_]]]:
        """Return the pieces of each text, without special tokens, and True for the tokens that they are."""
        tokenizer = self._model.tokenizer
        with self._tokenizing:
            encoded = tokenizer(
                list(texts), truncation=True, max_length=self.window, return_special_tokens_mask=True, verbose=False
            )
        found = []
        for ids, special in zip(encoded["input_ids"], encoded["special_tokens_mask"], strict=True):
            counted = ~np.array(special, dtype=np.bool_)
            found.append((tuple(tokenizer.convert_ids_to_tokens(np.array(ids)[counted].tolist())), counted))
        return found

    def _pass(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return unit vectors of texts of as many tokens, and vectors of their tokens."""
        import torch
        from sentence_transformers.util import batch_to_device

        torch.set_num_threads(1)  # of this thread
        with self._tokenizing:
            features = dict(self._model.preprocess(list(texts), prompt=""))
        with torch.inference_mode():
            made = self._model(batch_to_device(features, self._model.device))
            sentences = torch.nn.functional.normalize(made["sentence_embedding"].float(), dim=1).cpu().numpy()
            tokens = made["token_embeddings"].float().cpu().numpy()
        return sentences, tokens


class TextsRead:
    """The number of texts read, and who else is told of it."""

    def __init__(self) -> None:
        self.count = 0
        self._lock = threading.Lock()
        self._report: Callable[[int], None] | None = None
        self._told_at = 0.0

    def report_to(self, report: Callable[[int], None]) -> None:
        """Call *report* with the count, now and then, from the thread that reads."""
        self._report, self._told_at = report, 0.0

    def add(self, n: int) -> None:
        """Count *n* more texts; several threads may do so."""
        with self._lock:
            self.count += n
            now = time.monotonic()
            due = self._report is not None and now - self._told_at >= EVERY_S
            if due:
                self._told_at = now
        if due and self._report is not None:
            self._report(self.count)


TEXTS_READ = TextsRead()
"""The counter of this process."""
