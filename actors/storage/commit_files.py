"""The entries of commits, as JSON in a commit and as Parquet in a checkpoint."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple, NotRequired, TypedDict

import pyarrow as pa
import pyarrow.parquet as pq

_CHECKPOINT = pa.schema([("path", pa.string()), ("rows", pa.int64()), ("work_ids", pa.list_(pa.string()))])


@dataclass(frozen=True, kw_only=True)
class Part:
    """One Parquet file of a table, and the work ids whose rows it holds."""

    path: str
    rows: int
    work_ids: tuple[str, ...] = field(default=())


class Forgotten(NamedTuple):
    """Work ids whose rows count no more, until a later part holds them again."""

    work_ids: tuple[str, ...]


Entry = Part | Forgotten
"""One line of a commit."""


class StoredPart(TypedDict):
    """A part in JSON."""

    path: str
    rows: int
    work_ids: Sequence[str]


class CommitFile(TypedDict):
    """A commit in JSON."""

    parts: list[StoredPart]
    forgotten: NotRequired[list[str]]


def as_json(entries: Sequence[Entry]) -> CommitFile:
    parts: list[StoredPart] = [
        {"path": entry.path, "rows": entry.rows, "work_ids": entry.work_ids}
        for entry in entries
        if isinstance(entry, Part)
    ]
    forgotten = [work_id for entry in entries if isinstance(entry, Forgotten) for work_id in entry.work_ids]
    return {"parts": parts, "forgotten": forgotten} if forgotten else {"parts": parts}


def of_json(body: CommitFile) -> Iterator[Entry]:
    parts = (Part(path=part["path"], rows=part["rows"], work_ids=tuple(part["work_ids"])) for part in body["parts"])
    forgotten = body.get("forgotten", [])
    return chain(parts, [Forgotten(tuple(forgotten))] if forgotten else [])


def as_parquet(entries: Iterable[Entry]) -> bytes:
    rows = [
        {"path": entry.path, "rows": entry.rows, "work_ids": entry.work_ids}
        if isinstance(entry, Part)
        else {"path": None, "rows": 0, "work_ids": entry.work_ids}
        for entry in entries
    ]
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, _CHECKPOINT), sink, compression="zstd", write_page_checksum=True)
    return sink.getvalue()


def of_parquet(content: bytes) -> Iterator[Entry]:
    table = pq.ParquetFile(io.BytesIO(content), page_checksum_verification=True).read()  # read_table would load 30 MB
    columns = (table[name].to_pylist() for name in _CHECKPOINT.names)
    return (
        Forgotten(tuple(work_ids)) if path is None else Part(path=path, rows=rows, work_ids=tuple(work_ids))
        for path, rows, work_ids in zip(*columns, strict=True)
    )
