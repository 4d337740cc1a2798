"""
Tables of a folder: parts, the commits that make them count, checkpoints of commits, and snapshots.

A table is a folder of parts. A part counts once a commit names it: writers put parts first and the commit last, so that
a writer killed at any moment leaves whole rows or none. A part of a run holds whole work ids. If two commits hold one
work id, the later commit wins.

    TABLE/part-<hash>.parquet                    the hash is of its work ids and content
    TABLE/_commits/<number>-<hash>.json          {"parts": [{"path", "rows", "work_ids"}], "forgotten": [work ids]}
    TABLE/_checkpoints/<from>-<to>-<hash>.parquet    the entries of the commits from <from> to before <to>, in order
"""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from actors.storage.errors import damaged
from actors.storage.json_files import check_name, of_bytes
from longform.errors import UsageError
from longform.keys import content_key
from longform.schemas import SCHEMAS

SPAN = 32
"""Commits a checkpoint sums, and checkpoints that a checkpoint of the next level sums."""

_COMMITS, _CHECKPOINTS = "_commits", "_checkpoints"
_COMMIT = (
    "put it back from a copy; in a run you may also delete it: the same command makes its rows anew, and finished "
    "calls are in the ledger and not paid again"
)
_CHECKPOINT = "delete this file: the commits that it sums are all there, and the same command goes on"
_DIGITS = 6  # of a commit's number in its name; names sort as numbers do
_SUMMED = pa.schema([("path", pa.string()), ("rows", pa.int64()), ("work_ids", pa.list_(pa.string()))])

ReadPart = Callable[..., pa.Table]
"""Path of a part, `columns=` -> its content."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """One Parquet file of a table, and the work ids whose rows it holds."""

    path: str
    rows: int
    work_ids: tuple[str, ...] = ()


@dataclass(frozen=True)
class Forgotten:
    """Work ids whose rows count no more, until a later part holds them again."""

    work_ids: tuple[str, ...]


Entry = Part | Forgotten
"""One line of a commit."""


class Files(Protocol):
    """The files of a folder, as a log of commits needs them."""

    url: str

    def names(self, within: str = "", *, after: str = "") -> list[str]: ...

    def read_bytes(self, name: str) -> bytes: ...

    def write_bytes(self, name: str, content: bytes) -> None: ...

    def write_json(self, name: str, content: Mapping[str, object]) -> None: ...


class CommitLog:
    """
    The commits of one table.

    A commit is a small file that is never changed. A commit's number is one more than the highest there is; two
    commands that commit at once may take the same number, and then the hashes order their commits.

    A checkpoint sums the commits of 32 numbers, a checkpoint of the next level those of 1,024, and so on. Its name has
    a hash of the names of its commits, and a reader uses it for exactly these commits. So a checkpoint never hides a
    commit, a missing one costs time alone, and two writers write the same file.
    """

    def __init__(self, files: Files, table: str) -> None:
        self._files, self._table = files, table
        self._last = ""  # name of the last commit seen

    def append(self, entries: Iterable[Entry]) -> None:
        """
        Add a commit; writes the checkpoints that are due with it.

        Raises:
            UsageError: The table has as many commits as it may have.
        """
        body = _as_json(list(entries))
        number = self._next_number()
        name = f"{number:0{_DIGITS}d}-{content_key(body)}.json"
        self._files.write_json(f"{self._table}/{_COMMITS}/{name}", body)
        self._last = name
        if (number + 1) % SPAN == 0:
            self._add_checkpoints(number + 1)

    def entries(self) -> Iterator[Entry]:
        """Give the entries of all commits, the oldest first."""
        names = self.names()
        held = self._checkpoint_names(names)
        return chain.from_iterable(map(self._read, _fewest(names, _levels(names), held)))

    def _next_number(self) -> int:
        found = self.names(after=self._last)
        self._last = found[-1] if found else self._last
        number = _number(self._last) + 1 if self._last else 0
        if number >= 10**_DIGITS:
            raise UsageError(
                f"{self._files.url}/{self._table}: expected at most {10**_DIGITS:,} commits of a table, and there are "
                "as many; go on in a new folder"
            )
        return number

    def names(self, *, after: str = "") -> list[str]:
        """Return the names of the commits, the oldest first; those after the one named *after*."""
        names = self._files.names(f"{self._table}/{_COMMITS}", after=after)
        return [name for name in names if name.endswith(".json")]

    def _checkpoint_names(self, commits: Sequence[str]) -> set[str]:
        return set(self._files.names(f"{self._table}/{_CHECKPOINTS}")) if _levels(commits) else set()

    def _add_checkpoints(self, end: int) -> None:
        """Write the checkpoints of the numbers before *end*, with those that a killed writer left out."""
        names = [name for name in self.names() if _number(name) < end]
        held = self._checkpoint_names(names)
        for level in range(1, _levels(names) + 1):
            for first, group in _spans(names, level):
                name = _checkpoint_name(first, level, group)
                if first + SPAN**level <= end and name not in held:
                    entries = chain.from_iterable(map(self._read, _fewest(group, level - 1, held)))
                    self._files.write_bytes(f"{self._table}/{_CHECKPOINTS}/{name}", _as_parquet(entries))
                    held.add(name)

    def _read(self, name: str) -> Iterator[Entry]:
        """Give the entries of a commit or of a checkpoint."""
        is_commit = name.endswith(".json")
        path = f"{self._table}/{_COMMITS if is_commit else _CHECKPOINTS}/{name}"
        content = self._files.read_bytes(path)
        try:
            return _of_commit(name, content) if is_commit else _of_checkpoint(content)
        except (pa.ArrowException, OSError, ValueError, TypeError, MemoryError) as error:
            told = ("a commit", error, _COMMIT) if is_commit else ("a checkpoint of commits", error, _CHECKPOINT)
            raise damaged(f"{self._files.url}/{path}", *told) from error


def _as_json(entries: Sequence[Entry]) -> dict[str, object]:
    parts = [vars(entry) for entry in entries if isinstance(entry, Part)]
    forgotten = [work_id for entry in entries if isinstance(entry, Forgotten) for work_id in entry.work_ids]
    return {"parts": parts, "forgotten": forgotten} if forgotten else {"parts": parts}


def _of_commit(name: str, content: bytes) -> Iterator[Entry]:
    body = of_bytes(content, needs=["parts"])
    check_name(name, content_key(body))
    parts = (Part(path=part["path"], rows=part["rows"], work_ids=tuple(part["work_ids"])) for part in body["parts"])
    forgotten = body.get("forgotten", [])
    return chain(parts, [Forgotten(tuple(forgotten))] if forgotten else [])


def _as_parquet(entries: Iterable[Entry]) -> bytes:
    rows = [{"path": None, "rows": 0} | vars(entry) for entry in entries]
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, _SUMMED), sink, compression="zstd", write_page_checksum=True)
    return sink.getvalue()


def _of_checkpoint(content: bytes) -> Iterator[Entry]:
    table = pq.ParquetFile(io.BytesIO(content), page_checksum_verification=True).read()  # read_table would load 30 MB
    columns = (table[name].to_pylist() for name in _SUMMED.names)
    return (
        Forgotten(tuple(work_ids)) if path is None else Part(path=path, rows=rows, work_ids=tuple(work_ids))
        for path, rows, work_ids in zip(*columns, strict=True)
    )


def _number(name: str) -> int:
    return int(name.partition("-")[0])


def _levels(names: Sequence[str]) -> int:
    """Return the highest level of which a checkpoint can be full."""
    end, level = (_number(names[-1]) + 1 if names else 0), 0
    while SPAN ** (level + 1) <= end:
        level += 1
    return level


def _spans(names: Sequence[str], level: int) -> Iterator[tuple[int, list[str]]]:
    """Give the first number of each checkpoint of *level*, and the names of its commits."""
    span: int = SPAN**level
    for number, group in groupby(names, key=lambda name: _number(name) // span):
        yield number * span, list(group)


def _checkpoint_name(first: int, level: int, commits: Sequence[str]) -> str:
    return f"{first:0{_DIGITS}d}-{first + SPAN**level:0{_DIGITS}d}-{content_key(list(commits))}.parquet"


def _fewest(commits: Sequence[str], level: int, held: Collection[str]) -> Iterator[str]:
    """Give the names of the fewest files that hold *commits*: commits, and checkpoints up to *level* among *held*."""
    if level == 0:
        yield from commits
        return
    for first, group in _spans(commits, level):
        name = _checkpoint_name(first, level, group)
        if name in held:
            yield name
        else:
            yield from _fewest(group, level - 1, held)


# ---------------------------------------------------------------- snapshots


class HeldParts:
    """Reads parts, and holds those read last, of *most_bytes* in all; the very last one is held in any case."""

    def __init__(self, read_part: ReadPart, most_bytes: int) -> None:
        self._read_part, self._most = read_part, most_bytes
        self._held: dict[tuple[str, tuple[str, ...]], pa.Table] = {}  # the one used last is the last one
        self._bytes = 0

    def __call__(self, path: str, *, columns: list[str] | None = None) -> pa.Table:
        key = (path, tuple(columns or ()))
        if (content := self._held.pop(key, None)) is None:
            content = self._read_part(path, columns=columns)
            self._bytes += content.nbytes
        self._held[key] = content
        while self._bytes > self._most and len(self._held) > 1:
            self._bytes -= self._held.pop(next(iter(self._held))).nbytes
        return content


class Snapshot:
    """
    The rows that counted when it was taken; what others commit later changes nothing in it.

    Take one a stage and read from it as often as you like: the log of commits is read once, and a read costs what the
    parts with the wanted rows cost.

    *entries* are those of the commits of *table*, the oldest first.
    """

    def __init__(self, table: str, entries: Iterable[Entry], read_part: ReadPart) -> None:
        self._table, self._read_part = table, read_part
        self._parts: dict[str, Part] = {}
        located: dict[str, str] = {}
        for entry in entries:
            if isinstance(entry, Forgotten):
                for work_id in entry.work_ids:
                    located.pop(work_id, None)
                continue
            self._parts.pop(entry.path, None)
            self._parts[entry.path] = entry
            located.update(dict.fromkeys(entry.work_ids, entry.path))
        self._place = {path: place for place, path in enumerate(self._parts)}
        self.located: Mapping[str, str] = located
        """Work id -> path of the part that holds its rows."""

    @property
    def parts(self) -> list[Part]:
        """Return the committed parts, oldest first. Some of their rows may be forgotten, or stand in a later part."""
        return list(self._parts.values())

    def read(self, *, work_ids: Iterable[str] | None = None, columns: list[str] | None = None) -> pa.Table:
        """
        Return the rows; with *work_ids* only theirs.

        Memory: the whole answer at once. `batches` streams.
        """
        schema = SCHEMAS[self._table]
        found = list(self.batches(work_ids=work_ids, columns=columns))
        empty = pa.schema([schema.field(name) for name in columns]) if columns else schema
        return pa.concat_tables(found) if found else empty.empty_table()

    def batches(self, *, work_ids: Iterable[str] | None = None, columns: list[str] | None = None) -> Iterator[pa.Table]:
        """Give the same rows as `read`, one part at a time."""
        wanted: dict[str, set[str]] = {}
        for work_id in self.located if work_ids is None else work_ids:
            if (path := self.located.get(work_id)) is not None:
                wanted.setdefault(path, set()).add(work_id)
        for path in sorted(wanted, key=self._place.__getitem__):
            yield self._rows(self._parts[path], wanted[path], columns)

    def _rows(self, part: Part, keep: Collection[str], columns: list[str] | None) -> pa.Table:
        """Return the rows of *part* that belong to the work ids *keep*."""
        schema = SCHEMAS[self._table]
        content = _whole(
            self._read_part(part.path, columns=columns and _with_work_id(schema, columns)), schema, columns
        )
        if "work_id" in schema.names and keep != set(part.work_ids):
            content = content.filter(pc.is_in(content["work_id"], pa.array(sorted(keep))))
        return content.select(columns) if columns else content


def _whole(content: pa.Table, schema: pa.Schema, columns: list[str] | None) -> pa.Table:
    """Return *content* with the columns that a part written before they were thought of lacks, all null."""
    for name in columns or schema.names:
        if name not in content.column_names:
            content = content.append_column(schema.field(name), pa.nulls(len(content), schema.field(name).type))
    return content if columns else content.select(schema.names)


def _with_work_id(schema: pa.Schema, columns: list[str]) -> list[str]:
    return columns if "work_id" in columns or "work_id" not in schema.names else [*columns, "work_id"]
