"""
SIGINT (Ctrl-C) and SIGTERM (`ray job stop`, a scheduler) end a command with one line and exit code 130 or 143.

While modules load, a signal ends the process at once: libraries swallow exceptions that reach them in their imports,
and what is kept stays. While the command works, the first signal raises, so that stages
commit what is finished; a second one ends the process at once. In an event loop it raises between two steps: one that
breaks off within a step leaves a future that nobody sets, and closing would wait for it. A process that has not ended
some seconds after the signal is ended. A command whose work is done ends with its own exit code, whatever native
libraries do at the end of a process. This module imports nothing but small parts of the standard library, since it
has to be there before all others.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from select import select
from types import FrameType
from typing import Any, Self

SIGNALS = (signal.SIGINT, signal.SIGTERM)
WORDS = "interrupted; the same command goes on from what is kept"
_CLOSING_S = 8.0  # from a signal to the end of the process

_typed = False  # True if this process has no other work than the command
_FINAL_CODES: list[int] = []  # the exit code of a command whose work is done; empty while it works
BEFORE_END: list[Callable[[], object]] = []  # called before this process is ended at once


def exit_code(number: int) -> int:
    """Return a shell's exit code of a process that a signal has ended."""
    return 128 + number


class Interrupted(KeyboardInterrupt):
    """A signal came; `number` says which."""

    def __init__(self, number: int) -> None:
        super().__init__(WORDS)
        self.number = number


def end_at_once_while_loading(program: str) -> None:
    """Let a signal end this process with one line, until `Interruptible` takes over."""
    global _typed  # noqa: PLW0603  # of the process, as the handlers are
    if not _typed:
        atexit.register(_leave)  # called last, because it is registered before any other
    _typed = True

    def end(number: int, _frame: FrameType | None) -> None:
        _end(program, number)

    if threading.current_thread() is threading.main_thread():
        for number in SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:  # `nohup`, or a shell's background
                signal.signal(number, end)


def final(code: int) -> int:
    """Return *code*, with which a process of no other work ends before destructors of Ray's native code may abort."""
    _FINAL_CODES.append(code)
    return code


def _leave() -> None:
    if _FINAL_CODES:
        with suppress(AttributeError, OSError, ValueError):  # no streams, or Python itself says what it cannot write
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(_FINAL_CODES[-1])


class Interruptible:
    """
    Lets the first signal raise `Interrupted` in the `with`, and a second one end the process, or *closing_s* seconds.

    `received` is the signal that came, if one did.
    """

    def __init__(self, program: str, *, closing_s: float = _CLOSING_S) -> None:
        self._program, self._closing_s = program, closing_s
        self._before: dict[int, Any] = {}
        self._pipe: tuple[int, int] | None = None
        self._watch: threading.Thread | None = None
        self._fd_before = -1
        self.received: int | None = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._on_signal)
        if self._before:
            self._pipe = os.pipe()
            os.set_blocking(self._pipe[1], False)
            self._fd_before = signal.set_wakeup_fd(self._pipe[1], warn_on_full_buffer=False)
            self._watch = threading.Thread(target=self._see_to_end, args=self._pipe[:1], daemon=True)
            self._watch.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._pipe is not None and self._watch is not None:
            signal.set_wakeup_fd(self._fd_before)
            if self.received is None or not _typed:
                os.close(self._pipe[1])
                self._watch.join()  # a thread that wakes while the interpreter ends may abort the process
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self.received is not None or _loads(frame):
            _end(self._program, number)
        self.received = number
        if (loop := _running_loop()) is None:
            raise Interrupted(number)
        loop.call_soon_threadsafe(_interrupt, number)

    def _see_to_end(self, heard: int) -> None:
        """
        End the process if it closes for too long: a library may have swallowed the error, or wait for a thread.

        Signals are heard here even while the main thread is in native code, which keeps handlers from running.
        """
        number, wait_s = 0, None
        while select([heard], [], [], wait_s)[0]:
            told = os.read(heard, 1)
            if not told:  # left in time
                os.close(heard)
                return
            if told[0] in SIGNALS:
                if number:
                    break
                number, wait_s = told[0], self._closing_s
        _end(self._program, number)


def _loads(frame: FrameType | None) -> bool:
    """Return whether a module is being imported in a frame or in those that called it."""
    while frame is not None and frame.f_code.co_filename != "<frozen importlib._bootstrap>":
        frame = frame.f_back
    return frame is not None


def _running_loop() -> Any:
    """Return the event loop that this thread is in; None if it is in none, as before asyncio is loaded."""
    asyncio = sys.modules.get("asyncio.events")
    return None if asyncio is None else asyncio._get_running_loop()  # noqa: SLF001  # the public one raises for none


def _interrupt(number: int) -> None:
    raise Interrupted(number)


def _end(program: str, number: int) -> None:
    os.write(sys.stderr.fileno() if sys.stderr else 2, f"{program}: {WORDS}\n".encode())
    for do in BEFORE_END:
        do()
    os._exit(exit_code(number))
