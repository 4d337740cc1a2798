"""The progress of a stage while it runs: a bar on a terminal, elsewhere a line every ten seconds."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TextIO

from actors.terminal import say
from longform.text.visible import visible

if TYPE_CHECKING:
    from tqdm import tqdm

_BAR_INTERVAL_S = 0.5
_LINE_INTERVAL_S = 10.0
_NOTICE_INTERVAL_S = 1.0
_BAR = "{desc:<18} {percentage:3.0f}%|{bar:20}| {n_fmt}/{total_fmt} {unit}, {elapsed} so far, {postfix}"


class Progress:
    """
    Says how far a stage is, in what people count: queries, summaries, verdicts; and how long the rest will take.

    A thread of its own keeps it coming while nothing is finished.

    *unit* is in the plural, and *total* of them are to be done. The line ends with what *notice* returns, for example
    the calls so far.
    """

    def __init__(self, name: str, unit: str, total: int, log: TextIO, notice: Callable[[], str]) -> None:
        self._name, self._unit, self._total, self._log, self._notice = name, unit, total, log, notice
        self._done = 0
        self._started = time.monotonic()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep_printing, daemon=True)
        if total:
            self._thread.start()

    def step(self, done: int) -> None:
        self._done += done

    def end(self, *, found: int, where: str = "") -> None:
        """Print what was done; *found* were there before."""
        self._ended.set()
        if self._total:
            self._thread.join()
        elapsed = time.monotonic() - self._started
        told = f"{self._done:,} {self._unit} in {elapsed:.1f} s{where and f' {where}'}"
        before = f"; {found:,} were done before" if found else ""
        words = f"{told}{before}" if self._total else f"{found:,} {self._unit}, done before"
        say(f"{self._name:<18} {words}", file=self._log, flush=True)

    def words(self, elapsed: float) -> str:
        """Say how far it is after so many seconds."""
        counted = f"{self._done:,}/{self._total:,} {self._unit}, {elapsed:.0f} s so far"
        return "; ".join(said for said in (f"{counted}, {self._speed(elapsed)}", self._notice()) if said)

    def _speed(self, elapsed: float) -> str:
        if not self._done or elapsed <= 0:
            return "none done yet"
        left = elapsed / self._done * (self._total - self._done)
        return f"{_rate(self._done / elapsed)}, {left:.0f} s left"

    def _keep_printing(self) -> None:
        if self._log.isatty():
            self._keep_drawing()
            return
        due = self._started + _LINE_INTERVAL_S
        while not self._ended.wait(_NOTICE_INTERVAL_S):
            if (now := time.monotonic()) < due:
                self._notice()  # what is urgent it prints by itself
            else:
                say(f"{self._name:<18} {self.words(now - self._started)}", file=self._log, flush=True)
                due = now + _LINE_INTERVAL_S

    def _keep_drawing(self) -> None:
        bar = self._bar()
        while not self._ended.wait(_BAR_INTERVAL_S):
            bar.n = self._done
            said = (self._speed(time.monotonic() - self._started), self._notice())
            bar.set_postfix_str(visible("; ".join(one for one in said if one)), refresh=False)
            bar.refresh()
        bar.close()  # it leaves no line: the last one says more

    def _bar(self) -> tqdm[None]:
        from tqdm import tqdm  # only a terminal needs it

        return tqdm(
            total=self._total, desc=self._name, unit=self._unit, file=self._log, bar_format=_BAR, leave=False,
            dynamic_ncols=True,
        )  # fmt: skip


def _rate(a_second: float) -> str:
    return f"{a_second:,.0f} a second" if a_second >= 10 else f"{60 * a_second:,.0f} a minute"
