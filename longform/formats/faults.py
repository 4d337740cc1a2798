"""Rows that cannot be read, collected so that one reading tells all of them."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from longform.errors import DanglingError, InputError
from longform.formats.fields import Record

_LOG = logging.getLogger(__name__)
SHOWN = 20
"""The most rows that a message names; the others are counted."""

SKIP = "--skip-unreadable"


class FaultyRowsError(InputError):
    """Rows of files are not what their format says; its place is that of the first, and its words name them by line."""

    def __init__(self, first: InputError, told: str) -> None:
        super().__init__(
            file=first.file, record=first.record, field=first.field, expected=first.expected, found=first.found
        )
        self.args = (told,)


class Faults:
    """
    Collects the errors of rows while a reader goes on with the others.

    Rows with errors are left out and told if *skip*; otherwise they end the reading after the last row.
    """

    def __init__(self, *, skip: bool = False) -> None:
        self.n = 0
        self.blind = False  # a row that others refer to is faulty: a reference to nothing tells nothing new
        self._skip = skip
        self._first: list[InputError] = []

    def add(self, error: InputError) -> None:
        if isinstance(error, DanglingError) and self.blind and not self._skip:
            return
        self.n += 1
        if len(self._first) < SHOWN:
            self._first.append(error)

    @contextmanager
    def caught(self) -> Iterator[None]:
        """Collect an error of the row that is read within."""
        try:
            yield
        except InputError as error:
            self.add(error)

    def settle(self) -> None:
        """
        Tell of the rows that were left out.

        Raises:
            FaultyRowsError: There are any, and they are not to be left out.
        """
        if not self.n:
            return
        lines = "\n".join(f"  {error}" for error in self._first)
        lines += f"\n  and {self.n - SHOWN:,} more" if self.n > SHOWN else ""
        if self._skip:
            _LOG.warning("rows that cannot be read are left out: %s\n%s", f"{self.n:,}", lines)
        elif self.n == 1:
            raise FaultyRowsError(self._first[0], f"{self._first[0]}; mend it, or go on without it by {SKIP}")
        else:
            told = f"{self.n:,} rows cannot be read; nothing was written. Mend them, or go on without them by {SKIP}"
            raise FaultyRowsError(self._first[0], f"{told}\n{lines}")
        self.n, self._first = 0, []


class _AtOnce(Faults):
    """Raises each error as it comes."""

    def add(self, error: InputError) -> None:
        raise error


AT_ONCE = _AtOnce()


def numbered(rows: Iterable[Record], faults: Faults, before: int = 0) -> Iterator[tuple[int, Record]]:
    """Yield each row with its place, counted on from *before*; rows that their source gave up have a place, too."""
    pending, place = iter(rows), before
    while True:
        known = faults.n
        record = next(pending, None)
        place += 1 + faults.n - known
        if record is None:
            return
        yield place, record
