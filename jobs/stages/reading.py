"""Texts that local models have read for a stage: told by this process, and by workers in small files of the run."""

from __future__ import annotations

import os
import time
import uuid
from contextlib import suppress
from typing import NamedTuple

from actors.ledger.entry import this_host
from actors.local_models.text_model import TEXTS_READ
from actors.storage.errors import StorageError
from actors.storage.folder import Folder

_EVERY_S = 5.0  # between two looks at the files


_said: list[str] = []  # the folder in which this process says it


class Told(NamedTuple):
    """The place where workers of one run of a stage say how much they have read."""

    run: Folder
    folder: str

    @classmethod
    def new(cls, run: Folder) -> Told:
        return cls(run, f"progress/read-{uuid.uuid4().hex}")

    def by_this_worker(self) -> None:
        """Let this process say it in a file of its own from now on; it may be told so with every task."""
        if _said[-1:] == [self.folder]:
            return
        _said[:] = [self.folder]
        name, before = f"{self.folder}/{this_host()}-{os.getpid()}", TEXTS_READ.count

        def write(count: int) -> None:
            with suppress(StorageError, OSError):  # progress is no work
                self.run.write_bytes(name, str(count - before).encode())

        TEXTS_READ.report_to(write)

    def texts(self) -> int:
        """Return how many texts all workers have said."""
        with suppress(StorageError, OSError, ValueError):  # one that is just written
            return sum(int(self.run.read_bytes(f"{self.folder}/{name}")) for name in self.run.names(self.folder))
        return 0

    def forget(self) -> None:
        with suppress(StorageError, OSError):
            self.run.delete_table(self.folder)


class Reading:
    """Says how many texts were read since it was made, by this process and by the workers whose messages *told* has."""

    def __init__(self, told: Told) -> None:
        self._told, self._before = told, TEXTS_READ.count
        self._workers, self._looked_at = 0, time.monotonic()

    def words(self) -> str:
        """Return nothing if no model has read anything."""
        if time.monotonic() - self._looked_at >= _EVERY_S:
            self._workers, self._looked_at = max(self._workers, self._told.texts()), time.monotonic()
        n = TEXTS_READ.count - self._before + self._workers
        return f"{n:,} texts read" if n else ""
