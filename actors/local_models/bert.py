"""
Sentence Transformers models of BERT's architecture, run by ONNX Runtime.

The graph is written from the folder's weights. It needs neither PyTorch nor Transformers, whose imports take seconds,
and embeds 1.4 times as fast on a processor; the vectors are those of the library but for the last digits of float32.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from actors.local_models.bert_graph import BertGraph, BertShape, bert_graph, weights_wanted
from longform.text.vectors import TextVectors

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

Weights = Mapping[str, NDArray[np.float32]]

_EMBEDDED = ("word", "token_type", "position")


class PlainBert(NamedTuple):
    """A folder that this module can run."""

    folder: Path
    shape: BertShape
    weights: Weights  # name in BERT -> array
    window: int  # tokens read of a text, special ones included
    pooling: str  # `mean` of a text's tokens, or the first (`cls`)


def plain_bert(folder: Path) -> PlainBert | None:
    """Read the model in *folder*; return None if it is no whole float32 BERT with one tokenizer and one pooling."""
    try:
        config, sentences = _read(folder, "config.json"), _read(folder, "sentence_bert_config.json")
        pooling = _pooling(folder)
        window = sentences.get("max_seq_length")
        if pooling is None or not isinstance(window, int) or sentences.get("do_lower_case") or not _one_case(folder):
            return None
        shape = _shape(config)
        weights = _weights(folder)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    if shape is None or not _whole(weights, shape) or window > len(weights[_table("position")]):
        return None
    return PlainBert(folder, shape, weights, window, pooling)


class BertModel:
    """Embeds texts, on one thread a call; several threads may call at once."""

    def __init__(self, plain: PlainBert) -> None:
        self._plain = plain
        self._words, types, self._places = (plain.weights[_table(name)] for name in _EMBEDDED)
        self._type = types[0]
        self._session = _session(bert_graph(plain.shape, plain.weights))

    @property
    def window(self) -> int:
        """The tokens that the model reads of one text, special tokens included."""
        return self._plain.window

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return self._plain.shape.width

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text, special tokens included, uncut."""
        return [len(one.ids) for one in self._uncut.encode_batch(list(texts))]

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors, shape (texts, dimensions), of texts of as many tokens."""
        return self._pooled(self._tokens(self._cut.encode_batch(list(texts))))

    def read(self, texts: Sequence[str]) -> list[TextVectors]:
        """Return the vectors of texts of as many tokens, and of their tokens, from one pass."""
        encoded = self._cut.encode_batch(list(texts))
        tokens = self._tokens(encoded)
        return [
            text_vectors(sentence, _pieces(one), of_text[~np.array(one.special_tokens_mask, dtype=np.bool_)])
            for one, sentence, of_text in zip(encoded, self._pooled(tokens), tokens, strict=True)
        ]

    def pieces(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the pieces of each text that `read` would make vectors of."""
        return [_pieces(one) for one in self._cut.encode_batch(list(texts))]

    def _tokens(self, encoded: Sequence[Encoding]) -> NDArray[np.float32]:
        """Return the last layer's vectors, shape (texts, tokens, dimensions)."""
        ids = np.array([one.ids for one in encoded])
        embedded = self._words[ids] + self._type + self._places[: ids.shape[1]]
        tokens: NDArray[np.float32] = self._session.run(None, {"embedded": embedded})[0]
        return tokens

    def _pooled(self, tokens: NDArray[np.float32]) -> NDArray[np.float32]:
        return unit(tokens.mean(axis=1) if self._plain.pooling == "mean" else tokens[:, 0])

    @cached_property
    def _uncut(self) -> Tokenizer:
        return _tokenizer(self._plain.folder)

    @cached_property
    def _cut(self) -> Tokenizer:
        tokenizer = _tokenizer(self._plain.folder)
        tokenizer.enable_truncation(self.window)
        return tokenizer


def _pieces(encoded: Encoding) -> tuple[str, ...]:
    return tuple(
        piece for piece, special in zip(encoded.tokens, encoded.special_tokens_mask, strict=True) if not special
    )


class TokenLayers:
    """Makes the vectors of a text's tokens by the first *layers* of a model."""

    def __init__(self, plain: PlainBert, layers: int) -> None:
        self._words, types, self._places = (plain.weights[_table(name)] for name in _EMBEDDED)
        self._type = types[0]
        self._session = _session(bert_graph(plain.shape._replace(layers=layers), plain.weights))
        self._tokenizer = _tokenizer(plain.folder)

    def hidden(self, text: str) -> tuple[NDArray[np.float32], NDArray[np.bool_], bool]:
        """Return vectors (tokens, width), True for those that are no special tokens, and if the text was cut."""
        whole = self._tokenizer.encode(text.strip())
        ids, special = np.array(whole.ids), np.array(whole.special_tokens_mask, dtype=np.bool_)
        cut = len(ids) > len(self._places)
        if cut:  # as a tokenizer that truncates: the last special token stays
            ids, special = (np.concatenate([one[: len(self._places) - 1], one[-1:]]) for one in (ids, special))
        embedded = self._words[ids[None, :]] + self._type + self._places[: len(ids)]
        vectors: NDArray[np.float32] = self._session.run(None, {"embedded": embedded})[0][0]
        return vectors, ~special, cut


def _read(folder: Path, name: str) -> dict[str, Any]:
    found = json.loads((folder / name).read_text(encoding="utf-8"))
    if not isinstance(found, dict):
        raise TypeError(name)
    return found


def _pooling(folder: Path) -> str | None:
    """Return the pooling of a chain of transformer, pooling and no more than a normalisation."""
    modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
    kinds = [module["type"].rpartition(".")[2] for module in modules]
    if kinds not in (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"]) or modules[0]["path"]:
        return None
    modes = _read(folder / modules[1]["path"], "config.json")
    chosen = [name for name, is_set in modes.items() if name.startswith("pooling_mode_") and is_set]
    return {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}.get("".join(chosen))


def _one_case(folder: Path) -> bool:
    """Return whether the tokenizer and its settings agree on letters' case: where they do not, libraries differ."""
    normalizer = _read(folder, "tokenizer.json").get("normalizer") or {}
    lower = normalizer.get("lowercase")
    return lower is not None and lower == _read(folder, "tokenizer_config.json").get("do_lower_case", lower)


def _shape(config: Mapping[str, Any]) -> BertShape | None:
    usual = (config["model_type"], config["hidden_act"], config.get("position_embedding_type", "absolute"))
    if usual != ("bert", "gelu", "absolute") or config.get("is_decoder"):
        return None
    return BertShape(
        layers=config["num_hidden_layers"],
        width=config["hidden_size"],
        inner=config["intermediate_size"],
        heads=config["num_attention_heads"],
        epsilon=config["layer_norm_eps"],
    )


def _weights(folder: Path) -> Weights:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        found = load_file(folder / "model.safetensors")
    except SafetensorError as error:
        raise ValueError(str(error)) from error
    return {name.removeprefix("bert."): weight for name, weight in found.items()}


def _table(kind: str) -> str:
    """Return the name of a table of embeddings."""
    return f"embeddings.{kind}_embeddings.weight"


def _whole(weights: Weights, shape: BertShape) -> bool:
    """Return whether all weights are there, in float32 and in the shapes that the configuration states."""
    tables = [weights.get(_table(kind)) for kind in _EMBEDDED]
    if any(table is None or table.dtype != np.float32 or table.shape[1:] != (shape.width,) for table in tables):
        return False
    found = {name: weights.get(name) for name in weights_wanted(shape)}
    sizes = {name: one.shape for name, one in found.items() if one is not None and one.dtype == np.float32}
    return sizes == weights_wanted(shape)


def _session(graph: BertGraph) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors
    values = [onnxruntime.OrtValue.ortvalue_from_numpy(weight) for weight in graph.weights.values()]
    options.add_external_initializers(list(graph.weights), values)
    return onnxruntime.InferenceSession(graph.model, options, providers=["CPUExecutionProvider"])


def _tokenizer(folder: Path) -> Tokenizer:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return *vectors*, shape (vectors, dimensions), at unit length; a vector of zeros stays."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    found: NDArray[np.float32] = vectors / np.maximum(lengths, np.finfo(np.float32).tiny)
    return found


def text_vectors(sentence: NDArray[np.float32], pieces: Sequence[str], tokens: NDArray[np.float32]) -> TextVectors:
    """Return the vectors of a text; all are rounded to float16, as those of sentences are wherever they are kept."""
    return TextVectors(
        unit(sentence[None].astype(np.float16).astype(np.float32))[0], tuple(pieces), unit(tokens).astype(np.float16)
    )
