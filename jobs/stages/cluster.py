"""Start or join Ray: once a command, and only if there is work for it."""

from __future__ import annotations

import argparse
import os
import sys
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from importlib.util import find_spec
from typing import Self

from actors.terminal import say
from jobs.stages.inbox import Inbox
from jobs.stages.last_word import LastWord
from jobs.stages.starting_ray import our_handler_of_sigterm, start_or_join
from longform.errors import UsageError

_WORKERS = 2  # unless told
_START_S = 12.0  # Ray, and workers that load their models
_HAND_OVER_S = 5.0  # the latter alone


class Cluster:
    """
    The Ray on which stages run: the one this process has joined, the one at *address* or RAY_ADDRESS, else a local one
    of its own.

    A local one is always new (a plain `ray.init()` would join any Ray on the machine) and ends with the `with`.

    A stage uses so many *workers*, of *cpus* each; 0: none but the command's own; None: a Ray of its own is started for
    stages that are done sooner on it, and each stage is begun without.
    """

    def __init__(self, *, address: str | None, workers: int | None, cpus: float = 1) -> None:
        self._address = address or os.environ.get("RAY_ADDRESS")
        self.workers, self.cpus = workers or _WORKERS, cpus
        self.lacks_ray = not self._address and find_spec("ray") is None
        self.in_process = workers == 0 or (workers is None and self.lacks_ray)
        self.measures = workers is None and not self._address  # a stage begins here, and goes on where it ends sooner
        self.inbox = Inbox()
        self._last_word: LastWord | None = None  # of a process that has started or joined Ray
        self._begun: Future[None] | None = None
        # Ray's processes end with the thread that started them, so this one lasts as long as the command
        self._starter = ThreadPoolExecutor(1, "ray")

    def ends_sooner(self, rest_s: float, *, cores: int) -> bool:
        """Return whether *rest_s* seconds on *cores* of one process are done sooner on Ray, its start included."""
        sooner = rest_s * (1 - cores / self.workers) > (_HAND_OVER_S if self._last_word else _START_S)
        if sooner and self.lacks_ray:
            _tell_of_ray()
        return sooner and not self.lacks_ray

    @property
    def is_named(self) -> bool:
        """Return whether it is a Ray that was started elsewhere."""
        return bool(self._address)

    def prepare(self) -> None:
        """
        Begin to start Ray beside what the command does until `start`.

        Nothing is begun if stages may turn out to run without, or if Ray runs elsewhere.
        """
        if not (self.in_process or self.measures or self.is_named or self._begun):
            import ray.data  # noqa: F401  # before another thread does: half of it is seen by the one that comes second
            from ray._private import utils, worker  # noqa: F401

            self._begun = self._starter.submit(self._start)

    def start(self) -> None:
        """
        Make sure that Ray runs; the second call does nothing.

        Raises:
            ClusterError: It does not start, or nobody answers at the address.
        """
        if self._begun is None:
            self._start()
        else:
            with our_handler_of_sigterm():
                self._begun.result()

    def n_with_gpus(self, gpus: float) -> int:
        """Return how many workers that each ask for so many GPUs the cluster has room for; for none, its workers."""
        if not gpus:
            return self.workers
        import ray

        nodes = (node["Resources"].get("GPU", 0.0) for node in ray.nodes() if node["Alive"])
        return max(1, sum(int(found / gpus + 1e-9) for found in nodes))

    def has_gpus(self) -> bool:
        """Return whether a node of the cluster, which runs, has a GPU."""
        import ray

        return bool(ray.cluster_resources().get("GPU"))

    def check_gpus(self, gpus: float, who: str) -> None:
        """
        Make sure that a worker can have so many GPUs.

        Raises:
            UsageError: No node of the cluster has as many, or, without workers, this process sees none.
            ClusterError: As of `start`.
        """
        wanted = f"{who} asks for num_gpus {gpus:g}"
        if self.in_process:
            import torch

            if (n := torch.cuda.device_count()) < gpus:
                raise UsageError(f"{wanted}, and this process sees {n} GPUs; leave `resources` out to use processors")
            return
        self.start()
        import ray

        nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
        if max((node.get("GPU", 0.0) for node in nodes), default=0.0) < gpus:
            has = "; ".join(f"{node.get('CPU', 0):g} CPU, {node.get('GPU', 0):g} GPU" for node in nodes)
            raise UsageError(
                f"{wanted}, and no node of this cluster has as many: it has {has}; join one that has by --ray-address, "
                "or leave `resources` out to use processors"
            )

    def start_for_calls(self) -> None:
        """
        Start Ray before the first model call if stages may run there: what all of them ask must be where all reach it.

        Raises:
            ClusterError: As of `start`.
        """
        if not self.in_process:
            self.start()

    def _start(self) -> None:
        if start_or_join(self._address, cpus=max(2, int(self.workers * self.cpus))):
            self._last_word = LastWord()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._begun is not None:
            wait([self._begun])
        if self._last_word is not None:
            import ray

            ray.shutdown()
            self._last_word.over()


@cache
def _tell_of_ray() -> None:
    told = "stages run in this process, and would end sooner on Ray: pip install 'longform[ray]'; --workers 0 is silent"
    say(told, file=sys.stderr)


def cluster_of(arguments: argparse.Namespace) -> Cluster:
    return Cluster(address=arguments.ray_address, workers=arguments.workers)
