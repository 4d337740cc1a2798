"""Protocols of the methods that are called of libraries without types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, overload

if TYPE_CHECKING:
    from torch import Tensor


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


class ModelConfig(Protocol):
    """The configuration of a classifier of Transformers."""

    num_labels: int
    id2label: Mapping[int, str]


class PairBatch(Protocol):
    """Pairs of texts as a tokenizer gives them in tensors."""

    def __getitem__(self, name: str) -> Tensor: ...

    def sequence_ids(self, row: int) -> list[int | None]:
        """Return for each token of a row its side of the pair: 0 or 1; None if it is a special token."""
        ...


class Resumable(Protocol):
    """An optimizer or a schedule."""

    def state_dict(self) -> dict[str, Tensor]: ...

    def load_state_dict(self, state: dict[str, Tensor], /) -> None: ...


class Encoding(Protocol):
    """An encoding of tiktoken."""

    def encode_ordinary(self, text: str) -> list[int]: ...

    def encode_ordinary_batch(self, texts: list[str], *, num_threads: int) -> list[list[int]]: ...

    def decode_bytes(self, tokens: Sequence[int]) -> bytes: ...
