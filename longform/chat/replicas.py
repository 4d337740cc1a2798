"""
Choose the replica that answers a group of calls with a shared text.

A server that has read a text once answers further questions about it for less, if they come to the same replica.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

_SHORTEST_PIECE = 8  # items; reading the text again for fewer costs more than waiting
_FULLEST = 1.25  # times its even share that a replica may get


def pieces(sizes: Sequence[int], n_replicas: int) -> list[list[range]]:
    """
    Each group as the pieces that are sent apart: whole, unless one group would keep a replica busy alone.

    Args:
        sizes: Shape (groups,): items of each.
        n_replicas: That answer.

    Returns:
        Shape (groups, pieces): ranges of item places.
    """
    longest = max(_SHORTEST_PIECE, -(-sum(sizes) // n_replicas)) if n_replicas > 1 else max(1, *sizes, 1)
    return [[range(start, min(start + longest, size)) for start in range(0, size, longest)] for size in sizes]


def replica_of(shared: str, piece: int, loads: Sequence[int]) -> int:
    """
    Return the replica for a *piece* of the group whose shared text has the key *shared*.

    Rendezvous hashing: a text keeps its replica beside any other groups, and each further piece goes to the next; a
    replica that has more than a quarter over its even share of *loads* (items given to each so far) is passed.
    """
    n = len(loads)
    ordered = sorted(range(n), key=lambda replica: sha256(f"{shared}/{replica}".encode()).digest())
    fullest = _FULLEST * (sum(loads) + _SHORTEST_PIECE * n) / n
    free = [replica for replica in ordered if loads[replica] <= fullest] or ordered
    return free[piece % len(free)]
