"""
The work of a stage: its items, and how those that are not done become tasks.

An item says: from the rows of its sources, make the rows of `work_id`. Items already there are left out; the rest are
ordered by the part that holds their first source, so that a worker reads few parts more than once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Generic, NamedTuple, TypeVar

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

_PARTS_HELD = 4


class Source(NamedTuple):
    """Rows of a run that an item is made from."""

    table: str
    work_id: str


class Item(NamedTuple, Generic[Key]):
    """
    Rows that a run wants.

    Attributes:
        work_id: Of the rows.
        key: What they are about, by the names of a configuration; it pickles, and is small.
        sources: What they are made from, in the order that the stage's worker expects.
    """

    work_id: str
    key: Key
    sources: tuple[Source, ...] = ()


class Place(NamedTuple):
    """The place of a source's rows."""

    table: str
    work_id: str
    part: str


class Given(NamedTuple, Generic[Key]):
    """An item as a worker gets it."""

    work_id: str
    key: Key
    sources: tuple[Place, ...]


def to_do(run: Folder, stage: str, table: str, items: Sequence[Item[Key]]) -> list[Given[Key]]:
    """
    Return those of *items* whose work ids *table* does not hold yet; items of one part stand together.

    Raises:
        UsageError: A source is not there, as after a change of configuration that means other rows.
    """
    done = run.locate(table)
    return placed(run, stage, [item for item in items if item.work_id not in done], known={table: done})


def placed(
    run: Folder,
    stage: str,
    items: Sequence[Item[Key]],
    *,
    known: Mapping[str, Mapping[str, str]] | None = None,
    held: Collection[Source] = (),
) -> list[Given[Key]]:
    """
    Return *items* with the places of their sources; items of one part stand together.

    Args:
        run: The folder with the tables.
        stage: The name of the stage that reads them.
        items: Of the stage.
        known: Tables that are located already, as work id -> part; None: none is.
        held: Sources that the reader of the rows holds; they have no part.

    Raises:
        UsageError: A source is not there, as after a change of configuration that means other rows.
    """
    wanted = dict.fromkeys(source for item in items for source in item.sources if source not in held)
    tables = dict.fromkeys(source.table for source in wanted)
    located = {name: known[name] if known and name in known else run.locate(name) for name in tables}
    _check_there(run, stage, wanted, located)
    place_of = {source: Place(*source, located[source.table][source.work_id]) for source in wanted}
    by_part: dict[str, list[Given[Key]]] = {}
    for item in items:
        places = tuple(Place(*source, "") if source in held else place_of[source] for source in item.sources)
        by_part.setdefault(places[0].part if places else "", []).append(Given(item.work_id, item.key, places))
    return [given for members in by_part.values() for given in members]


def _check_there(
    run: Folder, stage: str, sources: Collection[Source], located: Mapping[str, Mapping[str, str]]
) -> None:
    for table, parts in located.items():
        wanted = [source.work_id for source in sources if source.table == table]
        if missing := [work_id for work_id in wanted if work_id not in parts]:
            raise UsageError(
                f"{run.url}: {stage} reads {len(wanted)} pieces of {table}, {len(missing)} are not there; do the "
                "stages before this one first, with `longform evaluate` or `longform replay`"
            )


class SourceReader:
    """
    Rows of sources by their places; the last few parts of each table are held.

    Args:
        run: The folder with the tables.
        reads: Table -> the columns of it that rows have, or `WHOLE`.
        held: Rows that stand in place of the run's, by their sources.
    """

    def __init__(
        self, run: Folder, reads: Mapping[str, Iterable[str]], held: Mapping[Source, Sequence[TableRow]] | None = None
    ) -> None:
        self._folder, self._instead = run, held or {}
        self._columns = {
            table: SCHEMAS[table].names if columns is WHOLE else [*dict.fromkeys(["work_id", *columns])]
            for table, columns in reads.items()
        }
        self._held = {table: lru_cache(maxsize=_PARTS_HELD)(self._read) for table in reads}

    def rows(self, place: Place, _of: type[Read]) -> list[Read]:
        """Return the rows of a source in their order, as the type of its table's rows; none if it made none."""
        found: list[Any] | None = self._instead_of(Source(place.table, place.work_id))
        if found is None:
            found = self._held[place.table](place.table, place.part).get(place.work_id, [])
        return found

    def row(self, place: Place, of: type[Read]) -> Read:
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
        return in_groups((row["work_id"], row | lacking) for row in content.to_pylist())
