"""
Route a request to the replica that has read its text before.

A replica keeps answers, and a chat model the prefix it read last; requests that share a text gain from both only if
they meet. Serve's own router chooses of two at random.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping
from typing import Any

from ray.serve.request_router import PendingRequest, RequestRouter, RunningReplica

ROUTER = "serve.routing:SharedTextRouter"

CROWD = 16
"""Requests that a replica may have more than the idlest one before its texts go elsewhere (guess)."""


def ranking(key: str, lengths: Mapping[str, int]) -> list[str]:
    """
    The replicas in the order in which a request should try them.

    By rendezvous hashing: each key has an order of its own, the same in every process, and a replica that comes or goes
    moves only the texts that were, or will be, its own. Those that are crowded, by their known *lengths*, come last.
    """
    most = CROWD + min(lengths.values(), default=0)
    return sorted(lengths, key=lambda replica: (lengths[replica] > most, _weight(key, replica)))


def _weight(key: str, replica: str) -> bytes:
    return hashlib.sha256(f"{key} {replica}".encode()).digest()


class SharedTextRouter(RequestRouter):  # type: ignore[misc]  # Ray has no types
    """Sends requests of one session id, the shared text's key, to one replica; others to the idler of two."""

    async def choose_replicas(
        self, candidate_replicas: list[RunningReplica], pending_request: PendingRequest | None = None
    ) -> list[list[RunningReplica]]:
        """Replicas in ranks: the next rank is tried when all of one are full."""
        key = ""
        if pending_request is not None:
            pending_request.routing_context.should_backoff = True  # else it would ask full replicas without a pause
            key = pending_request.metadata.session_id
        if not key:
            return [random.sample(candidate_replicas, min(2, len(candidate_replicas)))]
        known: dict[str, Any] = {replica.replica_id.unique_id: replica for replica in candidate_replicas}
        lengths = {name: self._n_requests(replica) for name, replica in known.items()}
        return [[known[name]] for name in ranking(key, lengths)]

    def _n_requests(self, replica: RunningReplica) -> int:
        return self.replica_queue_len_cache.get(replica.replica_id) or 0
