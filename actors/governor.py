"""
The authority over a quota domain, and the ways to reach it.

One a cluster: a small Ray actor that every worker of every job asks for leases. It survives its own death: Ray starts it
again, its accounts start empty, and the workers' next asks tell it the limits that its predecessor had found. What is
found is also remembered in a file beside the ledger.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any, Protocol, cast

from actors.storage import Folder
from longform.leases import Ask, Lease, Limits
from longform.quota import Quota

NAMESPACE = "longform"
_REMEMBER_S = 5.0
_PATIENCE_S = 60.0  # for a governor that starts again
_POLL_S = 0.25
_log = logging.getLogger(__name__)


class Governor:
    """
    Args:
        domain: What the provider counts together, as a hash.
        memory: URL of the folder whose `limits/<domain>.json` remembers what was found; None: none does.
    """

    def __init__(self, domain: str, memory: str | None) -> None:
        self._file = f"limits/{domain}.json"
        self._memory = None if memory is None else Folder(memory)
        self._remembered = self._recall()
        self._quota = Quota(known=self._remembered)
        self._written = time.monotonic()

    def lease(self, ask: Ask, told: Limits) -> Lease:
        """What the worker may do next; *told* are the limits in its job's configuration. The lowest told holds."""
        now = time.monotonic()
        self._quota.tell(ask.job, told)
        lease = self._quota.lease(now, ask)
        if now - self._written > _REMEMBER_S:
            self._written = now
            self._remember(self._quota.limits_found)
        return lease

    def _recall(self) -> Limits | None:
        if self._memory is None or not self._memory.has(self._file):
            return None
        return Limits(**self._memory.read_json(self._file))

    def _remember(self, found: Limits) -> None:
        if self._memory is None or found in (self._remembered, Limits()):
            return
        self._remembered = found
        try:
            self._memory.write_json(self._file, found._asdict())
        except OSError as error:
            _log.warning("limits that were found are not remembered: %s", error)


class Desk(Protocol):
    """A governor as a worker sees it."""

    async def lease(self, ask: Ask) -> Lease: ...


class _LocalDesk:
    def __init__(self, governor: Governor, told: Limits) -> None:
        self._governor, self._told = governor, told

    async def lease(self, ask: Ask) -> Lease:
        return self._governor.lease(ask, self._told)


class _RayDesk:
    """A governor that is an actor; one that starts again is waited for."""

    def __init__(self, domain: str, told: Limits, memory: str | None) -> None:
        self._domain, self._told, self._memory = domain, told, memory
        self._actor: Any = None

    async def lease(self, ask: Ask) -> Lease:
        from ray.exceptions import RayActorError

        until = time.monotonic() + _PATIENCE_S
        while True:
            try:
                self._actor = self._actor or _governor_actor(self._domain, self._memory)
                return cast("Lease", await self._actor.lease.remote(ask, self._told))
            except RayActorError:
                self._actor = None
                if time.monotonic() > until:
                    raise
                await asyncio.sleep(_POLL_S)


def _governor_actor(domain: str, memory: str | None) -> Any:
    import ray

    return (
        ray.remote(Governor)
        .options(
            name=f"governor:{domain}",
            namespace=NAMESPACE,
            get_if_exists=True,
            lifetime="detached",
            num_cpus=0,
            max_restarts=-1,
            max_task_retries=-1,
        )
        .remote(domain, memory)
    )


_in_process: dict[str, Governor] = {}


def open_governor(domain: str, told: Limits, *, memory: str | None) -> Desk:
    """The governor of *domain*: the cluster's actor where Ray runs, else one that this process's callers share."""
    import ray

    if ray.is_initialized():
        return _RayDesk(domain, told, memory)
    if domain not in _in_process:
        _in_process[domain] = Governor(domain, memory)
    return _LocalDesk(_in_process[domain], told)
