"""
Files as readers of formats are given them, and what a reader makes of them.

Bounds of what a file may hold once it is unfolded are far above what people write, and far below what memory holds.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import BinaryIO, NamedTuple, Protocol

from longform.errors import InputError, UsageError
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


FILES = 200_000
"""Files of a folder."""

_MB = 2**20
_FREE = 256 * _MB  # bytes that any file may unfold to
_RATIO = 100  # times its size that a larger one may; gzip makes English 3 to 4 times smaller
_LINE = 256 * _MB  # bytes
_CHUNK = _MB
_WORD = 256 * _MB  # bytes of all parts of a Word file, pictures included
_WORD_XML = 64 * _MB  # bytes of its parts of XML, of which memory takes some twenty times as many
_SPAN = re.compile(rb"gridSpan[^>]{0,80}val=[\"']\d{4,}")
_TAIL = 128  # bytes that a match may reach back over the end of a piece


class UnfoldedBytes:
    """Counts the bytes that a packed file of *n_packed* bytes unfolds to."""

    def __init__(self, path: str, n_packed: int) -> None:
        self._path, self._most, self._n = path, max(_FREE, _RATIO * n_packed), 0

    def add(self, n: int) -> None:
        """Count further bytes; too many are an InputError."""
        self._n += n
        if self._n > self._most:
            most = f"{self._most // _MB:,} MB"
            raise refused(self._path, f"at most {most} unpacked", "more; if that is right, unpack it first")

    def read(self, stream: BinaryIO) -> bytes:
        """Return the whole content."""
        return b"".join(self._pieces(stream))

    def _pieces(self, stream: BinaryIO) -> Iterator[bytes]:
        while piece := stream.read(_CHUNK):
            self.add(len(piece))
            yield piece

    def lines(self, stream: BinaryIO) -> Iterator[bytes]:
        """Yield the lines, ended by a line feed, a carriage return or both; one that is too long is an InputError."""
        while line := stream.readline(_LINE + 1):
            if len(line) > _LINE:
                raise refused(self._path, f"lines of at most {_LINE // _MB} MB", "a longer one; split it")
            self.add(len(line))
            yield from line.splitlines(keepends=True)


def refused(path: str, expected: str, found: str) -> InputError:
    """Return the error of a whole file."""
    return InputError(file=path, record="(root)", field="(file)", expected=expected, found=found)


def too_large_for_word(stream: BinaryIO) -> str | None:
    """
    Say why a Word file would fill memory; None: it would not.

    Its directory is read, and the parts of XML a piece at a time.
    """
    with zipfile.ZipFile(stream) as packed:
        parts = packed.infolist()
        xml = [part for part in parts if part.filename.endswith((".xml", ".rels"))]
        for most, chosen, what in ((_WORD, parts, "all its parts come"), (_WORD_XML, xml, "its text comes")):
            if (n := sum(part.file_size for part in chosen)) > most:
                return f"{what} to {n // _MB:,} MB, and at most {most // _MB} are read; save it in pieces"
        for part in xml:
            with packed.open(part) as unfolding:
                before = b""
                while piece := unfolding.read(_CHUNK):
                    if _SPAN.search(before + piece):
                        return "a cell of a table spans thousands of columns; mend the table"
                    before = piece[-_TAIL:]
    return None
