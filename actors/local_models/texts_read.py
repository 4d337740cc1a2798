"""
Count the texts that local models of this process have read, so that progress moves while a task goes on.

Every model tells what it has read after each batch: an encoder texts, a checkpoint windows, a reranker pairs.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

EVERY_S = 2.0
"""Seconds from one report to the next."""


class TextsRead:
    """The number of texts read, and who else is told of it."""

    def __init__(self) -> None:
        self.count = 0
        self._lock = threading.Lock()
        self._report: Callable[[int], None] | None = None
        self._told_at = 0.0

    def report_to(self, report: Callable[[int], None]) -> None:
        """Call *report* with the count, now and then, from the thread that reads."""
        self._report, self._told_at = report, 0.0

    def add(self, n: int) -> None:
        """Count *n* more texts; several threads may do so."""
        with self._lock:
            self.count += n
            now = time.monotonic()
            due = self._report is not None and now - self._told_at >= EVERY_S
            if due:
                self._told_at = now
        if due and self._report is not None:
            self._report(self.count)


TEXTS_READ = TextsRead()
"""The counter of this process."""
