"""Checks the rows that a reader hands over: their types, that ids stand once, and that what they refer to is there."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from math import isfinite
from typing import Any, TypeVar, get_type_hints

import pyarrow as pa
from pydantic import BaseModel, create_model

from longform.errors import InputError
from longform.formats.fields import Entry, Filled, Int32, Record, Text
from longform.formats.rows import HaystackRows, ShippedLabel, ShippedRanking, ShippedSummary
from longform.records import TARGET_KINDS, Document, Qrel, Query, Target
from longform.rows import FacetRow, ReleasedScoreRow
from longform.schemas import LABELS, RANKINGS, RELEASED_SCORES, SUMMARIES, conform

Row = TypeVar("Row", Document, Query, Target, Qrel)
Shipped = TypeVar("Shipped", ShippedRanking, ShippedSummary, ShippedLabel, ReleasedScoreRow)


class _Facet(Entry):
    name: Filled
    value: Filled


_STRICT = {
    str: Text,
    int: Int32,
    str | None: Text | None,
    list[str] | None: list[Text] | None,
    list[FacetRow] | None: list[_Facet] | None,
}


def _fields(kind: type) -> type[BaseModel]:
    """Return a model of the row's fields, which refuses what the table cannot hold."""
    fields: dict[str, Any] = {name: (_STRICT[of], ...) for name, of in get_type_hints(kind).items()}
    return create_model(kind.__name__, **fields)


_FIELDS = {kind: _fields(kind) for kind in (Document, Query, Target, Qrel)}
_SHOWN_CHARACTERS = 60


class Checks:
    """Checks haystack by haystack, row by row as they are asked for; errors name the *reader*."""

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
        place = f"haystack {haystack.haystack_id!r}"
        return haystack._replace(
            documents=self._in_order(self._rows(haystack.documents, Document, place), place),
            queries=self._asked(self._rows(haystack.queries, Query, place), place),
            targets=self._of_queries(self._rows(haystack.targets, Target, place), place),
            qrels=self._judgements(self._rows(haystack.qrels, Qrel, place)),
            rankings=self._dicts(haystack.rankings, "rankings", RANKINGS, place),
            summaries=self._dicts(haystack.summaries, "summaries", SUMMARIES, place),
            labels=self._dicts(haystack.labels, "labels", LABELS, place),
            released_scores=self._dicts(haystack.released_scores, "released_scores", RELEASED_SCORES, place),
        )

    def _rows(self, rows: Iterable[Row], kind: type[Row], haystack: str) -> Iterator[tuple[Row, str]]:
        fields = _FIELDS[kind]
        for number, row in enumerate(rows):
            place = f"{haystack}, {kind.__name__} {number}"
            if not isinstance(row, kind):
                raise self._error(place, "(row)", f"longform.records.{kind.__name__}", _shown(row))
            Record(row._asdict(), self._reader, place).read(fields)
            yield row, place

    def _in_order(self, rows: Iterator[tuple[Document, str]], haystack: str) -> Iterator[Document]:
        for index, (document, place) in enumerate(rows):
            if document.doc_index != index:
                raise self._error(place, "doc_index", f"its place, {index}", _shown(document.doc_index))
            self._once(place, "doc_id", document.doc_id, self._documents)
            self._in(place, document.haystack_id, haystack)
            yield document

    def _asked(self, rows: Iterator[tuple[Query, str]], haystack: str) -> Iterator[Query]:
        for query, place in rows:
            self._once(place, "query_id", query.query_id, self._queries)
            self._in(place, query.haystack_id, haystack)
            yield query

    def _of_queries(self, rows: Iterator[tuple[Target, str]], haystack: str) -> Iterator[Target]:
        for target, place in rows:
            self._known(place, "query_id", target.query_id, self._queries)
            if target.kind not in TARGET_KINDS:
                raise self._error(place, "kind", f"one of {', '.join(TARGET_KINDS)}", _shown(target.kind))
            self._once(place, "target_id", target.target_id, self._targets)
            self._in(place, target.haystack_id, haystack)
            yield target

    def _judgements(self, rows: Iterator[tuple[Qrel, str]]) -> Iterator[Qrel]:
        for qrel, place in rows:
            self._known(place, "query_id", qrel.query_id, self._queries)
            self._known(place, "doc_id", qrel.doc_id, self._documents)
            if qrel.target_id is not None:
                self._known(place, "target_id", qrel.target_id, self._targets)
            yield qrel

    def _dicts(self, rows: Iterable[Shipped], table: str, schema: pa.Schema, haystack: str) -> Iterator[Shipped]:
        for number, row in enumerate(rows):
            try:
                conform([row], schema)
            except (ValueError, TypeError, AttributeError, pa.ArrowException) as error:
                expected = f"a row of the table {table} (longform/schemas.py)"
                raise self._error(f"{haystack}, {table} {number}", "(row)", expected, str(error)) from error
            for name, value in row.items():
                if isinstance(value, float) and not isfinite(value):
                    raise self._error(f"{haystack}, {table} {number}", name, "a finite number", str(value))
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


def _shown(value: object) -> str:
    return "nothing" if value is None else f"{type(value).__name__} {repr(value)[:_SHOWN_CHARACTERS]}"
