"""Receipts on their way from workers to the command that commits what they stand for: none is lost if it is stopped."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # a desk's process loads nothing for it
    from jobs.stages.stations import TaskReceipt

_REST_S = 5.0  # for the last look of a command that is stopped


class Desk:
    """An actor that takes receipts from workers, and the number of texts each has read, for the command to look at."""

    def __init__(self) -> None:
        self._receipts: list[TaskReceipt] = []
        self._n_gone = 0
        self._texts: dict[str, int] = {}

    def put(self, receipt: TaskReceipt) -> None:
        self._receipts.append(receipt)

    def has_read(self, worker: str, count: int) -> None:
        self._texts[worker] = count

    def look(self, n_seen: int) -> tuple[list[TaskReceipt], dict[str, int]]:
        """Return what came behind the first *n_seen* receipts, which are kept no longer."""
        del self._receipts[: n_seen - self._n_gone]
        self._n_gone = n_seen
        return self._receipts, self._texts


class Inbox:
    """Receipts that have come to a command's process: from its own threads, or from the desk at which it looks."""

    def __init__(self) -> None:
        self.texts: dict[str, int] = {}  # that models have read, by worker
        self._come: queue.SimpleQueue[TaskReceipt] = queue.SimpleQueue()
        self._desk: Any = None
        self._n_seen = 0

    def put(self, receipt: TaskReceipt) -> None:
        """Take a receipt of this process."""
        self._come.put(receipt)

    def desk(self) -> Any:
        """Return the desk, on the node of this process; Ray runs."""
        if self._desk is None:
            import ray
            from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

            here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
            self._desk = ray.remote(num_cpus=0, scheduling_strategy=here)(Desk).remote()
        return self._desk

    def look(self, *, within_s: float | None = None) -> None:
        """Ask the desk what has come since; an answer that is lost with an interrupt is asked for again."""
        import ray

        receipts, texts = ray.get(self._desk.look.remote(self._n_seen), timeout=within_s)
        self.texts.update(texts)
        for receipt in receipts:
            self._n_seen += 1
            self._come.put(receipt)

    def come(self) -> Iterator[TaskReceipt]:
        """Yield what has come."""
        while not self._come.empty():
            yield self._come.get_nowait()

    def rest(self) -> Iterator[TaskReceipt]:
        """Yield what a command that is stopped has not heard of; of a desk that does not answer, nothing."""
        if self._desk is not None:
            with suppress(Exception):  # Ray may be gone, too
                self.look(within_s=_REST_S)
        yield from self.come()
