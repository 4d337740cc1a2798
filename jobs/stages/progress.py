"""The progress of stages while they run: bars on a terminal, elsewhere a line for each stage every ten seconds."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

from actors.terminal import say
from longform.text.visible import visible

if TYPE_CHECKING:
    from tqdm import tqdm

_BAR_INTERVAL_S = 0.5
_LINE_INTERVAL_S = 10.0
_NOTICE_INTERVAL_S = 1.0
_BAR = "{desc:<18} {percentage:3.0f}%|{bar:20}| {n_fmt}/{total_fmt} {unit}, {elapsed} so far, {postfix}"


@dataclass
class Line:
    """The line of a stage: how far it is, in what people count, queries, summaries, verdicts."""

    name: str
    unit: str  # in the plural
    total: int  # to be done
    found: int  # done before
    done: int = 0
    since: float = field(default_factory=time.time)  # its first task began; before, its stream
    is_told: bool = False  # that it is done
    failed: Counter[str] = field(default_factory=Counter)  # of what is done, by reason

    @property
    def is_under_way(self) -> bool:
        return 0 < self.done < self.total

    def words(self, elapsed: float) -> str:
        """Say how far it is after so many seconds, and how long the rest will take."""
        return f"{self.done:,}/{self.total:,} {self.unit}, {elapsed:.0f} s so far, {self.speed(elapsed)}"

    def speed(self, elapsed: float) -> str:
        if not self.done or elapsed <= 0:
            return "none done yet"
        left, a_second = elapsed / self.done * (self.total - self.done), self.done / elapsed
        rate = f"{a_second:,.0f} a second" if a_second >= 10 else f"{60 * a_second:,.0f} a minute"
        return f"{rate}, {left:.0f} s left{self._failures()}"

    def _failures(self) -> str:
        told = ", ".join(f"{reason} {n:,}" for reason, n in self.failed.most_common(3))
        return told and f"; {self.failed.total():,} failed: {told}"

    def last_words(self, where: str) -> str:
        """Say what was done, and where."""
        if not self.total:
            return f"{self.found:,} {self.unit}, done before"
        if not self.done:
            return f"0 of {self.total:,} {self.unit}"
        before = f"; {self.found:,} were done before" if self.found else ""
        made = f"{self.done - self.failed.total():,} of {self.done:,}" if self.failed else f"{self.done:,}"
        took = f"{max(0.0, time.time() - self.since):.1f} s{where and f' {where}'}"
        return f"{made} {self.unit} in {took}{self._failures()}{before}"


class Progress:
    """
    Shows how far stages are that run at once.

    A thread of its own keeps it coming while nothing is finished. The first line ends with what *notice* returns, for
    example the calls so far.
    """

    def __init__(self, lines: Sequence[Line], log: TextIO, notice: Callable[[], str]) -> None:
        self._lines = {line.name: line for line in lines}
        self._log, self._notice = log, notice
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._keep_printing, daemon=True)
        for line in lines:
            if not line.total:
                self._tell(line, "")
        if any(line.total for line in lines):
            self._thread.start()

    def step(self, name: str, done: int, failed: Mapping[str, int], *, since: float, where: str) -> None:
        """Count what is done of a stage that has been at work *since* then; one that is finished says so."""
        line = self._lines[name]
        line.failed.update(failed)
        line.done, line.since = line.done + done, since
        if line.done == line.total:
            self._tell(line, where)

    def end(self, where: str) -> None:
        """Say of the others what was done."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join()
        for line in self._lines.values():
            if not line.is_told:
                self._tell(line, where)

    def _tell(self, line: Line, where: str) -> None:
        line.is_told = True
        say(f"{line.name:<18} {line.last_words(where)}", file=self._log, flush=True)

    def _shown(self) -> list[Line]:
        """Return the lines of stages that are under way, or the first that is to be done."""
        open_lines = [line for line in self._lines.values() if not line.is_told]
        return [line for line in open_lines if line.is_under_way] or open_lines[:1]

    def _keep_printing(self) -> None:
        if self._log.isatty():
            self._keep_drawing()
            return
        due = time.time() + _LINE_INTERVAL_S
        while not self._ended.wait(_NOTICE_INTERVAL_S):
            notice, now = self._notice(), time.time()  # what is urgent it prints by itself
            if now >= due:
                due = now + _LINE_INTERVAL_S
                for line in self._shown():
                    said = "; ".join(one for one in (line.words(now - line.since), notice) if one)
                    say(f"{line.name:<18} {said}", file=self._log, flush=True)
                    notice = ""

    def _keep_drawing(self) -> None:
        bars: dict[str, tqdm[None]] = {}
        while not self._ended.wait(_BAR_INTERVAL_S):
            notice = self._notice()
            for name in [name for name in bars if self._lines[name].is_told]:
                bars.pop(name).close()  # it leaves no line: the last one says more
            for line in self._shown():
                if line.name not in bars:
                    bars[line.name] = self._bar(line)
                bar = bars[line.name]
                bar.n = line.done
                said = (line.speed(time.time() - line.since), notice)
                bar.set_postfix_str(visible("; ".join(one for one in said if one)), refresh=False)
                bar.refresh()
                notice = ""
        for bar in bars.values():
            bar.close()

    def _bar(self, line: Line) -> tqdm[None]:
        from tqdm import tqdm  # only a terminal needs it

        return tqdm(
            total=line.total, desc=line.name, unit=line.unit, file=self._log, bar_format=_BAR, leave=False,
            dynamic_ncols=True,
        )  # fmt: skip
