"""
Models that make vectors of texts, or of their tokens by one layer, and the counter of what they read.

BERT is run by ONNX Runtime if the folder holds one; others by Sentence Transformers, or by Transformers.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from actors.local_models.bert import BertModel, TokenLayers, plain_bert, text_vectors, unit
from actors.local_models.checkpoints import cannot_load, model_path
from longform.errors import UsageError
from longform.metrics.measure import TokenModel, TokenVectors
from longform.text.vectors import TextVectors

EVERY_S = 2.0
"""Seconds from one report to the next."""

_HELD_BYTES = 256_000_000  # of vectors of tokens, so that the references of a query are read once
_PREFIXED = ("roberta", "gpt2")  # whose tokenizers see a text's first word as one inside of a text
_GPU_FILES = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")


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
    """A model of Sentence Transformers, on the device that it chooses. Several threads may call it at once."""

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


TextModel = BertModel | LibraryModel
"""A model of either kind, of which each call uses one thread."""


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


# ---------------------------------------------------------------- tokens


def token_vectors(model: TokenModel, text: str) -> TokenVectors:
    """
    Return the unit vectors of a text's tokens, special ones included; a long text is cut at the model's window.

    Raises:
        UsageError: The model cannot be loaded, or has fewer layers.
    """
    return _held(model).of(text)


class _Held:
    """One layer, with the vectors of the texts that were last asked for."""

    def __init__(self, layer: TokenLayers | _LibraryLayer) -> None:
        self._layer, self._size = layer, 0
        self._texts: OrderedDict[str, TokenVectors] = OrderedDict()

    def of(self, text: str) -> TokenVectors:
        if text in self._texts:
            self._texts.move_to_end(text)
            return self._texts[text]
        vectors, counted, cut = self._layer.hidden(text)
        TEXTS_READ.add(1)
        found = self._texts[text] = TokenVectors(unit(vectors), counted, cut)
        self._size += found.vectors.nbytes
        while self._size > _HELD_BYTES and len(self._texts) > 1:
            self._size -= self._texts.popitem(last=False)[1].vectors.nbytes
        return found


@lru_cache(maxsize=2)
def _held(model: TokenModel) -> _Held:
    path = model_path(model.name)
    plain = plain_bert(Path(path)) if Path(path).is_dir() else None
    try:
        if plain is None:
            return _Held(_LibraryLayer(path, model.layers))
        _check_layers(model.layers, plain.shape.layers)
        return _Held(TokenLayers(plain, model.layers))
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise UsageError(cannot_load(model.name, error)) from error


def _check_layers(wanted: int, there: int) -> None:
    if wanted > there:
        raise ValueError(f"expected layers of at most {there}, which it has, found {wanted}")


class _LibraryLayer:
    """A model of Transformers; it reads a text as the package `bert-score` lets it."""

    def __init__(self, path: str, layers: int) -> None:
        from transformers import AutoConfig, AutoModel, AutoTokenizer
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()
        config: Any = AutoConfig.from_pretrained(path)
        _check_layers(layers, int(config.num_hidden_layers))
        prefixed = {"add_prefix_space": True} if config.model_type in _PREFIXED else {}
        self._tokenizer: Any = AutoTokenizer.from_pretrained(path, **prefixed)
        self._model: Any = AutoModel.from_pretrained(path).eval()
        self._layers = layers

    def hidden(self, text: str) -> tuple[NDArray[np.float32], NDArray[np.bool_], bool]:
        import torch

        window = int(self._tokenizer.model_max_length)
        whole = self._tokenizer(text.strip(), truncation=False, verbose=False)["input_ids"]
        ids = self._tokenizer(text.strip(), truncation=True, max_length=window)["input_ids"]
        special = {self._tokenizer.cls_token_id, self._tokenizer.sep_token_id}
        with torch.inference_mode():
            states = self._model(torch.tensor([ids]), output_hidden_states=True).hidden_states
        vectors: NDArray[np.float32] = states[self._layers][0].float().cpu().numpy()
        return vectors, np.array([one not in special for one in ids], dtype=np.bool_), len(whole) > len(ids)
