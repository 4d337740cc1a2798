"""
The errors this project raises, the exit code of a command that each one ends, and the name that was meant.

    LongformError            1  the work failed
    ├── UsageError           2  the command or its configuration is wrong; nothing was done
    ├── InputError           2  a file is not what it should be; nothing was written
    │   └── DanglingError    2  a row of it refers to one that is not there
    ├── BudgetReachedError   4  the command may not spend more; what is done is kept
    ├── StoppedError         1  the command that asked is over
    └── ServerGoneError      1  a model's server cannot be used; what is done is kept
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class LongformError(Exception):
    """The work failed; the message says what was expected, what came, where, and what to do."""

    exit_code = 1


class UsageError(LongformError):
    """A command or a configuration that cannot work, found before any work was done."""

    exit_code = 2


class InputError(LongformError):
    """An input that is not what its format says, named by file, record and field."""

    exit_code = 2

    def __init__(self, *, file: str, record: str, field: str, expected: str, found: str) -> None:
        super().__init__(f"{file}: {record}: field {field!r}: expected {expected}, found {found}")
        self.file = file
        self.record = record
        self.field = field
        self.expected = expected
        self.found = found


class DanglingError(InputError):
    """A row refers to one that is not there."""


class BudgetReachedError(LongformError):
    """The command may not make or pay more calls; what is finished is kept, and a later command goes on."""

    exit_code = 4


class StoppedError(LongformError):
    """The command that asked is over: its driver is gone, or it was cancelled. No call leaves any more."""


class ServerGoneError(LongformError):
    """No call of a model can succeed: its server cannot be reached, or refuses every one. A later command goes on."""


def meant(name: str, known: Iterable[str]) -> str:
    """Return `; did you mean 'X'?` with the one of *known* that is most like *name*; empty if none is like it."""
    near = get_close_matches(name, list(dict.fromkeys(known)), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
