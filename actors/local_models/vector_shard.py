"""
A shard of a table of vectors: one immutable file of text keys and their vectors, read by memory map.

    8 bytes     the mark of the format
    4, 4, 8     little-endian: dimensions, zero, texts
    32          SHA-256 of all that follows
    16 each     the beginning of the SHA-256 of each text, sorted
    2 each      the vectors in the same order, float16, texts x dimensions
"""

from __future__ import annotations

import hashlib
import mmap
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

KEY = np.dtype([("high", "<u8"), ("low", "<u8")])
"""The key of a text, in two halves."""

Keys = NDArray[np.void]
Halves = NDArray[np.float16]

_MARK = b"LFVECT01"
_HEAD = struct.Struct("<8sIIQ32s")
_KEY_BYTES = 16


class Shard(NamedTuple):
    """A shard, mapped into memory."""

    keys: Keys  # shape (texts,)
    vectors: Halves  # shape (texts, dimensions)
    n_bytes: int


def keys_of(texts: Sequence[str]) -> Keys:
    """Return the key of each text, shape (texts,)."""
    digests = (hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:_KEY_BYTES] for text in texts)
    return np.frombuffer(b"".join(digests), dtype=KEY)


def shard_bytes(keys: Keys, vectors: Halves) -> bytes:
    """Return the content of the file that holds *vectors* under *keys*, in any order."""
    order = np.argsort(keys, order=("high", "low"))
    body = keys[order].tobytes() + np.ascontiguousarray(vectors[order], dtype="<f2").tobytes()
    head = _HEAD.pack(_MARK, vectors.shape[1], 0, len(keys), hashlib.sha256(body).digest())
    return head + body


def open_shard(file: Path) -> Shard:
    """
    Map a shard into memory, and check it whole.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is no shard, or not all of one; the message says what was found.
    """
    with file.open("rb") as stream:
        size = stream.seek(0, 2)
        if size < _HEAD.size:
            raise ValueError(f"expected at least {_HEAD.size} bytes, found {size}")
        content = memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
    mark, dimensions, _, n_texts, digest = _HEAD.unpack_from(content)
    if mark != _MARK:
        raise ValueError(f"expected the mark {_MARK!r}, found {mark!r}")
    vectors_at = _HEAD.size + n_texts * _KEY_BYTES
    expected = vectors_at + n_texts * dimensions * 2
    if size != expected:
        raise ValueError(f"expected {expected} bytes, found {size}")
    if hashlib.sha256(content[_HEAD.size :]).digest() != digest:
        raise ValueError("its content is not what its head says")
    keys = np.frombuffer(content, dtype=KEY, count=n_texts, offset=_HEAD.size)
    vectors = np.frombuffer(content, dtype="<f2", count=n_texts * dimensions, offset=vectors_at)
    return Shard(keys, vectors.reshape(n_texts, dimensions), size)
