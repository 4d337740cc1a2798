"""
The authority over a quota domain, and the way a worker reaches it.

With Ray, one small detached actor a domain, which all jobs of a cluster share and which Ray starts again when it dies;
without, one object a process. Those of one machine ask the first of them. A new authority goes on from what its workers
last heard and from a file, with empty accounts.
"""

from __future__ import annotations

import logging
import time
from functools import cache
from typing import Protocol

from actors.authority import Local, Remote, actor_of, ray_runs
from actors.chat.machine import OneOfMachine
from actors.storage.folder import Folder
from longform.quota.leases import Lease, LeaseAsk, QuotaLimits
from longform.quota.quota import Quota

NAMESPACE = "longform"  # explicit, because each job's own is anonymous

_WRITES_APART_S = 5.0
_PATIENCE_S = 30.0  # for an authority that died
_LATEST_S = 0.5  # until one without limits is asked again

_log = logging.getLogger(__name__)


class LeaseSource(Protocol):
    """Leases calls to a worker."""

    async def lease(self, ask: LeaseAsk) -> Lease: ...

    async def close(self) -> None: ...


class Unlimited:
    """Grants every request; for models without limits."""

    async def lease(self, ask: LeaseAsk) -> Lease:
        return Lease(len(ask.sizes), again_s=_LATEST_S, limits=QuotaLimits())

    async def close(self) -> None:
        pass


class Governor:
    """
    A quota with a clock and a memory.

    Limits that it finds are remembered in the folder at the URL *memory*; None: they are not.
    """

    def __init__(self, domain: str, memory: str | None) -> None:
        self._name = f"limits/{domain}.json"
        self._folder = None if memory is None else Folder(memory)
        self._remembered = self._read()
        self._written_at = time.monotonic()
        self._quota = Quota(known=self._remembered)

    def lease(self, ask: LeaseAsk, told: QuotaLimits) -> Lease:
        """Return the worker's next lease; *told* are the limits in its job's configuration."""
        lease = self._quota.lease(time.monotonic(), ask, told)
        self._remember()
        return lease

    def _remember(self) -> None:
        found = self._quota.limits_found
        now = time.monotonic()
        if self._folder is None or now < self._written_at + _WRITES_APART_S or found == self._remembered:
            return
        self._written_at = now
        try:
            self._folder.write_json(self._name, found._asdict())
        except OSError as error:
            _log.warning(
                "cannot write %s in %s: %s; the limits found are lost at a restart", self._name, self._folder.url, error
            )
        else:
            self._remembered = found

    def _read(self) -> QuotaLimits:
        try:
            if self._folder is None or not self._folder.has(self._name):
                return QuotaLimits()
            return QuotaLimits(**self._folder.read_json(self._name))
        except (OSError, TypeError, ValueError) as error:
            _log.warning("cannot read %s: %s; the limits are found anew", self._name, error)
            return QuotaLimits()


class MachineGovernor(OneOfMachine):
    """The `Governor` of a domain for all of this user's processes on the machine, wherever it is."""

    def __init__(self, domain: str, memory: str | None) -> None:
        super().__init__(domain, lambda: Governor(domain, memory).lease)


_local_governor = cache(MachineGovernor)

_ON_THE_HEAD = {"node:__internal_head__": 0.001}
"""A resource that every head has, and no other node: the others may be taken away at any moment."""


class Governed:
    """
    Leases from the governor of a quota domain; *told* are the limits in the job's configuration.

    Raises:
        ray.exceptions.RayActorError, OSError, EOFError: From `lease`: it did not come back within 30 seconds.
    """

    def __init__(self, governor: Local[MachineGovernor] | Remote[MachineGovernor], told: QuotaLimits) -> None:
        self.governor, self._told = governor, told

    async def lease(self, ask: LeaseAsk) -> Lease:
        return await self.governor.ask(MachineGovernor.lease, ask, self._told)

    async def close(self) -> None:
        await self.governor.close()


def open_governor(domain: str, told: QuotaLimits, *, memory: str | None) -> Governed:
    """
    Return the leases of the one authority over *domain*, by the actor of the cluster if Ray runs.

    Jobs may tell different limits for one domain: the lowest holds, while a worker of the job that told it is alive.
    The domain's key names the actor and the file, so that it holds no secret.

    Found limits are remembered in the folder at the URL *memory*; None: they are not. The first to open a domain
    decides.
    """
    if not ray_runs():
        return Governed(Local(_local_governor(domain, memory)), told)
    actor = actor_of(MachineGovernor).options(
        name=f"governor:{domain}",
        namespace=NAMESPACE,
        lifetime="detached",
        get_if_exists=True,
        num_cpus=0,
        resources=_ON_THE_HEAD,
        max_restarts=-1,
        max_task_retries=-1,
    )
    handle = actor.remote(domain, memory)
    return Governed(Remote(lambda: handle, patience_s=_PATIENCE_S), told)
