"""
Texts as a cross-encoder reads them: token ids, each read once, and the windows that are worth scoring.

A sequence is put together from ids as the tokenizer would make it of the two strings, without reading either again. The
windows are those whose sentences are nearest in meaning to the sentence that is asked about. The protocol has what is
called of Transformers, which has no types.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, overload

import numpy as np
from numpy.typing import NDArray

from actors.local_models.checkpoints import MINILM
from actors.local_models.encoder import Encoder
from longform.errors import UsageError
from longform.text.sentences import sentences
from longform.text.windows import Window


class Tokenizer(Protocol):
    """A fast tokenizer of Transformers."""

    model_input_names: Sequence[str]
    model_max_length: int
    eos_token_id: int | None
    pad_token_id: int | None
    sep_token_id: int | None

    @overload
    def __call__(self, text: str, pair: str = ..., /, **how: bool) -> Mapping[str, list[int]]: ...

    @overload
    def __call__(self, texts: list[str], /, **how: bool) -> Mapping[str, list[list[int]]]: ...


Ids = list[int]


class TextTokens(NamedTuple):
    """The ids of a text's sentences, opening a window or following another sentence; mostly the same lists."""

    opening: list[Ids]
    following: list[Ids]

    def of(self, window: Window) -> Ids:
        """Return the ids of a window."""
        first = self.opening[window.first]
        if window.stop is not None:
            return first[window.start : window.stop]
        rest = (token for ids in self.following[window.first + 1 : window.end] for token in ids)
        return [*first, *rest]


class ModelInput(NamedTuple):
    """One input of the model; `types` is empty for a model that has no token types."""

    ids: Ids
    types: Ids


class PairTokens:
    """
    Token ids of texts, each after a prefix, and of sentences.

    They are joined as `pair`, the tokenizer's own way, or as `eos`, by its end-of-sequence token alone. `overhead`
    counts the tokens of a sequence that are neither text nor sentence.

    Raises:
        UsageError: The tokenizer has no such token.
    """

    def __init__(self, tokenizer: Tokenizer, *, joined: str, prefix: str) -> None:
        self._tokenizer = tokenizer
        if joined == "eos" and tokenizer.eos_token_id is None:
            raise UsageError("`joined: eos` needs a tokenizer with an end-of-sequence token; this one has none")
        self._lead = prefix[len(prefix.rstrip()) :]
        before, between, after, self._types = self._template(joined)
        self._before = [*before, *(self._ids([prefix.rstrip()])[0] if prefix.strip() else [])]
        self._between, self._after = between, after
        self.overhead = len(self._before) + len(between) + len(after)
        self._space_matters = self._ids([" a"]) != self._ids(["a"])

    def text(self, text: str) -> TextTokens:
        """Read the sentences of *text*; white space between them is as it was."""
        found = sentences(text)
        opening = self._ids([self._lead + sentence.text for sentence in found])
        if not self._space_matters:
            return TextTokens(opening, opening)
        starts = [0, *(sentence.end for sentence in found)]
        return TextTokens(opening, self._ids([text[a : s.end] for a, s in zip(starts, found, strict=False)]))

    def sentences(self, asked: Sequence[str]) -> list[Ids]:
        return self._ids([sentence.strip() for sentence in asked])

    def joined(self, window: Ids, sentence: Ids) -> ModelInput:
        """Return the model's input for a window and a sentence."""
        ids = [*self._before, *window, *self._between, *sentence, *self._after]
        if self._types is None:
            return ModelInput(ids, [])
        first = len(self._before) + len(window) + len(self._between)
        return ModelInput(ids, [self._types[0]] * first + [self._types[1]] * (len(ids) - first))

    def _ids(self, texts: list[str]) -> list[Ids]:
        if not texts:
            return []
        read = self._tokenizer(texts, add_special_tokens=False, padding=False, truncation=False, verbose=False)
        found: list[Ids] = read["input_ids"]
        return found

    def _template(self, joined: str) -> tuple[Ids, Ids, Ids, tuple[int, int] | None]:
        """Read the special tokens before, between and after, and the token types of both sides, off an example."""
        example = ("a", "b") if joined == "pair" else ("a",)
        read = self._tokenizer(*example, return_special_tokens_mask=True)
        ids, special = read["input_ids"], read["special_tokens_mask"]
        lengths = [len(self._ids([text])[0]) for text in example]
        lead = next((at for at, mark in enumerate(special) if not mark), len(ids))
        trail = next((at for at, mark in enumerate(reversed(special)) if not mark), len(ids))
        types = read.get("token_type_ids")
        sides = None if types is None else (types[lead], types[len(ids) - trail - 1])
        eos = self._tokenizer.eos_token_id
        between = ids[lead + lengths[0] : len(ids) - trail - lengths[-1]] if joined == "pair" else []
        between = [eos] if joined == "eos" and eos is not None else between
        return ids[:lead], between, ids[len(ids) - trail :], sides


class Nearness(NamedTuple):
    """Nearness of one sentence to a document."""

    sentences: NDArray[np.float32]  # its cosine with each of the document's sentences
    best: float  # the largest of these, or with the sum of two neighbours; not below 0


class NearestWindows:
    """
    Chooses at *most* so many windows of a document for a sentence; None: all of them.

    Raises:
        UsageError: The encoder cannot be loaded.
    """

    def __init__(self, most: int | None, *, threads: int) -> None:
        self._most = most
        self._encoder = Encoder(MINILM, threads=threads)

    def nearness(self, text: str, asked: Sequence[str]) -> dict[str, Nearness]:
        """Return the nearness to *text* of each asked sentence; neither may be empty."""
        said = [sentence for sentence in asked if sentence.strip()]
        vectors = self._encoder.embed([sentence.text for sentence in sentences(text)])
        neighbours = vectors[:-1] + vectors[1:]
        neighbours /= np.maximum(np.linalg.norm(neighbours, axis=1, keepdims=True), np.finfo(np.float32).tiny)
        asked_for = self._encoder.embed(said)
        near = asked_for @ vectors.T
        best = np.hstack([near, asked_for @ neighbours.T]).max(axis=1)
        return {one: Nearness(row, max(0.0, float(top))) for one, row, top in zip(said, near, best, strict=True)}

    def chosen(self, windows: Sequence[Window], near: NDArray[np.float32]) -> list[int]:
        """Choose the windows whose best sentence is nearest, in the document's order; the earlier at a tie."""
        best = np.array([near[window.first : window.end].max() for window in windows])
        return sorted(np.argsort(-best, kind="stable")[: self._most].tolist())

    def forget(self) -> None:
        """Drop the vectors in memory."""
        self._encoder.forget()
