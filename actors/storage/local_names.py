"""Files below a folder of this machine, in folders that links lead to, too."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from longform.errors import UsageError


def local_names(root: str) -> Iterator[str]:
    """
    Yield the paths of files below a folder, relative to it.

    A link to a folder above it is passed over, since it would lead round for ever.

    Raises:
        UsageError: A folder cannot be read.
    """
    yield from _names(root, "", (os.path.realpath(root),))


def _names(folder: str, below: str, entered: tuple[str, ...]) -> Iterator[str]:
    try:
        found = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        raise UsageError(f"{folder}: the folder cannot be read ({error.strerror}); mend its rights") from error
    for entry in found:
        if entry.is_dir():
            real = os.path.realpath(entry.path)
            if not any(Path(one).is_relative_to(real) for one in entered):
                yield from _names(entry.path, f"{below}{entry.name}/", (*entered, real))
        elif entry.is_file() or entry.is_symlink():  # no socket or pipe; a broken link is told when it is read
            yield f"{below}{entry.name}"
