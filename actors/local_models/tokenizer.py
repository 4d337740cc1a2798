"""
Texts counted by tokens, and cut into chunks of whole sentences, none longer than a number of tokens.

Counts are those of OpenAI's cl100k_base encoding, from rank files that ship inside an installed package.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from longform.errors import LongformError, UsageError

if TYPE_CHECKING:
    from tiktoken import Encoding

ENCODING = "cl100k_base"
_RANKS_FILE = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"  # tiktoken's cache name for ENCODING: SHA-1 of its address


class TokenCounter:
    """
    Counts and cuts by tokens. Markers such as `<|endoftext|>` are ordinary text.

    Raises:
        LongformError: The installed packages lack the rank files; nothing is downloaded.
    """

    def __init__(self, *, threads: int) -> None:
        self._threads = threads
        self._encoding = _encoding()

    def __reduce__(self) -> tuple[Callable[[], TokenCounter], tuple[()]]:
        return partial(TokenCounter, threads=self._threads), ()

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


@lru_cache(maxsize=1)
def _encoding() -> Encoding:
    import tiktoken

    folder = _ranks_folder()
    before = os.environ.get("TIKTOKEN_CACHE_DIR")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    try:
        return tiktoken.get_encoding(ENCODING)
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


# ---------------------------------------------------------------- chunks

Lengths = Callable[[Sequence[str]], Sequence[int]]
"""Counts the tokens of each text, special tokens included."""

Span = tuple[int, int]
"""Start and end of a chunk in its text."""


def text_chunks(text: str, lengths: Lengths, *, limit: int, prefix: str = "") -> list[str]:
    """
    Return consecutive pieces of *text*, none longer than *limit* tokens once *prefix* stands before it.

    Whole sentences are packed while they fit; a longer sentence is halved at a space, or anywhere if it has none.
    Together the chunks are the text without outer white space; an empty text is one empty chunk.

    Raises:
        UsageError: The prefix leaves no room for text.
    """
    room = limit - lengths([prefix])[0]
    if room < 1:
        msg = f"chunks of {limit} tokens leave no room after the prefix {prefix!r}; set a larger chunk_tokens"
        raise UsageError(msg)
    spans = _spans(text.strip(), lengths, limit=limit, room=room, prefix=prefix)
    return [text.strip()[start:end].strip() for start, end in spans] or [""]


def _spans(text: str, lengths: Lengths, *, limit: int, room: int, prefix: str) -> list[Span]:
    """Return the place of each chunk."""
    import nupunkt

    pieces = _halved(text, nupunkt.sent_spans(text), lengths, limit=limit, prefix=prefix)
    packed: list[Span] = []
    filled = room
    special = lengths([""])[0]
    for (start, end), length in zip(pieces, lengths([text[s:e] for s, e in pieces]), strict=True):
        if packed and filled + length - special <= room:
            packed[-1] = (packed[-1][0], end)
            filled += length - special
        else:
            packed.append((start, end))
            filled = length - special
    # Tokens of a whole can outnumber those of its parts in some vocabularies.
    return _halved(text, packed, lengths, limit=limit, prefix=prefix)


def _halved(text: str, spans: Sequence[Span], lengths: Lengths, *, limit: int, prefix: str) -> list[Span]:
    """Return *spans*, each cut in two until it fits or is one character."""
    found: list[Span] = []
    counted = lengths([prefix + text[start:end].strip() for start, end in spans])
    for (start, end), length in zip(spans, counted, strict=True):
        if length <= limit or end - start < 2:
            found.append((start, end))
        else:
            halves = pairwise((start, _middle(text, start, end), end))
            found += _halved(text, list(halves), lengths, limit=limit, prefix=prefix)
    return found


def _middle(text: str, start: int, end: int) -> int:
    """Return a place to cut: the space nearest the middle on its left, else on its right, else the middle."""
    middle = (start + end) // 2
    left = text.rfind(" ", start + 1, middle + 1)
    if left > start:
        return left
    right = text.find(" ", middle, end - 1)
    return right if right > start else middle
