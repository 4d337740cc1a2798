"""Keys: a row's key is a hash of its origins, never of a place or a time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any, TypeVar

Key = TypeVar("Key")
Of = TypeVar("Of")
_CANONICAL = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)

KEY_LENGTH = 20
"""Hexadecimal digits: 80 bits, so that a collision among a billion rows has odds of 1 in 2 million."""


def content_key(*parts: Any) -> str:
    """Twenty hexadecimal digits that depend on the JSON content of *parts* and on nothing else."""
    return hashlib.sha256(_CANONICAL.encode(parts).encode()).hexdigest()[:KEY_LENGTH]


def stable_seed(*parts: Any) -> int:
    """A 63-bit seed for a random generator, from the content of *parts* (Python's own `hash` is salted)."""
    return int(content_key(*parts)[:16], 16) >> 1


def in_groups(pairs: Iterable[tuple[Key, Of]]) -> dict[Key, list[Of]]:
    """Return what stands behind each key of *pairs* together, keys in order of appearance."""
    found: dict[Key, list[Of]] = {}
    for key, one in pairs:
        found.setdefault(key, []).append(one)
    return found
