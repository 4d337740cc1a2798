"""Vectors of a text's tokens by one layer of a model: BERT by ONNX Runtime if it is in a folder, else Transformers."""

from __future__ import annotations

from collections import OrderedDict
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from actors.local_models.bert import PlainBert, TokenLayers, plain_bert, unit
from actors.local_models.text_model import TEXTS_READ
from actors.local_models.weights import cannot_load, model_path
from longform.errors import UsageError
from longform.metrics.measure import TokenModel, TokenVectors

_HELD_BYTES = 256_000_000  # of vectors, so that the references of a query are read once
_PREFIXED = ("roberta", "gpt2")  # whose tokenizers see a text's first word as one inside of a text


class _Layer(Protocol):
    def hidden(self, text: str) -> tuple[NDArray[np.float32], NDArray[np.bool_], bool]:
        """Return vectors (tokens, width), True for those that are no special tokens, and if the text was cut."""
        ...


def token_vectors(model: TokenModel, text: str) -> TokenVectors:
    """
    Return the unit vectors of a text's tokens, special ones included; a long text is cut at the model's window.

    Raises:
        UsageError: The model cannot be loaded, or has fewer layers.
    """
    return _held(model).of(text)


class _Held:
    """One layer, with the vectors of the texts that were last asked for."""

    def __init__(self, layer: _Layer) -> None:
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
        return _Held(_LibraryLayer(path, model.layers) if plain is None else _plain_layer(plain, model))
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise UsageError(cannot_load(model.name, error)) from error


def _plain_layer(plain: PlainBert, model: TokenModel) -> _Layer:
    _check_layers(model.layers, plain.shape.layers)
    return TokenLayers(plain, model.layers)


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
