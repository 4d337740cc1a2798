"""A model that makes vectors of texts: BERT by ONNX Runtime if the folder holds one, else by Sentence Transformers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from actors.local_models.bert import BertModel, plain_bert

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
        import torch
        from sentence_transformers.util import batch_to_device

        torch.set_num_threads(1)  # of this thread
        with self._tokenizing:
            features = self._model.preprocess(list(texts), prompt="")
        with torch.inference_mode():
            vectors = self._model(batch_to_device(dict(features), self._model.device))["sentence_embedding"]
            made: NDArray[np.float32] = torch.nn.functional.normalize(vectors.float(), dim=1).cpu().numpy()
        return made
