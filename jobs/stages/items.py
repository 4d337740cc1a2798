"""
The work of a stage: its items, and how those that are not done become tasks.

An item says: from the rows of its sources, make the rows of `work_id`. Items already there are left out; the rest are
ordered by the part that holds their first source, so that a worker reads few parts more than once.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain
from typing import Any, Generic, NamedTuple, TypeVar, overload

from actors.storage.folder import Folder
from longform.errors import UsageError
from longform.keys import in_groups
from longform.rows import TableRow
from longform.schemas import SCHEMAS

Row = dict[str, Any]
Payload = TypeVar("Payload")
Rows = Iterable[TableRow]
Worker = Callable[[Payload], Rows | Awaitable[Rows]]
"""Makes rows of a stage's table of what it is given, or an awaitable of them."""

WHOLE = ("*",)
"""In the place of a table's columns: all that its rows have, whichever they are."""

Key = TypeVar("Key")
Read = TypeVar("Read")
Member = TypeVar("Member")

Locate = Callable[[str], Mapping[str, str]]
"""Table -> the parts of its rows, by work id."""

_PARTS_HELD = 4


class Source(NamedTuple):
    """Rows of a run that an item is made from."""

    table: str
    work_id: str


class Item(NamedTuple, Generic[Key]):
    """Rows that a run wants."""

    work_id: str
    key: Key  # what the rows are about, by the names of a configuration; it pickles, and is small
    sources: tuple[Source, ...] = ()  # what they are made from, in the order that the stage's worker expects


class Made(Sequence[Member]):
    """
    A sequence whose members are made when they are asked for, each from its base: a large plan holds the bases alone.

    Bases are given in their order, each sequence of them with what makes a member of one.
    """

    def __init__(self, *parts: tuple[Callable[[Any], Member], Sequence[Any]]) -> None:
        self._parts = parts

    def __len__(self) -> int:
        return sum(len(bases) for _, bases in self._parts)

    def __iter__(self) -> Iterator[Member]:
        return (make(base) for make, bases in self._parts for base in bases)

    @overload
    def __getitem__(self, place: int) -> Member: ...
    @overload
    def __getitem__(self, place: slice) -> list[Member]: ...
    def __getitem__(self, place: int | slice) -> Member | list[Member]:
        if isinstance(place, slice):
            return [self[at] for at in range(len(self))[place]]
        left = range(len(self))[place]
        for make, bases in self._parts:
            if left < len(bases):
                return make(bases[left])
            left -= len(bases)
        raise AssertionError("a place of the range above is that of a base")


def ready(
    run: Folder, stage: str, items: Iterable[Item[Key]], *, but: Collection[str] = (), held: Collection[Source] = ()
) -> list[Item[Key]]:
    """
    Return *items* whose sources the *stage* of that name can read; those of one part stand together.

    Items whose work ids are among *but* are left out. Sources that are *held* by the reader of the rows need no part.

    Raises:
        UsageError: A source is not there, as after a change of configuration that means other rows.
    """
    located = cache(run.locate)
    left = [item for item in items if item.work_id not in but]
    read = dict.fromkeys(source for item in left for source in item.sources if source not in held)
    parts = {one: part for one in read if (part := located(one.table).get(one.work_id)) is not None}
    check_there(run, stage, read, parts)
    by_part = in_groups((parts.get(item.sources[0], "") if item.sources else "", item) for item in left)
    return [*chain.from_iterable(by_part.values())]


def check_there(run: Folder, stage: str, read: Iterable[Source], there: Collection[Source]) -> None:
    """
    Make sure that all is *there* that the *stage* of that name reads.

    Raises:
        UsageError: Some is not, as after a change of configuration that means other rows.
    """
    for table, of_table in in_groups((one.table, one) for one in read).items():
        if n := sum(one not in there for one in of_table):
            raise UsageError(
                f"{run.url}: {stage} reads {len(of_table)} pieces of {table}, {n} are not there; do the stages before "
                "this one first, with `longform evaluate` or `longform replay`"
            )


class SourceReader:
    """
    Rows of sources; the last few parts of each table are held.

    *reads* maps a table to the columns that its rows have, or to `WHOLE`. *held* rows stand in place of the run's, by
    their sources. *locate* gives the parts of a table by work id; None: those that the run has when it is first asked.
    """

    def __init__(
        self,
        run: Folder,
        reads: Mapping[str, Iterable[str]],
        held: Mapping[Source, Sequence[TableRow]] | None = None,
        locate: Locate | None = None,
    ) -> None:
        self._folder, self._instead, self._located = run, {} if held is None else held, locate or cache(run.locate)
        self._columns = {
            table: SCHEMAS[table].names if columns is WHOLE else [*dict.fromkeys(["work_id", *columns])]
            for table, columns in reads.items()
        }
        self._held = {table: lru_cache(maxsize=_PARTS_HELD)(self._read) for table in reads}

    def rows(self, source: Source, _of: type[Read]) -> list[Read]:
        """Return the rows of a source in their order, as the type of its table's rows; none if it made none."""
        table, work_id = source
        found: list[Any] | None = self._instead_of(source)
        if found is None:
            found = self._held[table](table, self._located(table)[work_id]).get(work_id, [])
        return found

    def row(self, source: Source, of: type[Read]) -> Read:
        """Return the only row of a source."""
        (row,) = self.rows(source, of)
        return row

    def _instead_of(self, source: Source) -> list[Any] | None:
        if (rows := self._instead.get(source)) is None:
            return None
        return [{**dict.fromkeys(self._columns[source.table]), **row} for row in rows]

    def _read(self, table: str, path: str) -> dict[str, list[Any]]:
        content = self._folder.read_part(path, columns=self._columns[table])
        # a part written before a column was thought of lacks it
        lacking = dict.fromkeys(name for name in self._columns[table] if name not in content.column_names)
        return in_groups((row["work_id"], row | lacking if lacking else row) for row in content.to_pylist())
