"""
Publish the requests that batch jobs have yet to send to a served model, on a board that its replicas read.

Serve scales by the requests it holds, and a job holds most of its own back. Those that it publishes here count too
(`serve.backlog`), so that replicas start while the first requests run.
"""

from __future__ import annotations

import time
from collections.abc import Callable

NAMESPACE = "longform"
_NAME = "backlog"
_BELIEVED_S = 60.0  # a job that said nothing for so long is taken for dead


class Backlog:
    """The board; *clock* is in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._said: dict[tuple[str, str], tuple[int, float]] = {}

    def publish(self, deployment: str, job: str, n_requests: int) -> None:
        """Note how many requests *job* has yet to send to *deployment*; 0: it is done."""
        self._said.pop((deployment, job), None)
        if n_requests > 0:
            self._said[deployment, job] = (n_requests, self._clock())

    def sent(self, deployment: str, job: str) -> None:
        """Count one published request of *job* as sent."""
        left, _ = self._said.get((deployment, job), (0, 0.0))
        self.publish(deployment, job, left - 1)

    def waiting(self, deployment: str) -> int:
        """Count the requests that all jobs have yet to send to *deployment*."""
        now = self._clock()
        self._said = {key: said for key, said in self._said.items() if now - said[1] < _BELIEVED_S}
        return sum(n for (name, _), (n, _) in self._said.items() if name == deployment)


class RayBoard:
    """The cluster's board, an actor that every job and replica finds by its name, and that outlives them."""

    def __init__(self) -> None:
        import ray

        options = {"name": _NAME, "namespace": NAMESPACE, "lifetime": "detached", "get_if_exists": True}
        # another one knows nothing, and hears all again within seconds
        self._actor = ray.remote(Backlog).options(num_cpus=0, max_restarts=-1, **options).remote()

    async def publish(self, deployment: str, job: str, n_requests: int) -> None:
        await self._actor.publish.remote(deployment, job, n_requests)

    def sent(self, deployment: str, job: str) -> None:
        """Count one request as sent; nobody waits for it, since the board must hold no request up."""
        self._actor.sent.remote(deployment, job)

    async def waiting(self, deployment: str) -> int:
        """Return how many requests the jobs have yet to send."""
        found: int = await self._actor.waiting.remote(deployment)
        return found
