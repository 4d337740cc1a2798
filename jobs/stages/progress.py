"""The line of progress that a stage prints while it runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TextIO

_TERMINAL_INTERVAL_S = 0.5
_LOG_INTERVAL_S = 10.0


class Progress:
    """
    A line that says how far a stage is: rewritten in place on a terminal, else one now and then.

    A thread of its own keeps it coming while nothing is finished.
    """

    def __init__(self, name: str, n_tasks: int, log: TextIO, notice: Callable[[], str]) -> None:
        self._name, self._n_tasks, self._log, self._notice = name, n_tasks, log, notice
        self._done = self._rows = 0
        self._started = time.monotonic()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep_printing, daemon=True)
        if n_tasks:
            self._thread.start()

    def step(self, rows: int) -> None:
        self._done += 1
        self._rows = rows

    def end(self, rows: int, *, found: int, where: str = "") -> None:
        self._ended.set()
        if self._n_tasks:
            self._thread.join()
        elapsed = time.monotonic() - self._started
        before = f"; {found:,} pieces of work were done before" if found else ""
        self._print(f"{self._name:<18} {rows:,} rows in {elapsed:.1f} s{where and f' {where}'}{before}", end="\n")

    def _keep_printing(self) -> None:
        while not self._ended.wait(_TERMINAL_INTERVAL_S if self._log.isatty() else _LOG_INTERVAL_S):
            elapsed = time.monotonic() - self._started
            left = f"{elapsed / self._done * (self._n_tasks - self._done):.0f} s left" if self._done else "starting"
            rate = f"{self._rows:,} rows, {self._rows / elapsed:,.0f} a second, {elapsed:.0f} s so far, {left}"
            words = "; ".join(said for said in (rate, self._notice()) if said)
            self._print(f"{self._name:<18} {self._done}/{self._n_tasks} parts, {words}", end="")

    def _print(self, text: str, *, end: str) -> None:
        if self._log.isatty():
            print(f"\r{text:<100}", end=end, file=self._log, flush=True)
        else:
            print(text, file=self._log, flush=True)
