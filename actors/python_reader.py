"""Reads files with a class of a user's own, or a data set with `ir_datasets`."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Iterator
from typing import Any

from actors.python_class import class_version, guarded, load, open_class, user_code
from longform.errors import UsageError
from longform.formats.files import Found, Named
from longform.formats.ir_rows import IrDataset
from longform.formats.rows import Checks, HaystackRows
from longform.protocols import Reader
from longform.settings.python_class import PythonClassSettings


def python_files(named: Named, settings: PythonClassSettings) -> Found:
    """
    Return what a class reads from all files that are named, or a function as those of the formats that ship.

    The rows are checked as they are read.

    Raises:
        UsageError: The class or function cannot be used.
        UserCodeError: The constructor or the function raised.
    """
    made = load(settings.class_, folder=settings.folder)
    if inspect.isfunction(made):
        with user_code(settings, "reading"):
            found = made(named, **settings.options)
            if not isinstance(found, Found):
                raise TypeError(f"expected a longform.formats.files.Found, found {found!r:.60}")
    else:
        reader, files = open_class(settings, Reader), [file for of in named.values() for file in of.values()]
        found = Found(files, guarded(settings.class_, "read", lambda: _haystacks(reader.read(files))))
    haystacks = (_guarded(one, settings) for one in guarded(settings.class_, "read", lambda: found.haystacks))
    names = ", ".join([file.name for file in found.files][:3]) + (", ..." if len(found.files) > 3 else "")
    return found._replace(haystacks=Checks(settings.class_).all(haystacks, names or "no files"))


def _haystacks(found: object) -> Iterable[HaystackRows]:
    if not isinstance(found, Iterable):
        raise TypeError(f"expected haystacks, returned or yielded, found {found!r:.60}")
    return found


def _guarded(haystack: HaystackRows, settings: PythonClassSettings) -> HaystackRows:
    """Return the same haystack; what its rows raise as they are read names the class."""

    def rows(table: Iterable[Any]) -> Iterator[Any]:
        return guarded(settings.class_, "read", lambda: table)

    if not isinstance(haystack, HaystackRows):
        return haystack
    return HaystackRows(haystack.haystack_id, *map(rows, haystack[1:]))


def made_by(settings: PythonClassSettings) -> dict[str, str]:
    """Return the identity of the class, for the manifest of a benchmark."""
    options = {"options": json.dumps(settings.options, sort_keys=True)} if settings.options else {}
    return {"class": settings.class_, "version": class_version(settings), **options}


def open_ir_dataset(name: str) -> tuple[IrDataset, str]:
    """
    Return the data set of a name, and the version of the library.

    Raises:
        UsageError: The library is not installed, or knows no such name.
    """
    try:
        import ir_datasets
    except ImportError as error:
        raise UsageError("ingest ir_datasets needs the library of this name: pip install ir_datasets") from error
    try:
        found: IrDataset = ir_datasets.load(name)
    except KeyError as error:
        raise UsageError(
            f"ir_datasets {ir_datasets.__version__} knows no data set {name!r}; see ir-datasets.com"
        ) from error
    return found, str(ir_datasets.__version__)
