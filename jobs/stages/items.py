"""
The work of a stage: its items, and how those that are not done become tasks.

An item says: from the rows of its sources, make the rows of `work_id`. Items already there are left out; the rest are
ordered by the part that holds their first source, so that a worker reads few parts more than once.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial
from itertools import accumulate
from typing import Any, Generic, NamedTuple, TypeVar, overload

from actors.storage.folder import Folder
from longform.errors import UsageError
from longform.keys import in_groups
from longform.rows import TableRow
from longform.schemas import SCHEMAS

Row = dict[str, Any]

WHOLE = ("*",)
"""In the place of a table's columns: all that its rows have, whichever they are."""

Key = TypeVar("Key")
Read = TypeVar("Read")
Member = TypeVar("Member")

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


class RowPlace(NamedTuple):
    """The place of a source's rows."""

    table: str
    work_id: str
    part: str


class Given(NamedTuple, Generic[Key]):
    """An item as a worker gets it."""

    work_id: str
    key: Key
    sources: tuple[RowPlace, ...]


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
    def __getitem__(self, place: slice) -> Made[Member]: ...
    def __getitem__(self, place: int | slice) -> Member | Made[Member]:
        if isinstance(place, slice):
            start, stop, step = place.indices(len(self))
            assert step == 1, "members keep their order"
            firsts = accumulate((len(bases) for _, bases in self._parts), initial=0)
            parts = zip(firsts, self._parts, strict=False)
            return Made(*((make, bases[max(start - at, 0) : max(stop - at, 0)]) for at, (make, bases) in parts))
        left = range(len(self))[place]
        for make, bases in self._parts:
            if left < len(bases):
                return make(bases[left])
            left -= len(bases)
        raise AssertionError("a place of the range above is that of a base")

    def __reduce__(self) -> tuple[type, tuple[list[Member]]]:
        return list, ([*self],)


def placed(
    run: Folder,
    stage: str,
    items: Sequence[Item[Key]],
    *,
    but: Collection[str] = (),
    held: Collection[Source] = (),
) -> Sequence[Given[Key]]:
    """
    Return *items* with the places of their sources, for the *stage* of that name; items of one part stand together.

    Items whose work ids are among *but* are left out. Sources that are *held* by the reader of the rows have no part.

    Raises:
        UsageError: A source is not there, as after a change of configuration that means other rows.
    """
    located = cache(run.locate)
    parts: defaultdict[str, dict[str, str]] = defaultdict(dict)  # by work ids of the plan, which are held anyhow
    missing: defaultdict[str, set[str]] = defaultdict(set)
    by_part: defaultdict[str, array[int]] = defaultdict(partial(array, "I"))
    for number, item in enumerate(items):
        if item.work_id in but:
            continue
        for source in item.sources:
            if (part := located(source.table).get(source.work_id)) is not None and source not in held:
                parts[source.table][source.work_id] = part
            elif source not in held:
                missing[source.table].add(source.work_id)
        first = item.sources[0] if item.sources else None
        by_part[parts[first.table].get(first.work_id, "") if first else ""].append(number)
    for table, work_ids in ((table, missing[table]) for table in [*parts, *missing] if missing[table]):
        raise lacking(run, stage, table, n=len(parts[table]) + len(work_ids), n_lacking=len(work_ids))
    return Made((partial(_given, items, parts), sum(by_part.values(), array("I"))))


def lacking(run: Folder, stage: str, table: str, *, n: int, n_lacking: int) -> UsageError:
    """Return the error of a stage that reads *n* pieces of a table, of which some are not there."""
    return UsageError(
        f"{run.url}: {stage} reads {n} pieces of {table}, {n_lacking} are not there; do the stages before this one "
        "first, with `longform evaluate` or `longform replay`"
    )


def _given(items: Sequence[Item[Key]], parts: Mapping[str, Mapping[str, str]], number: int) -> Given[Key]:
    """Return an item with the parts of its sources; rows that their reader holds are in none."""
    item = items[number]
    places = (RowPlace(*source, parts[source.table].get(source.work_id, "")) for source in item.sources)
    return Given(item.work_id, item.key, tuple(places))


class SourceReader:
    """
    Rows of sources by their places; the last few parts of each table are held.

    *reads* maps a table to the columns that its rows have, or to `WHOLE`. *held* rows stand in place of the run's, by
    their sources.
    """

    def __init__(
        self, run: Folder, reads: Mapping[str, Iterable[str]], held: Mapping[Source, Sequence[TableRow]] | None = None
    ) -> None:
        self._folder, self._instead = run, {} if held is None else held
        self._columns = {
            table: SCHEMAS[table].names if columns is WHOLE else [*dict.fromkeys(["work_id", *columns])]
            for table, columns in reads.items()
        }
        self._held = {table: lru_cache(maxsize=_PARTS_HELD)(self._read) for table in reads}

    def rows(self, place: RowPlace, _of: type[Read]) -> list[Read]:
        """Return the rows of a source in their order, as the type of its table's rows; none if it made none."""
        found: list[Any] | None = self._instead_of(Source(place.table, place.work_id))
        if found is None:
            found = self._held[place.table](place.table, place.part).get(place.work_id, [])
        return found

    def row(self, place: RowPlace, of: type[Read]) -> Read:
        """Return the only row of a source."""
        (row,) = self.rows(place, of)
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
