"""
The one authority over a quota domain on a machine, for commands that share no cluster.

The first process to lease calls of a domain takes a lock and listens on a Unix socket; those that come later pass their
workers' asks on to it. The system frees the lock when its holder ends, however it ends: the next to ask takes it.

Socket and lock stand in a folder of the user's alone: `LONGFORM_MACHINE`, else `longform-UID` in the temporary folder.
"""

from __future__ import annotations

import fcntl
import logging
import os
import pickle
import socket
import stat
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from io import BufferedRWPair
from math import inf
from pathlib import Path
from threading import RLock, Thread

from longform.quota.leases import Lease, LeaseAsk, QuotaLimits

_PATIENCE_S = 2.0  # for an authority that lives and does not answer: its process is busy, or was stopped
_POLL_S = 0.005  # between two looks for one that begins
_ALONE_S = 30.0  # then one that did not answer is asked again

_say = cache(logging.getLogger(__name__).warning)  # once in a process

Leasing = Callable[[LeaseAsk, QuotaLimits], Lease]
"""Returns a worker's next lease; one thread at a time calls it."""


class OneOfMachine:
    """
    Leases from the machine's authority called *name*: the one that *start* makes here, or that of an earlier process.

    If it cannot be shared, that is said in the log, and this process leases as if alone: for half a minute if the
    authority lives and does not answer for *patience_s*, else for good.
    """

    def __init__(self, name: str, start: Callable[[], Leasing], *, patience_s: float = _PATIENCE_S) -> None:
        self._start, self._patience_s = start, patience_s
        self._own: Leasing | None = None
        self._turn = RLock()
        self._here_until = -inf  # asks are answered here: by the authority, or alone
        self._stream: BufferedRWPair | None = None  # to the authority
        try:
            self._socket = machine_folder() / name
            self._lock = self._socket.with_name(f"{name}.lock").open("a")
        except OSError as error:
            self._stay_alone(error)

    def lease(self, ask: LeaseAsk, told: QuotaLimits) -> Lease:
        """Return the worker's next lease; *told* are the limits in its job's configuration."""
        until = time.monotonic() + self._patience_s
        with self._turn:
            while not self._answers_here():
                try:
                    return self._passed_on(ask, told)
                except Exception as error:  # noqa: BLE001  # whatever it is, the worker gets its lease
                    self._stream = None
                    if time.monotonic() > until:
                        self._stay_alone(error, until + _ALONE_S)
                    else:
                        time.sleep(_POLL_S)
            return self._leased_here(ask, told)

    def _answers_here(self) -> bool:
        """Return whether this process is the authority, or alone; it becomes the authority if there is none."""
        if time.monotonic() >= self._here_until:
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._listen()
            except BlockingIOError:  # another process has it
                return False
            except OSError as error:
                self._lock.close()
                self._stay_alone(error)
        return True

    def _stay_alone(self, error: Exception, until: float = inf) -> None:
        self._here_until = until
        _say(f"limits are not shared with other commands on this machine: {error}; see LONGFORM_MACHINE")

    def _leased_here(self, ask: LeaseAsk, told: QuotaLimits) -> Lease:
        with self._turn:
            self._own = self._own or self._start()
            return self._own(ask, told)

    def _passed_on(self, ask: LeaseAsk, told: QuotaLimits) -> Lease:
        if self._stream is None:
            with socket.socket(socket.AF_UNIX) as line:  # the stream keeps it open
                line.settimeout(self._patience_s)
                line.connect(str(self._socket))
                self._stream = line.makefile("rwb")
        self._stream.write(pickle.dumps((ask, told)))
        self._stream.flush()
        lease = pickle.load(self._stream)  # noqa: S301  # from a process of this user
        if not isinstance(lease, Lease):
            raise TypeError(f"expected a lease at {self._socket}, found {lease!r}")
        self._own = None  # of a time alone: it knows too little by now
        return lease

    def _listen(self) -> None:
        self._socket.unlink(missing_ok=True)  # of a process that ended
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(self._socket))
        listener.listen()
        Thread(target=self._serve, args=(listener,), daemon=True).start()
        self._here_until = inf

    def _serve(self, listener: socket.socket) -> None:
        while True:
            try:
                Thread(target=self._attend, args=(listener.accept()[0],), daemon=True).start()
            except OSError:  # too many open files
                time.sleep(_POLL_S)

    def _attend(self, line: socket.socket) -> None:
        with suppress(OSError), line, line.makefile("rb") as stream:  # it left
            while stream.peek(1):
                try:
                    said: object = self._leased_here(*pickle.load(stream))  # noqa: S301  # from a process of this user
                except Exception as error:  # noqa: BLE001  # the asker's to handle: it may be of another version
                    said = error
                line.sendall(pickle.dumps(said))


def machine_folder() -> Path:
    """
    Return the folder of this user's authorities on this machine, which is made if it is not there.

    Raises:
        OSError: It cannot be made, or others may write there.
    """
    folder = Path(os.environ.get("LONGFORM_MACHINE") or f"{tempfile.gettempdir()}/longform-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if (found.st_uid, stat.filemode(found.st_mode)) != (os.getuid(), "drwx------"):
        raise PermissionError(
            f"{folder}: expected a folder of user {os.getuid()} with rights drwx------, found one of user "
            f"{found.st_uid} with {stat.filemode(found.st_mode)}"
        )
    return folder
