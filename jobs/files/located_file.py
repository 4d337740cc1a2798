"""Files and folders as a command names them, on this machine or on `s3://`."""

from __future__ import annotations

import gzip
import hashlib
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

import pyarrow.fs as pafs

from actors.storage.folder import open_location
from actors.storage.primitives import names_below
from longform.errors import UsageError
from longform.formats.files import FILES, UnfoldedBytes, last_part, refused

_GZIP = b"\x1f\x8b"
_HASH_CHUNK = 1 << 20


class LocatedFile:
    """A local or remote file, plain or gzipped."""

    def __init__(self, url: str, path: str) -> None:
        self.name, self.path, self.url = last_part(url), path, url
        self._filesystem, self._path = open_location(url)

    @property
    def location(self) -> str:
        """The whole path, however the file was named."""
        return str(self._path)

    def open(self) -> BinaryIO:
        raw = io.BufferedReader(self._filesystem.open_input_file(self._path))
        packed = raw.peek(2)[:2] == _GZIP
        return gzip.open(raw) if packed else raw  # type: ignore[return-value]  # both read bytes

    def read(self) -> bytes:
        """Return the whole content; if it is packed, and unfolds to too much or is damaged, it is an InputError."""
        with self._unfolding() as (stream, unfolded):
            return stream.read() if unfolded is None else unfolded.read(stream)

    def lines(self) -> Iterator[bytes]:
        """Yield the lines; one that is too long, or a packed file that unfolds to too much, is an InputError."""
        with self._unfolding() as (stream, unfolded):
            yield from (unfolded or UnfoldedBytes(self.path, self._n_bytes())).lines(stream)

    @contextmanager
    def _unfolding(self) -> Iterator[tuple[BinaryIO, UnfoldedBytes | None]]:
        with self.open() as stream:
            try:
                yield stream, UnfoldedBytes(self.path, self._n_bytes()) if isinstance(stream, gzip.GzipFile) else None
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise refused(
                    self.path, "a whole gzip file", f"a cut or damaged one ({error}); get it again"
                ) from error

    def _n_bytes(self) -> int:
        return int(self._filesystem.get_file_info(self._path).size or 0)

    def identity(self) -> dict[str, str]:
        """Name and hash of its content as stored, for the manifest."""
        digest = hashlib.sha256()
        with self._filesystem.open_input_stream(self._path, compression=None) as stream:
            while chunk := stream.read(_HASH_CHUNK):
                digest.update(chunk)
        return {"name": self.name, "sha256": digest.hexdigest()}


def files_under(url: str) -> dict[str, LocatedFile]:
    """Path below the folder -> file, sorted; a file stands for itself. A path that is not there is a UsageError."""
    filesystem, root = open_location(url)
    info = filesystem.get_file_info(root)
    if info.type == pafs.FileType.File:
        return {info.base_name: LocatedFile(url, info.base_name)}
    if info.type == pafs.FileType.NotFound:
        raise UsageError(f"{url}: expected a file or a folder, found nothing")
    if info.type == pafs.FileType.Unknown:
        found = "found a pipe or a device, which is read once; write it to a file"
        raise UsageError(f"{url}: expected a file or a folder, {found}")
    if isinstance(filesystem, pafs.LocalFileSystem):
        names = sorted(names_below(root))
    else:
        found = filesystem.get_file_info(pafs.FileSelector(root, recursive=True))
        names = sorted(file.path[len(root) :].lstrip("/") for file in found if file.type == pafs.FileType.File)
    if len(names) > FILES:
        raise UsageError(
            f"{url}: expected at most {FILES:,} files, found {len(names):,}; put their texts into one .jsonl or .csv "
            "(ingest csv), or name a folder in it"
        )
    if twice := {name for name in names if f"{name}.gz" in names}:
        raise UsageError(f"{url}: {sorted(twice)} stand both plain and gzipped; keep one of each")
    return {name: LocatedFile(f"{url.rstrip('/')}/{name}", name) for name in names}
