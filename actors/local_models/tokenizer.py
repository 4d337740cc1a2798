"""Token counts as OpenAI's cl100k_base encoding gives them, from rank files that ship inside an installed package."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Protocol

from longform.errors import LongformError

ENCODING = "cl100k_base"
_RANKS_FILE = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"  # tiktoken's cache name for ENCODING: SHA-1 of its address


class Encoding(Protocol):
    """An encoding of tiktoken."""

    def encode_ordinary(self, text: str) -> list[int]: ...

    def encode_ordinary_batch(self, texts: list[str], *, num_threads: int) -> list[list[int]]: ...

    def decode_bytes(self, tokens: Sequence[int]) -> bytes: ...


class TokenCounter:
    """
    Counts and cuts by tokens. Markers such as `<|endoftext|>` are ordinary text.

    Raises:
        LongformError: The installed packages lack the rank files; nothing is downloaded.
    """

    def __init__(self, *, threads: int) -> None:
        self._threads = threads
        self._encoding = _encoding()

    def __reduce__(self) -> tuple[Callable[[int], TokenCounter], tuple[int]]:
        return _make, (self._threads,)

    def count(self, text: str) -> int:
        return len(self._encoding.encode_ordinary(text))

    def counts(self, texts: Sequence[str]) -> list[int]:
        """Count the tokens of each text."""
        return [len(ids) for ids in self._encoding.encode_ordinary_batch(list(texts), num_threads=self._threads)]

    def prefix_chars(self, text: str, n_tokens: int) -> int:
        """
        Count the characters that the first *n_tokens* tokens hold in full: `text[:chars]` is the kept text.

        A token may end inside a character; such a character is left out.
        """
        kept: bytes = self._encoding.decode_bytes(self._encoding.encode_ordinary(text)[:n_tokens])
        return len(kept.decode("utf-8", errors="ignore"))


def _make(threads: int) -> TokenCounter:
    return TokenCounter(threads=threads)


@lru_cache(maxsize=1)
def _encoding() -> Encoding:
    import tiktoken

    folder = _ranks_folder()
    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    try:
        encoding: Encoding = tiktoken.get_encoding(ENCODING)
        return encoding
    finally:
        if before is None:
            del os.environ["TIKTOKEN_CACHE_DIR"]
        else:
            os.environ["TIKTOKEN_CACHE_DIR"] = before


def _ranks_folder() -> Path:
    # litellm is located, not imported: its import takes seconds.
    spec = importlib.util.find_spec("litellm")
    if spec is None or spec.origin is None:
        msg = (
            f"the ranks of {ENCODING} come with the package litellm, which is not installed; install the project again"
        )
        raise LongformError(msg)
    folder = Path(spec.origin).parent / "litellm_core_utils" / "tokenizers"
    if not (folder / _RANKS_FILE).is_file():
        msg = f"expected the ranks of {ENCODING} at {folder / _RANKS_FILE}; install the litellm the project names"
        raise LongformError(msg)
    return folder
