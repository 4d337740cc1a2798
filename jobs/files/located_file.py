"""Files and folders as a command names them, on this machine or on `s3://`."""

from __future__ import annotations

import gzip
import hashlib
import io
from collections.abc import Iterator
from typing import BinaryIO

import pyarrow.fs as pafs

from actors.storage.folder import open_location
from actors.storage.local_names import local_names
from longform.errors import UsageError
from longform.formats.files import last_part

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
        with self.open() as stream:
            return stream.read()

    def lines(self) -> Iterator[bytes]:
        with self.open() as stream:
            yield from stream

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
        msg = f"{url}: expected a file or a folder, found nothing"
        raise UsageError(msg)
    if info.type == pafs.FileType.Unknown:
        msg = f"{url}: expected a file or a folder, found a pipe or a device, which is read once; write it to a file"
        raise UsageError(msg)
    if isinstance(filesystem, pafs.LocalFileSystem):
        names = sorted(local_names(root))
    else:
        found = filesystem.get_file_info(pafs.FileSelector(root, recursive=True))
        names = sorted(file.path[len(root) :].lstrip("/") for file in found if file.type == pafs.FileType.File)
    if twice := {name for name in names if f"{name}.gz" in names}:
        raise UsageError(f"{url}: {sorted(twice)} stand both plain and gzipped; keep one of each")
    return {name: LocatedFile(f"{url.rstrip('/')}/{name}", name) for name in names}
