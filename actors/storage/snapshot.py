"""A table as its commits stood at one moment."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from longform.tables import SCHEMAS

ReadPart = Callable[..., pa.Table]
"""Path of a part, `columns=` -> its content."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """One Parquet file of a table, and the work ids whose rows it holds."""

    path: str
    rows: int
    work_ids: tuple[str, ...] = field(default=())


Commit = tuple[Sequence[Part], Sequence[str]]
"""The parts that a commit adds, and the work ids that it forgets."""


class Snapshot:
    """
    The rows that counted when it was taken; what others commit later changes nothing in it.

    Take one a stage and read from it as often as you like: the log of commits is read once, and a read costs what the
    parts with the wanted rows cost.

    Args:
        table: Its name.
        commits: The oldest first.
        read_part: Reads one part.
    """

    def __init__(self, table: str, commits: Iterable[Commit], read_part: ReadPart) -> None:
        self._table, self._read_part = table, read_part
        self._parts: dict[str, Part] = {}
        located: dict[str, str] = {}
        for parts, forgotten in commits:
            for part in parts:
                self._parts.pop(part.path, None)
                self._parts[part.path] = part
                located.update(dict.fromkeys(part.work_ids, part.path))
            for work_id in forgotten:
                located.pop(work_id, None)
        self._place = {path: place for place, path in enumerate(self._parts)}
        self.located: Mapping[str, str] = located
        """Work id -> path of the part that holds its rows."""

    @property
    def parts(self) -> list[Part]:
        """The committed parts, oldest first. Some of their rows may be forgotten, or stand in a later part."""
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
    """*content* with the columns that a part written before they were thought of lacks, all null."""
    for name in columns or schema.names:
        if name not in content.column_names:
            content = content.append_column(schema.field(name), pa.nulls(len(content), schema.field(name).type))
    return content if columns else content.select(schema.names)


def _with_work_id(schema: pa.Schema, columns: list[str]) -> list[str]:
    return columns if "work_id" in columns or "work_id" not in schema.names else [*columns, "work_id"]
