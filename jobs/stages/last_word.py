"""
The last word of a process that Ray may end: Ray's native code says none, and lets no line of Python run before it does.

A small process stands beside it, and runs this file. It says the word if the other one ends without having said `over`.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

WORDS = (
    "longform: expected this process to end by itself, and it was ended before its work was done: killed, as when "
    "memory is short, or by Ray, which does so if its raylet or gcs_server is gone (its logs: ray/session_latest/logs "
    "under RAY_TMPDIR, by default /tmp). What is committed is kept: the same command goes on, and with --workers 0 it "
    "needs no Ray"
)
_OVER = b"over\n"
_LEVEL_LINE = b"Set ray log level from environment variable"


class LastWord:
    """A process that says WORDS on standard error if this one ends before `over`."""

    def __init__(self) -> None:
        from jobs.command.interrupts import BEFORE_END  # not in the process beside, which has no package

        self._beside = subprocess.Popen(  # noqa: S603  # this file, by this Python
            [sys.executable, "-I", "-S", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,  # no Ctrl-C ends it: lines may be on their way through it
        )
        atexit.register(self.over)
        BEFORE_END.append(self._leave_unsaid)

    def over(self) -> None:
        """Leave it unsaid, and wait until all that was heard is passed on; the second call does nothing."""
        atexit.unregister(self.over)
        if self._beside.returncode is None:
            self._beside.communicate(_OVER)

    def _leave_unsaid(self) -> None:
        """Do as `over` does, and wait for nothing."""
        assert self._beside.stdin is not None
        with suppress(OSError, ValueError):  # it has ended
            os.write(self._beside.stdin.fileno(), _OVER)

    @contextmanager
    def hearing(self) -> Iterator[None]:
        """
        Pass on what comes on file descriptor 2 as it comes.

        Left out is the line by which Ray's native code says how much it logs.
        """
        assert self._beside.stdin is not None
        sys.stderr.flush()
        ours = os.dup(2)
        os.dup2(self._beside.stdin.fileno(), 2)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(ours, 2)
            os.close(ours)
            self.over()


def stand_by() -> None:
    """Pass on lines of standard input until it is over, or ends: then say the last word."""
    for line in sys.stdin.buffer:
        if line == _OVER:
            return
        if _LEVEL_LINE not in line:
            os.write(2, line)
    os.write(2, f"{WORDS}\n".encode())


if __name__ == "__main__":
    stand_by()
