"""One reading names all faulty rows of all kinds of files by line; `--skip-unreadable` goes on without them."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from longform.errors import InputError
from longform.formats.files import Found
from longform.formats.json_files import SHOWN
from longform.formats.names import FORMATS
from longform.formats.rows import HaystackRows
from longform.settings.strict import imported
from tests.longform.formats.memory_files import MemoryFile, memory

Row = bytes | dict[str, Any]
GOOD: Row = {"id": "a", "text": "The harbour is deep."}
FAULTY: Sequence[Row] = (  # a document each, in JSON or as it stands in the file
    {"id": "b", "text": None},
    b'{"id": "c", "text": "The \0harbour."}',
    {"id": "d", "text": "Half \ud83d."},
    {"id": 1.5, "text": "A float."},
    {"id": True, "text": "A boolean."},
    {"id": ["e"], "text": "A list."},
    {"id": "a", "text": "An id again."},
    b'{"id": "f", "text": "Caf\xe9."}',
    b'{"id": "g", ',
    b"[]",
)
LAST: Row = {"id": 7, "text": "The pier is long."}


def lines(name: str, rows: Sequence[Row], **named: str) -> MemoryFile:
    """JSON Lines with the fields called as *named* says."""
    parts = []
    for row in rows:
        line = row if isinstance(row, bytes) else json.dumps({named.get(key, key): row[key] for key in row}).encode()
        parts.append(line.replace(b'"id"', f'"{named.get("id", "id")}"'.encode()))
    return MemoryFile(name, b"\n".join(parts) + b"\n")


def jsonl(rows: Sequence[Row], **options: Any) -> Found:
    files = [lines("documents.jsonl", rows, id="doc_id"), memory("queries.jsonl", '{"query_id": 1, "text": "What?"}')]
    return imported(FORMATS["jsonl"])({"c": {file.path: file for file in files}}, **options)


def csv(rows: Sequence[Row], **options: Any) -> Found:
    file = lines("d.jsonl", rows)
    return imported(FORMATS["csv"])({"d.jsonl": {"d.jsonl": file}}, queries=[memory("q.txt", "What?")], **options)


def trec(rows: Sequence[Row], **options: Any) -> Found:
    file = lines("d.jsonl", rows)
    return imported(FORMATS["trec"])({"d.jsonl": {"d.jsonl": file}}, queries=[memory("t.tsv", "1\tWhat?")], **options)


def beir(rows: Sequence[Row], **options: Any) -> Found:
    files = [
        lines("corpus.jsonl", rows, id="_id"),
        memory("queries.jsonl", '{"_id": 1, "text": "What?"}'),
        memory("qrels/test.tsv", "query-id\tcorpus-id\tscore\n1\ta\t1\n1\t7\t2\n"),
    ]
    return imported(FORMATS["beir"])({"c": {file.path: file for file in files}}, **options)


KINDS = pytest.mark.parametrize("read", [jsonl, csv, trec, beir])


def rows_of(found: Found) -> tuple[HaystackRows, list[str]]:
    (haystack,) = found.haystacks
    return haystack, [document.doc_id for document in haystack.documents]


@KINDS
def test_all_faulty_rows_are_named_at_once(read: Callable[..., Found]) -> None:
    with pytest.raises(InputError) as error:
        rows_of(read([GOOD, *FAULTY, LAST]))

    named = [int(line.partition(": line ")[2].partition(":")[0]) for line in str(error.value).split("\n")[1:]]
    assert named == [*range(2, 2 + len(FAULTY))]
    assert str(error.value).startswith(f"{len(FAULTY)} rows cannot be read; nothing was written.")


@KINDS
def test_faulty_rows_are_left_out_and_counted_if_asked(
    read: Callable[..., Found], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        haystack, ids = rows_of(read([GOOD, *FAULTY, LAST], skip_unreadable=True))

    assert ids == ["a", "7"]
    assert f"left out: {len(FAULTY)}" in caplog.text
    assert [query.text for query in haystack.queries] == ["What?"]


@KINDS
def test_many_faults_are_counted(read: Callable[..., Found]) -> None:
    with pytest.raises(InputError, match=r"and 5 more$") as error:
        rows_of(read([GOOD, *[{"id": f"x{n}"} for n in range(SHOWN + 5)], LAST]))

    assert len(str(error.value).split("\n")) == SHOWN + 2


def test_numbers_of_rows_without_ids_stay_when_a_row_is_left_out() -> None:
    """Insights name documents by them."""
    rows = [b'{"text": "One."}', b"{", b'{"text": ""}', b'{"text": "Four."}']

    assert rows_of(csv(rows, skip_unreadable=True))[1] == ["1", "4"]


def test_a_row_that_names_a_faulty_one_is_no_fault_of_its_own_until_that_is_left_out(
    caplog: pytest.LogCaptureFixture,
) -> None:
    insights = lines("insights.jsonl", [b'{"insight_id": 1, "query_id": 1, "text": "Deep.", "doc_ids": ["b"]}'])
    files = [
        lines("documents.jsonl", [GOOD, FAULTY[0]], id="doc_id"),
        memory("queries.jsonl", '{"query_id": 1, "text": "What?"}'),
        insights,
    ]
    named = {"c": {file.path: file for file in files}}

    with pytest.raises(InputError, match=r"^documents.jsonl: line 2: field 'text'[^\n]*--skip-unreadable$"):
        rows_of(imported(FORMATS["jsonl"])(named))
    haystack, _ = rows_of(imported(FORMATS["jsonl"])(named, skip_unreadable=True))
    assert list(haystack.targets) == []
    assert "left out: 2" in caplog.text


CSV = b'id,text\n1,"One,\ntwo."\n2,A \0 byte.\n3,\n4,Caf\xe9\n5,a,b\n6,Six.\n'


def test_rows_of_csv_are_named_by_line() -> None:
    def read(**options: Any) -> Found:
        file = MemoryFile("d.csv", CSV)
        return imported(FORMATS["csv"])({"d.csv": {"d.csv": file}}, queries=[memory("q.txt", "What?")], **options)

    with pytest.raises(InputError) as error:
        read()
    told = str(error.value)
    assert [words in told for words in ("line 4: field '(line)'", "a NUL byte", "line 6", "0xe9", "line 7")] == [
        True
    ] * 5
    assert rows_of(read(skip_unreadable=True))[1] == ["1", "6"]


@pytest.mark.parametrize("content", [b"id,text\r1,One.\r2,Two.\r", "id,text\n1,One.\n2,Two.\n".encode("utf-16")])
def test_csv_of_old_macs_and_of_spreadsheets_is_read(content: bytes) -> None:
    file = MemoryFile("d.csv", content)
    found = imported(FORMATS["csv"])({"d.csv": {"d.csv": file}}, queries=[memory("q.txt", "What?\rWho?")])

    haystack, ids = rows_of(found)
    assert (ids, [query.query_id for query in haystack.queries]) == (["1", "2"], ["q1", "q2"])


def test_whole_numbers_are_ids_wherever_one_stands() -> None:
    files = [
        memory("documents.jsonl", '{"doc_id": 100, "text": "A."}\n{"doc_id": 101, "text": "B."}'),
        memory("queries.jsonl", '{"query_id": 7, "text": "What?"}'),
        memory("insights.jsonl", '{"insight_id": 1, "query_id": 7, "text": "B.", "doc_ids": [101]}'),
        memory("qrels.jsonl", '{"query_id": "7", "doc_id": 100, "relevance": 1}'),
        memory("summaries.jsonl", '{"summary_id": 5, "query_id": 7, "summarizer": "m", "text": "B."}'),
        memory(
            "labels.jsonl", '{"summary_id": 5, "insight_id": 1, "annotator": "x", "coverage": "full", "bullet": null}'
        ),
    ]
    haystack, ids = rows_of(imported(FORMATS["jsonl"])({"c": {file.path: file for file in files}}))

    assert ids == ["100", "101"]
    assert [(one.query_id, one.target_id, one.doc_id) for one in haystack.qrels] == [
        ("7", "1", "101"),
        ("7", None, "100"),
    ]
    assert [row["summary_id"] for row in haystack.labels] == ["5"]


def test_an_id_that_two_kinds_of_values_write_alike_stands_twice() -> None:
    with pytest.raises(InputError, match="no line above has, found integer 7, which is read as '7'"):
        rows_of(jsonl([{"id": "7", "text": "A."}, LAST]))
