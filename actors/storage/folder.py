"""Folders, local or `s3://`, through one helper: their files, and the tables of `actors.storage.tables` in them."""

from __future__ import annotations

import errno
import gzip
import json
import os
import shutil
import tempfile
import uuid
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from hashlib import sha256
from os import PathLike, fspath
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pyarrow.fs as pafs
import pyarrow.parquet as pq

from actors.storage.errors import StorageError, damaged, explained, listing_fault, storage_message
from actors.storage.json_files import PUT_BACK, REMADE, RESULTS, as_bytes, check_name, of_bytes
from actors.storage.primitives import create_locally, create_on_s3, local_names, names_on_s3, open_s3, sync
from actors.storage.tables import CommitLog, Forgotten, HeldParts, Part, Snapshot
from longform.errors import UsageError
from longform.keys import KEY_LENGTH, content_key
from longform.schemas import SCHEMAS, conform


class Folder:
    """A benchmark or a run: tables and JSON files under one URL."""

    def __init__(self, url: str | PathLike[str]) -> None:
        if not isinstance(url, str | PathLike):
            raise UsageError(f"expected a folder as a path or a URL, found {url!r}")
        self.url = fspath(url)
        self._filesystem, self._root = open_location(self.url)
        self._logs: dict[str, CommitLog] = {}  # by table
        self._made: set[str] = set()  # folders on S3

    def __reduce__(self) -> tuple[type[Folder], tuple[str]]:
        return Folder, (self.url,)

    def child(self, name: str) -> Folder:
        return Folder(f"{self.url.rstrip('/')}/{name}")

    @explained("be read")
    def exists(self) -> bool:
        """Return whether the folder exists."""
        info = self._filesystem.get_file_info(self._root)
        return cast("bool", info.type != pafs.FileType.NotFound)

    @explained("be changed")
    def delete_table(self, table: str) -> None:
        """Remove a table with all its parts; a table that is not there is fine."""
        self._logs.pop(table, None)
        with suppress(FileNotFoundError, NotADirectoryError):
            self._filesystem.delete_dir(self._path(table))

    @explained("be changed")
    def delete_if_empty(self) -> None:
        """Remove the folder if nothing stands in it."""
        is_folder = self._filesystem.get_file_info(self._root).type == pafs.FileType.Directory
        if is_folder and not self._filesystem.get_file_info(pafs.FileSelector(self._root)):
            self._filesystem.delete_dir(self._root)

    def check_reachable(self) -> None:
        """
        Ask once whether the place can be listed, so that a wrong setting is found before any work.

        Raises:
            StorageError: It cannot; the message says why. A local folder always can.
        """
        if fault := self.listing_fault():
            raise StorageError(storage_message(self.url, "be reached", fault)) from fault

    def listing_fault(self) -> Exception | None:
        """Say why the place cannot be listed; return None if it can, or if it is local."""
        if not isinstance(self._filesystem, pafs.S3FileSystem):
            return None
        bucket, _, prefix = self._root.partition("/")
        return listing_fault(self._s3, bucket, prefix)

    # ------------------------------------------------------------ whole files

    @explained("be written")
    def write_bytes(self, name: str, content: bytes, *, durable: bool = False) -> None:
        """Put a file whole: a reader sees the old content or the new, after a loss of power too if it is *durable*."""
        path = self._path(name)
        self._make_folder(path.rsplit("/", 1)[0])
        if isinstance(self._filesystem, pafs.LocalFileSystem):
            with (
                _unfinished(path, durable=durable) as unfinished,
                self._filesystem.open_output_stream(unfinished, compression=None) as stream,
            ):
                stream.write(content)
        else:
            with self._filesystem.open_output_stream(path, compression=None) as stream:
                stream.write(content)

    def _make_folder(self, path: str) -> None:
        """Make a folder, if need be; on S3 that is a request of its own, and says whether there is a bucket."""
        if isinstance(self._filesystem, pafs.LocalFileSystem) or path not in self._made:
            self._filesystem.create_dir(path, recursive=True)
            self._made.add(path)

    @explained("be created")
    def create_bytes(self, name: str, content: bytes) -> bool:
        """
        Put a file whole and durably, unless one of that name stands there: of all who try at once one succeeds.

        Returns:
            Whether it was put. On S3 False can also mean that it was, by a try whose answer got lost on the way: a
            writer who must know puts a mark of its own into the content.

        Raises:
            StorageError: It could not be told; the file may or may not be there.
        """
        if isinstance(self._filesystem, pafs.LocalFileSystem):
            return create_locally(Path(self._path(name)), content)
        bucket, _, key = self._path(name).partition("/")
        return create_on_s3(self._s3, bucket, key, content)

    @explained("be written")
    def upload(self, source: Path, name: str) -> None:
        """Put a local file, a piece at a time; it is there whole or not at all."""
        path = self._path(name)
        self._filesystem.create_dir(path.rsplit("/", 1)[0], recursive=True)
        if not isinstance(self._filesystem, pafs.LocalFileSystem):
            pafs.copy_files(str(source), path, pafs.LocalFileSystem(), self._filesystem)
            return
        with _unfinished(path, durable=False) as unfinished:
            shutil.copyfile(source, unfinished)

    @explained("be read")
    def download(self, name: str, target: Path) -> None:
        """Copy a file into a local one, a piece at a time."""
        pafs.copy_files(self._path(name), str(target), self._filesystem, pafs.LocalFileSystem())

    @explained("be read")
    def read_bytes(self, name: str) -> bytes:
        try:
            with self._filesystem.open_input_stream(self._path(name), compression=None) as stream:
                return cast("bytes", stream.read())
        except FileNotFoundError as error:  # pyarrow's has no place for the name
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), f"{self.url}/{name}") from error

    @explained("be changed")
    def delete(self, name: str) -> None:
        """Remove a file; one that is not there is fine."""
        with suppress(FileNotFoundError):
            self._filesystem.delete_file(self._path(name))

    @explained("be read")
    def has(self, name: str) -> bool:
        info = self._filesystem.get_file_info(self._path(name))
        return cast("bool", info.type == pafs.FileType.File)

    @explained("be read")
    def names(self, within: str = "", *, after: str = "") -> list[str]:
        """
        List the files directly in the folder, or in the folder *within* it, sorted; none if it is not there.

        With *after* only names behind that one; on S3 the cost is that of the names listed.
        """
        path = self._path(within) if within else self._root
        if isinstance(self._filesystem, pafs.LocalFileSystem):
            return sorted(name for name in local_names(path) if name > after)
        if after:
            bucket, _, prefix = path.partition("/")
            return list(names_on_s3(self._s3, bucket, f"{prefix}/", after))
        found = self._filesystem.get_file_info(pafs.FileSelector(path, allow_not_found=True))
        return sorted(info.base_name for info in found if info.type == pafs.FileType.File)

    @explained("be read")
    def folders(self) -> list[str]:
        """List the folders directly in the folder, sorted; none if it is not there."""
        found = self._filesystem.get_file_info(pafs.FileSelector(self._root, allow_not_found=True))
        return sorted(info.base_name for info in found if info.type == pafs.FileType.Directory)

    @explained("be read")
    def is_folder(self) -> bool:
        """Return whether a folder stands there, and no file."""
        return cast("bool", self._filesystem.get_file_info(self._root).type == pafs.FileType.Directory)

    @explained("be read")
    def sizes(self, within: str) -> dict[str, int]:
        """Return the bytes of all files under the folder *within*, by their paths there; none if it is not there."""
        path = self._path(within)
        found = self._filesystem.get_file_info(pafs.FileSelector(path, allow_not_found=True, recursive=True))
        return {info.path.removeprefix(f"{path}/"): info.size for info in found if info.type == pafs.FileType.File}

    def write_json(self, name: str, content: Mapping[str, object] | Sequence[object], *, sealed: bool = False) -> None:
        """Put a file of JSON, durably; in a *sealed* one, which is an object, any later change is noticed."""
        self.write_bytes(name, as_bytes(content, sealed=sealed), durable=True)

    def read_json(self, name: str, *, needs: Collection[str] | None = None) -> Any:
        """
        Return the content of a file of JSON; with *needs*, an object that has these keys.

        Raises:
            StorageError: It is damaged; the message names the file, and says what to do.
        """
        content = self.read_bytes(name)
        try:
            return of_bytes(content, needs=needs)
        except ValueError as error:
            advice = REMADE.get(name.rpartition("/")[2], PUT_BACK)
            raise damaged(f"{self.url}/{name}", "JSON as it was written", error, advice) from error

    def lines(self, name: str) -> Iterator[Any]:
        """
        Yield the JSON of each line of a gzipped file, which is not in memory as a whole.

        Raises:
            StorageError: It is damaged.
        """
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / "lines"
            self.download(name, path)
            try:
                with gzip.open(path) as file:
                    yield from map(json.loads, file)
            except (EOFError, gzip.BadGzipFile, zlib.error, ValueError) as error:
                raise damaged(f"{self.url}/{name}", "lines of JSON, gzipped", error, REMADE[RESULTS]) from error

    # ------------------------------------------------------------ tables

    def write_part(
        self, table: str, rows: pa.Table | Iterable[Mapping[str, object]], *, work_ids: Sequence[str]
    ) -> Part:
        """
        Write rows as one part, not yet committed.

        Its name has the hashes of its work ids and of its content: rows that are made again never change a part that
        somebody reads, and who reads a part knows whether it is as it was written.
        """
        content = rows.cast(SCHEMAS[table]) if isinstance(rows, pa.Table) else conform(rows, SCHEMAS[table])
        sink = pa.BufferOutputStream()
        pq.write_table(content, sink, compression="zstd", write_page_checksum=True)
        written = sink.getvalue().to_pybytes()
        name = f"part-{content_key(table, sorted(work_ids))}-{_digest(written)}.parquet"
        self.write_bytes(f"{table}/{name}", written, durable=True)
        return Part(path=f"{table}/{name}", rows=content.num_rows, work_ids=tuple(work_ids))

    def commit(self, table: str, parts: Sequence[Part]) -> None:
        """Make *parts* count from now on."""
        self._log(table).append(parts)

    def forget(self, table: str, work_ids: Sequence[str]) -> None:
        """Let the rows of *work_ids* count no more, until a later commit holds them again."""
        self._log(table).append([Forgotten(tuple(work_ids))])

    def snapshot(self, table: str, *, held_bytes: int = 0) -> Snapshot:
        """
        Return the table as it stands now; a stage that reads more than once takes one.

        With *held_bytes* the parts that were read last stay in memory, up to so many bytes and at least one.
        """
        read_part = HeldParts(self.read_part, held_bytes) if held_bytes else self.read_part
        return Snapshot(table, self._log(table).entries(), read_part)

    def parts(self, table: str) -> list[Part]:
        """Return the committed parts, oldest first; of an absent table none. Some of their rows may be forgotten."""
        return self.snapshot(table).parts

    def commits(self, table: str) -> list[str]:
        """Return the names of a table's commits, the oldest first; of an absent table none."""
        return self._log(table).names()

    def locate(self, table: str) -> Mapping[str, str]:
        """Work id -> path of the part that holds its current rows."""
        return self.snapshot(table).located

    @explained("be read")
    def read_part(self, path: str, *, columns: list[str] | None = None) -> pa.Table:
        """
        Read a part, of *columns* those that it has: one that an older version wrote may lack some.

        What is read is held against checksums: of the whole file, or of its pages if it is large and some columns are
        asked for, so that the others need not be read.

        Raises:
            StorageError: It is missing or damaged.
        """
        try:
            with self._filesystem.open_input_file(self._path(path)) as file:
                if columns is not None and file.size() > _CHECKED_WHOLE:
                    return _table_of(file, columns)
                content = file.read()
            check_name(path, _digest(content))
            return _table_of(pa.BufferReader(content), columns)
        except StorageError:
            raise
        except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
            found = "it is missing" if isinstance(error, FileNotFoundError) else error
            raise damaged(f"{self.url}/{path}", "a Parquet file", found, PUT_BACK) from error

    def read(self, table: str, *, work_ids: Iterable[str] | None = None, columns: list[str] | None = None) -> pa.Table:
        """
        Read a table's rows; if *work_ids* are given, only theirs. An absent table has no rows.

        Memory: the whole answer at once. `batches` streams.
        """
        return self.snapshot(table).read(work_ids=work_ids, columns=columns)

    def batches(
        self, table: str, *, work_ids: Iterable[str] | None = None, columns: list[str] | None = None
    ) -> Iterator[pa.Table]:
        """Yield the same rows as `read`, one part at a time."""
        return self.snapshot(table).batches(work_ids=work_ids, columns=columns)

    # ------------------------------------------------------------ inside

    @cached_property
    def _s3(self) -> Any:
        return open_s3()

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    def _log(self, table: str) -> CommitLog:
        return self._logs.setdefault(table, CommitLog(self, table))


_CHECKED_WHOLE = 2**20
"""Bytes of the largest part that is read whole although some columns suffice."""


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()[:KEY_LENGTH]


def _table_of(file: pa.NativeFile, columns: list[str] | None) -> pa.Table:
    with pq.ParquetFile(file, page_checksum_verification=True) as part:
        there = set(part.schema_arrow.names)
        return part.read(columns=columns and [name for name in columns if name in there])


@contextmanager
def _unfinished(path: str, *, durable: bool) -> Iterator[str]:
    """Give a name to write to, which becomes *path* in the end; nothing is left there if the writer fails."""
    unfinished = f"{path}.{uuid.uuid4().hex}.tmp"  # another writer of the same file has its own
    try:
        yield unfinished
        if durable:
            sync(unfinished)
        Path(unfinished).replace(path)
        if durable:
            sync(Path(path).parent)
    except BaseException:
        Path(unfinished).unlink(missing_ok=True)
        raise


def file_place(url: str) -> tuple[Folder, str]:
    """Return the folder of a file, and its name there, from its path or `s3://` URL."""
    folder, slash, name = url.rpartition("/")
    return Folder(folder or slash or "."), name


def open_location(url: str) -> tuple[pafs.FileSystem, str]:
    """
    Return the file system behind a local path or an `s3://` URL, and the path inside it.

    Raises:
        UsageError: No file system answers to the URL, or it says more than bucket and path.
    """
    if "://" not in url:
        return pafs.LocalFileSystem(), str(Path(url).absolute())
    _check_plain(url)
    # a small file is put in one request; else a multipart upload of 3
    one_put = "?allow_delayed_open=true" if url.startswith("s3://") else ""
    try:  # from_uri, unlike S3FileSystem(...), honours AWS_ENDPOINT_URL
        filesystem, path = pafs.FileSystem.from_uri(f"{url}{one_put}")
    except (ValueError, OSError) as error:
        raise UsageError(f"cannot open {url!r} as a folder: {error}; expected a local path or an s3:// URL") from error
    return filesystem, path.rstrip("/")


def _check_plain(url: str) -> None:
    """Refuse secrets and options: URLs stand in records and messages, and children's are made by adding to them."""
    scheme, _, rest = url.partition("://")
    if "@" in rest.partition("/")[0]:
        expected = f"expected {scheme}://BUCKET/PATH, and keys in the environment"
        raise UsageError(f"a URL of {scheme}:// with a key in it: {expected}")
    if "?" in rest:
        msg = (
            f"{url.partition('?')[0]!r} with options behind a question mark: expected {scheme}://BUCKET/PATH; say the "
            "region by AWS_DEFAULT_REGION and the endpoint by AWS_ENDPOINT_URL"
        )
        raise UsageError(msg)
