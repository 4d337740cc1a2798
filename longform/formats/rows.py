"""Rows of one haystack, table by table, as readers hand them over; those of a user's reader are checked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from math import isfinite
from typing import Any, NamedTuple, TypeVar, get_type_hints

import pyarrow as pa
from pydantic import BaseModel, create_model

from longform.errors import InputError
from longform.formats.fields import Entry, Filled, Int32, Record, Text
from longform.records import TARGET_KINDS, Document, Qrel, Query, Target
from longform.rows import FacetRow
from longform.schemas import SCHEMAS, conform
from longform.text.visible import is_blank

ShippedRow = Mapping[str, Any]
"""A row of a table that a release ships, with the columns that `longform.rows` has; those left out are null."""


class HaystackRows(NamedTuple):
    """
    The tables of a benchmark for one haystack.

    `documents` may be a one-time iterator that reads as it goes, and may raise as it goes: take the rows once, and
    let nothing count as written before the last of them.
    """

    haystack_id: str
    documents: Iterable[Document]
    queries: Iterable[Query]
    targets: Iterable[Target] = ()
    qrels: Iterable[Qrel] = ()
    rankings: Iterable[ShippedRow] = ()
    summaries: Iterable[ShippedRow] = ()
    labels: Iterable[ShippedRow] = ()
    released_scores: Iterable[ShippedRow] = ()


def facet_rows(facets: Mapping[str, str]) -> list[FacetRow]:
    """Return the facets of a query as rows, by name."""
    return [{"name": name, "value": facets[name]} for name in sorted(facets)]


def ranking_rows(
    query_id: str, haystack_id: str, system: str, scored: Iterable[tuple[str, float]]
) -> Iterator[ShippedRow]:
    """Yield the rows of a ranking, from its documents and their scores, the best first."""
    for rank, (doc_id, score) in enumerate(scored):
        yield {
            "query_id": query_id,
            "haystack_id": haystack_id,
            "system": system,
            "doc_id": doc_id,
            "rank": rank,
            "score": score,
        }


def insight_label(
    annotator: str, summary_id: str, target_id: str, answer: str, linked_unit: int | None, *, kind: str = "insight"
) -> ShippedRow:
    """Return the label of a whole summary by a target of its query."""
    return {
        "annotator": annotator,
        "summary_id": summary_id,
        "target_kind": kind,
        "target_id": target_id,
        "mode": "full",
        "repeat": 0,
        "answer": answer,
        "linked_unit": linked_unit,
    }


# ---------------------------------------------------------------- checks

Row = TypeVar("Row", Document, Query, Target, Qrel)


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
_REFERENCES: Mapping[type, tuple[str, ...]] = {Target: ("query_id",), Qrel: ("query_id", "doc_id", "target_id")}
_IDS: Mapping[type, str] = {Document: "doc_id", Query: "query_id", Target: "target_id"}
_SHOWN_CHARACTERS = 60


def _fields(kind: type) -> type[BaseModel]:
    """Return a model of the row's fields, which refuses what the table cannot hold."""
    fields: dict[str, Any] = {name: (_STRICT[of], ...) for name, of in get_type_hints(kind).items()}
    return create_model(kind.__name__, **fields)


_FIELDS = {kind: _fields(kind) for kind in (Document, Query, Target, Qrel)}


class Checks:
    """
    Checks types, that ids stand once, and that what rows refer to is there: haystack by haystack, row by row as they
    are asked for. Errors name the *reader*.
    """

    def __init__(self, reader: str) -> None:
        self._reader = reader
        self._seen: defaultdict[str, set[str]] = defaultdict(set)  # name of a field -> ids

    def all(self, haystacks: Iterable[object], files: str) -> Iterator[HaystackRows]:
        """Yield the haystacks of *files*, each as `checked` has it; InputError if there is none."""
        found = map(self.checked, haystacks)
        if (first := next(found, None)) is None:
            raise self._error("what it returns", "(value)", f"one haystack or more of {files}", "none")
        yield first
        yield from found

    def checked(self, haystack: object) -> HaystackRows:
        """
        Return the same haystack; its rows are checked when they are read.

        Raises:
            InputError: Something is no HaystackRows, or, as it is read, a row is not what its table takes.
        """
        if not isinstance(haystack, HaystackRows):
            raise self._error("what it yields", "(value)", "longform.formats.rows.HaystackRows", _shown(haystack))
        own = haystack.haystack_id
        return HaystackRows(
            own,
            self._rows(haystack.documents, Document, own),
            self._rows(haystack.queries, Query, own),
            self._rows(haystack.targets, Target, own),
            self._rows(haystack.qrels, Qrel, own),
            *(self._dicts(getattr(haystack, table), table, own) for table in HaystackRows._fields[5:]),
        )

    def _rows(self, rows: Iterable[Row], kind: type[Row], haystack_id: str) -> Iterator[Row]:
        for index, row in enumerate(rows):
            place = f"haystack {haystack_id!r}, {kind.__name__} {index}"
            if not isinstance(row, kind):
                raise self._error(place, "(row)", f"longform.records.{kind.__name__}", _shown(row))
            Record(row._asdict(), self._reader, place).read(_FIELDS[kind])
            for name, expected, fits in self._demands(row, index, haystack_id):
                if not fits:
                    raise self._error(place, name, expected, _shown(getattr(row, name)))
            if kind in _IDS:
                self._seen[_IDS[kind]].add(getattr(row, _IDS[kind]))
                self._seen[f"haystack of {kind.__name__}"].add(haystack_id)
            yield row

    def _demands(
        self, row: Document | Query | Target | Qrel, index: int, haystack_id: str
    ) -> Iterator[tuple[str, str, bool]]:
        """Yield fields of a row, what is expected of each, and whether it is so."""
        for name in _REFERENCES.get(type(row), ()):
            known = getattr(row, name) in self._seen[name] or (name == "target_id" and getattr(row, name) is None)
            yield name, "the id of a row that the reader has made", known
        if isinstance(row, Document):
            yield "doc_index", f"its place, {index}", row.doc_index == index
        if isinstance(row, Target):
            yield "kind", f"one of {', '.join(TARGET_KINDS)}", row.kind in TARGET_KINDS
        if not isinstance(row, Qrel):
            yield "text", "a text that is not blank", not is_blank(row.text)
            name = _IDS[type(row)]
            value = getattr(row, name)
            yield name, "an id that no row before has", bool(value) and value not in self._seen[name]
            yield "haystack_id", f"that of haystack {haystack_id!r}", row.haystack_id == haystack_id

    def _dicts(self, rows: Iterable[ShippedRow], table: str, haystack_id: str) -> Iterator[ShippedRow]:
        number = -1
        for number, row in enumerate(rows):
            place = f"haystack {haystack_id!r}, {table} {number}"
            try:
                conform([row], SCHEMAS[table])
            except (ValueError, TypeError, AttributeError, pa.ArrowException) as error:
                expected = f"a row of the table {table} (longform/schemas.py)"
                raise self._error(place, "(row)", expected, str(error)) from error
            for name, value in row.items():
                if isinstance(value, float) and not isfinite(value):
                    raise self._error(place, name, "a finite number", str(value))
            yield row
        if table == "summaries" and number < 0 and haystack_id not in self._seen["haystack of Document"]:
            raise self._error(f"haystack {haystack_id!r}", "documents", "documents, or summaries to judge", "neither")

    def _error(self, place: str, field: str, expected: str, found: str) -> InputError:
        return InputError(file=self._reader, record=place, field=field, expected=expected, found=found)


def _shown(value: object) -> str:
    return "nothing" if value is None else f"{type(value).__name__} {repr(value)[:_SHOWN_CHARACTERS]}"
