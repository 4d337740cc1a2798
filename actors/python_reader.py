"""Reads files with a class of a user's own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from actors.python_class import class_version, open_class, user_code
from longform.formats.checked import Checks
from longform.formats.files import Found, Named
from longform.formats.rows import HaystackRows
from longform.protocols import Reader
from longform.settings.python_class import PythonClassSettings


def python_files(named: Named, settings: PythonClassSettings) -> Found:
    """
    Return what the class reads from all files that are named; its rows are checked as they are read.

    Raises:
        UsageError: The class cannot be used.
        UserCodeError: Its constructor raised.
    """
    reader = open_class(settings, Reader)
    files = [file for found in named.values() for file in found.values()]

    def haystacks() -> Iterator[HaystackRows]:
        checks = Checks(settings.class_)
        with user_code(settings, "read"):
            for haystack in reader.read(files):
                yield checks.checked(_guarded(haystack, settings))

    return Found(files, haystacks())


def _guarded(haystack: HaystackRows, settings: PythonClassSettings) -> HaystackRows:
    """Return the same haystack; what its rows raise as they are read names the class."""

    def rows(table: Iterable[Any]) -> Iterator[Any]:
        with user_code(settings, "read"):
            yield from table

    if not isinstance(haystack, HaystackRows):
        return haystack
    return HaystackRows(haystack.haystack_id, *map(rows, haystack[1:]))


def made_by(settings: PythonClassSettings) -> dict[str, str]:
    """Return the identity of the class, for the manifest of a benchmark."""
    options = {"options": json.dumps(settings.options, sort_keys=True)} if settings.options else {}
    return {"class": settings.class_, "version": class_version(settings), **options}
