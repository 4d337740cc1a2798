"""
Parcels, which a stream carries: of one query, what is wanted, where it stands, and the rows made so far.

Between processes a parcel is a row of an Arrow table. Rows of the run's tables travel in columns of their names, typed
as the tables are; texts of documents stay in the benchmark, and settings with the workers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, get_args

import pyarrow as pa
from pydantic import TypeAdapter

from jobs.stages.items import Item, Source
from jobs.stages.stage import Plan, Stage
from longform.rows import TableRow
from longform.schemas import SCHEMAS

CARRIED = ("rankings", "contexts", "summaries", "units", "verdicts")  # tables whose rows stages read, and parcels carry

_TEXT = pa.string()
_SOURCE = {"table": _TEXT, "work_id": _TEXT}
# a key is JSON: each stage has keys of its own
_WANTED = pa.struct({"stage": _TEXT, "work_id": _TEXT, "key": _TEXT, "sources": pa.list_(pa.struct(_SOURCE))})
_PARTS = pa.struct({**_SOURCE, "part": _TEXT})


@dataclass
class Parcel:
    """A query on its way."""

    query_id: str
    wanted: dict[str, list[Item[Any]]]  # stage -> what is not made yet
    parts: dict[Source, str]  # the place of rows that stand in the run
    made: dict[Source, list[TableRow]] = field(default_factory=dict)  # in this stream

    def given(self, stage: str) -> list[Item[Any]]:
        """Return the items of a stage whose sources are there."""
        items = self.wanted.get(stage, [])
        return [item for item in items if all(one in self.parts or one in self.made for one in item.sources)]


def parcels_of(
    stages: Sequence[Stage[Any]],
    plan: Plan,
    located: Mapping[str, Mapping[str, str]],  # table -> work id -> part
    query_of: Mapping[str, str],  # work id -> query
) -> list[Parcel]:
    """Return a parcel for each query of which *stages* have something to make, in the order of the first stage."""
    found: dict[str, Parcel] = {}
    for stage in stages:
        for item in plan.items(stage):
            if item.work_id not in located[stage.table]:
                query_id = query_of[item.work_id]
                parcel = found.setdefault(query_id, Parcel(query_id, {}, {}))
                parcel.wanted.setdefault(stage.name, []).append(item)
                for source in item.sources:
                    if (part := located[source.table].get(source.work_id)) is not None:
                        parcel.parts[source] = part
    return list(found.values())


def queries_of(of_stages: Iterable[Iterable[Item[Any]]]) -> dict[str, str]:
    """Map the work id of each item, of stages in their order, to its query: its key names it, or its first source."""
    found: dict[str, str] = {}
    for items in of_stages:
        for item in items:
            named: str | None = getattr(item.key, "query_id", None)
            found[item.work_id] = found[item.sources[0].work_id] if named is None else named
    return found


@cache
def _keys(stage: type[Stage[Any]]) -> TypeAdapter[Any]:
    """Return what reads and writes the keys of a class of stages, whose type its nearest generic base names."""
    bases = (base for one in stage.__mro__ for base in getattr(one, "__orig_bases__", ()))
    named = (of for base in bases for of in get_args(base) if isinstance(of, type))
    return TypeAdapter(next(named))


def to_arrow(parcels: Sequence[Parcel], stages: Iterable[Stage[Any]], reads: Mapping[str, Collection[str]]) -> pa.Table:
    """Return *parcels* as a table, for *stages* that read no more of the run's tables than the columns *reads*."""
    ahead = {stage.name: _keys(type(stage)) for stage in stages}
    columns: dict[str, pa.Array] = {
        "query_id": pa.array([one.query_id for one in parcels], _TEXT),
        "wanted": pa.array([[*_wanted(one, ahead)] for one in parcels], pa.list_(_WANTED)),
        "parts": pa.array(
            [[{**source._asdict(), "part": part} for source, part in one.parts.items()] for one in parcels],
            pa.list_(_PARTS),
        ),
        "made": pa.array([[of._asdict() for of in one.made] for one in parcels], pa.list_(pa.struct(_SOURCE))),
    }
    for table, names in reads.items():
        rows = [[row for source, rows in one.made.items() if source.table == table for row in rows] for one in parcels]
        columns[table] = pa.array(rows, pa.list_(_row_type(table, names)))
    return pa.table(columns)


def _wanted(parcel: Parcel, ahead: Mapping[str, TypeAdapter[Any]]) -> Iterable[dict[str, Any]]:
    for stage, keys in ahead.items():
        for item in parcel.wanted.get(stage, []):
            key = keys.dump_json(item.key).decode()
            sources = [source._asdict() for source in item.sources]
            yield {"stage": stage, "work_id": item.work_id, "key": key, "sources": sources}


def _row_type(table: str, names: Collection[str]) -> pa.DataType:
    wanted = {"work_id", *names}
    return pa.struct([one for one in SCHEMAS[table] if one.name in wanted])


def of_arrow(block: pa.Table, stages: Iterable[Stage[Any]]) -> list[Parcel]:
    """Return the parcels of a table that `to_arrow` made for *stages* and others."""
    keys = {stage.name: _keys(type(stage)) for stage in stages}
    tables = [name for name in block.column_names if name in SCHEMAS]
    return [_parcel(row, keys, tables) for row in block.to_pylist()]


def _parcel(row: Mapping[str, Any], keys: Mapping[str, TypeAdapter[Any]], tables: Iterable[str]) -> Parcel:
    wanted: defaultdict[str, list[Item[Any]]] = defaultdict(list)
    for one in row["wanted"]:
        key = keys[one["stage"]].validate_json(one["key"])
        sources = tuple(Source(**source) for source in one["sources"])
        wanted[one["stage"]].append(Item(one["work_id"], key, sources))
    parts = {Source(one["table"], one["work_id"]): one["part"] for one in row["parts"]}
    made: dict[Source, list[TableRow]] = {Source(**one): [] for one in row["made"]}
    for table in tables:
        for made_row in row[table]:
            made[Source(table, made_row["work_id"])].append(made_row)
    return Parcel(row["query_id"], dict(wanted), parts, made)
