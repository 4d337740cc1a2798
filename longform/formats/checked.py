"""Checks the rows that a reader hands over: their types, that ids stand once, and that what they refer to is there."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import pyarrow as pa

from longform.errors import InputError
from longform.formats.rows import HaystackRows
from longform.records import TARGET_KINDS, Document, Qrel, Query, Target
from longform.tables import LABELS, RANKINGS, SUMMARIES, conform

Row = TypeVar("Row", Document, Query, Target, Qrel)

_KINDS: dict[type, str] = {str: "a string", int: "a whole number", NoneType: "nothing"}
_SHOWN_CHARACTERS = 60


class Checks:
    """
    Checks haystack by haystack, row by row as they are asked for.

    Args:
        reader: The name of what reads, for errors.
    """

    def __init__(self, reader: str) -> None:
        self._reader = reader
        self._queries: set[str] = set()
        self._targets: set[str] = set()
        self._documents: set[str] = set()

    def checked(self, haystack: object) -> HaystackRows:
        """
        Return the same haystack; its rows are checked when they are read.

        Raises:
            InputError: Something is no HaystackRows, or, as it is read, a row is not what its table takes.
        """
        if not isinstance(haystack, HaystackRows):
            raise self._error("what it yields", "(value)", "longform.formats.rows.HaystackRows", _shown(haystack))
        name = haystack.haystack_id
        place = f"haystack {name!r}"
        return haystack._replace(
            documents=self._in_order(self._rows(haystack.documents, Document, place), place),
            queries=self._new(self._rows(haystack.queries, Query, place), "query_id", self._queries, name),
            targets=self._of_queries(self._rows(haystack.targets, Target, place), name),
            qrels=self._judgements(self._rows(haystack.qrels, Qrel, place)),
            rankings=self._dicts(haystack.rankings, "rankings", RANKINGS, place),
            summaries=self._dicts(haystack.summaries, "summaries", SUMMARIES, place),
            labels=self._dicts(haystack.labels, "labels", LABELS, place),
        )

    def _rows(self, rows: Iterable[Any], kind: type[Row], haystack: str) -> Iterator[tuple[Row, str]]:
        hints = get_type_hints(kind)
        for number, row in enumerate(rows):
            place = f"{haystack}, {kind.__name__} {number}"
            if not isinstance(row, kind):
                raise self._error(place, "(row)", f"longform.records.{kind.__name__}", _shown(row))
            for field, hint in hints.items():
                if not _fits(getattr(row, field), hint):
                    raise self._error(place, field, _told(hint), _shown(getattr(row, field)))
            yield row, place

    def _in_order(self, rows: Iterator[tuple[Document, str]], haystack: str) -> Iterator[Document]:
        for index, (document, place) in enumerate(rows):
            if document.doc_index != index:
                raise self._error(place, "doc_index", f"its place, {index}", _shown(document.doc_index))
            self._once(place, "doc_id", document.doc_id, self._documents)
            self._in(place, document.haystack_id, haystack)
            yield document

    def _new(self, rows: Iterator[tuple[Any, str]], field: str, seen: set[str], haystack_id: str) -> Iterator[Any]:
        for row, place in rows:
            self._once(place, field, getattr(row, field), seen)
            self._in(place, row.haystack_id, f"haystack {haystack_id!r}")
            yield row

    def _of_queries(self, rows: Iterator[tuple[Target, str]], haystack_id: str) -> Iterator[Target]:
        placed = list(rows)
        for target, place in placed:
            self._known(place, "query_id", target.query_id, self._queries)
            if target.kind not in TARGET_KINDS:
                raise self._error(place, "kind", f"one of {', '.join(TARGET_KINDS)}", _shown(target.kind))
        yield from self._new(iter(placed), "target_id", self._targets, haystack_id)

    def _judgements(self, rows: Iterator[tuple[Qrel, str]]) -> Iterator[Qrel]:
        for qrel, place in rows:
            self._known(place, "query_id", qrel.query_id, self._queries)
            self._known(place, "doc_id", qrel.doc_id, self._documents)
            if qrel.target_id is not None:
                self._known(place, "target_id", qrel.target_id, self._targets)
            yield qrel

    def _dicts(self, rows: Iterable[Any], table: str, schema: pa.Schema, haystack: str) -> Iterator[dict[str, Any]]:
        for number, row in enumerate(rows):
            try:
                conform([row], schema)
            except (ValueError, TypeError, AttributeError, pa.ArrowException) as error:
                expected = f"a row of the table {table} (longform/tables.py)"
                raise self._error(f"{haystack}, {table} {number}", "(row)", expected, str(error)) from error
            yield row

    def _once(self, place: str, field: str, value: str, seen: set[str]) -> None:
        if not value or value in seen:
            raise self._error(place, field, "an id that no row before has", _shown(value))
        seen.add(value)

    def _known(self, place: str, field: str, value: str, known: Collection[str]) -> None:
        if value not in known:
            raise self._error(place, field, "the id of a row that the reader has made", _shown(value))

    def _in(self, place: str, found: str, haystack: str) -> None:
        if haystack != f"haystack {found!r}":
            raise self._error(place, "haystack_id", f"that of {haystack}", _shown(found))

    def _error(self, place: str, field: str, expected: str, found: str) -> InputError:
        return InputError(file=self._reader, record=place, field=field, expected=expected, found=found)


def _fits(value: object, hint: Any) -> bool:
    """Tell whether *value* is of a type such as `str`, `int | None` or `list[str] | None`."""
    return any(
        all(_fits(part, get_args(kind)[0]) for part in value)
        if get_origin(kind) is list and isinstance(value, list)
        else isinstance(kind, type) and isinstance(value, kind) and not isinstance(value, bool)
        for kind in _alternatives(hint)
    )


def _alternatives(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if isinstance(hint, UnionType) else (hint,)


def _told(hint: Any) -> str:
    return " or ".join(_KINDS.get(kind, "a list of strings") for kind in _alternatives(hint))


def _shown(value: object) -> str:
    return "nothing" if value is None else f"{type(value).__name__} {repr(value)[:_SHOWN_CHARACTERS]}"
