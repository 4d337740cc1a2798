"""
Near-duplicate documents by MinHash (Broder, 1997).

A document is the set of its runs of `SHINGLE` words. The share of equal minima under many hash functions estimates
the Jaccard similarity of two sets; pairs that may be alike are then compared exactly.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from longform.text.words import words

SHINGLE = 5
N_HASHES = 128
_MARGIN = 0.15  # three deviations of an estimate from 128 hashes are 0.13 at most


class NearDuplicate(NamedTuple):
    """Two documents by their places, and the Jaccard similarity of their shingles."""

    one: int
    other: int
    similarity: float


def shingles(text: str) -> frozenset[int]:
    """Hashes, of 31 bits, of the runs of `SHINGLE` words; of a shorter text the whole."""
    said = words(text)
    runs = {" ".join(said[at : at + SHINGLE]) for at in range(max(1, len(said) - SHINGLE + 1))}
    return frozenset(int.from_bytes(hashlib.blake2b(run.encode(), digest_size=4).digest()) >> 1 for run in runs)


def signature(held: frozenset[int]) -> NDArray[np.uint64]:
    """The smallest value of each hash function over the shingles, shape (N_HASHES,)."""
    rng = np.random.default_rng(0)  # the functions are part of the definition
    factors, shifts = rng.integers(1, 1 << 31, size=(2, N_HASHES), dtype=np.uint64)
    values = np.array(sorted(held), dtype=np.uint64)[:, None]
    # (shingles, hashes); products of two 31-bit numbers stay within 64 bits, and the prime is 2**31 - 1
    return np.asarray(((values * factors + shifts) % np.uint64((1 << 31) - 1)).min(axis=0))


def similarity(one: frozenset[int], other: frozenset[int]) -> float:
    """Jaccard similarity of two sets that are not both empty."""
    return len(one & other) / len(one | other)


def near_duplicates(texts: Sequence[str], *, least: float) -> list[NearDuplicate]:
    """
    Return pairs of documents of at least that Jaccard similarity, the most similar first.

    A pair is compared exactly if its estimate comes within three deviations of *least*.
    """
    held = [shingles(text) for text in texts]
    signatures = np.array([signature(one) for one in held])
    found = []
    for place, row in enumerate(signatures[:-1]):
        estimates = (signatures[place + 1 :] == row).mean(axis=1)
        for other in place + 1 + np.flatnonzero(estimates >= least - _MARGIN):
            exact = similarity(held[place], held[int(other)])
            if exact >= least:
                found.append(NearDuplicate(place, int(other), exact))
    return sorted(found, key=lambda pair: -pair.similarity)
