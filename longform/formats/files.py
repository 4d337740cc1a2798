"""Files as readers of formats are given them, and what a reader makes of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from longform.errors import UsageError
from longform.formats.rows import HaystackRows


class SourceFile(Protocol):
    """A file on this machine or on `s3://`; a gzipped one is unpacked as it is read."""

    name: str  # the last part of its path
    path: str  # below the folder that the command line names; the name if the file was named itself

    def read(self) -> bytes: ...

    def identity(self) -> dict[str, str]:
        """Return the name, and the hash of the content as it is stored."""
        ...

    def lines(self) -> Iterator[bytes]:
        """Yield the file's lines, with their line feeds."""
        ...


Named = Mapping[str, Mapping[str, SourceFile]]
"""A file or folder as the command line names it -> the files there by their paths below it."""


class Found(NamedTuple):
    """The content of files."""

    files: Sequence[SourceFile]
    haystacks: Iterable[HaystackRows]  # read as they are asked for
    dataset: str | None = None  # names the data set of queries that state none


def only_folder(named: Named, kind: str) -> tuple[str, Mapping[str, SourceFile]]:
    """Return the one folder that is named, and its files; several are a UsageError."""
    if len(named) != 1:
        raise UsageError(f"ingest {kind} takes one folder, got {len(named)} paths")
    return next(iter(named.items()))


def last_part(url: str) -> str:
    """Return the last part of a path or URL."""
    return url.rstrip("/").rsplit("/", 1)[-1]
