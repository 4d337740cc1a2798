"""BEIR folders: exact rows, one error for each thing that can be wrong, and a corpus that is read as it goes."""

import itertools
import json

import pytest

from longform.errors import InputError
from longform.formats.beir import read_beir
from longform.formats.json_files import Faults
from longform.formats.rows import HaystackRows
from longform.records import Document, Qrel, Query

HEADER = "query-id\tcorpus-id\tscore\n"
CORPUS = [
    '{"_id": "d1", "title": "Waves", "text": "Sea and wind.", "metadata": {}}',
    '{"_id": "d2", "title": "", "text": "Sand."}',
    '{"_id": "d3", "text": ""}',
]
QUERIES = [
    '{"_id": "q1", "text": "What moves the sea?", "metadata": {}}',
    '{"_id": "q2", "text": "Who asked?"}',
    '{"_id": "q3", "text": "What is a beach?"}',
]
TEST = [HEADER, "q3\td2\t2\n", "q3\td1\t0\n"]
DEV = [HEADER, "q1\td1\t1\r\n", "\n", "q1\td3\t-1"]


def read(*, corpus=CORPUS, queries=QUERIES, test=TEST, dev=DEV) -> HaystackRows:
    return next(read_beir("sea", corpus, queries, {"qrels/test.tsv": test, "qrels/dev.tsv": dev}, Faults()))


def query(query_id: str, text: str) -> Query:
    return Query(query_id, "beir:sea", text, dataset="sea")


def test_a_folder_is_one_haystack_of_exactly_these_rows(caplog: pytest.LogCaptureFixture) -> None:
    haystack = read()
    assert haystack.haystack_id == "beir:sea"
    assert list(haystack.documents) == [
        Document("d1", "beir:sea", 0, "Waves", "Sea and wind."),
        Document("d2", "beir:sea", 1, None, "Sand."),
        Document("d3", "beir:sea", 2, None, ""),
    ]
    assert list(haystack.queries) == [query("q1", "What moves the sea?"), query("q3", "What is a beach?")]
    assert list(haystack.qrels) == [
        Qrel("q3", None, "d2", 2),
        Qrel("q3", None, "d1", 0),
        Qrel("q1", None, "d1", 1),
        Qrel("q1", None, "d3", -1),
    ]
    assert [*haystack.targets, *haystack.rankings, *haystack.summaries, *haystack.labels] == []
    assert "sea: 1 queries without a judgement are left out" in caplog.text


def test_only_queries_of_the_chosen_splits_are_kept(caplog: pytest.LogCaptureFixture) -> None:
    haystack = next(read_beir("data/sea/", CORPUS, QUERIES, {"qrels/test.tsv": TEST}, Faults()))
    assert [row.query_id for row in haystack.queries] == ["q3"]
    assert "data/sea/: 2 queries without a judgement are left out" in caplog.text
    assert {row.haystack_id for row in [*haystack.queries, *haystack.documents]} == {"beir:sea"}


def test_the_corpus_is_read_as_it_is_taken() -> None:
    """A corpus of millions must not stand in memory: what has not been asked for has not been read."""
    n_read = itertools.count()
    lines = (json.dumps({"_id": f"d{number}", "text": "x"}) for number in iter(n_read.__next__, 10**9))
    haystack = read(corpus=lines)
    taken = list(itertools.islice(haystack.documents, 5))
    assert [document.doc_index for document in taken] == [0, 1, 2, 3, 4]
    assert next(n_read) == 5


def jsonl(*records: object) -> list[str]:
    return [json.dumps(record) for record in records]


FILES = {
    "corpus": "sea/corpus.jsonl",
    "queries": "sea/queries.jsonl",
    "test": "sea/qrels/test.tsv",
    "dev": "sea/qrels/dev.tsv",
}
MALFORMED = [  # file, its lines, the line, the field, words of the message
    ("corpus", jsonl({"text": "x"}), 1, "_id", "found nothing (the record has text)"),
    ("corpus", jsonl({"_id": 7.0, "text": "x"}), 1, "_id", "a whole number, or a printable string"),
    ("corpus", jsonl({"_id": "", "text": "x"}), 1, "_id", "string that is not empty, found string ''"),
    ("corpus", [*CORPUS, CORPUS[0]], 4, "_id", "an id that no line above has, found string 'd1'"),
    ("corpus", jsonl({"_id": "d1"}), 1, "text", "found nothing (the record has _id)"),
    ("corpus", jsonl({"_id": "d1", "text": "", "title": []}), 1, "title", "a string, found list []"),
    ("corpus", ["", "{"], 2, "(line)", "expected JSON, found '{'"),
    ("corpus", [b"\xe9"], 1, "(line)", "text in UTF-8, found byte 0xe9 at 0"),
    ("queries", jsonl({"_id": "q1"}), 1, "text", "found nothing (the record has _id)"),
    ("queries", jsonl({"_id": "q1", "text": " "}), 1, "text", "not empty, found string ' '"),
    ("queries", [*QUERIES, QUERIES[2]], 4, "_id", "no line above has, found string 'q3'"),
    ("test", TEST[1:], 1, "(line)", "the header query-id, corpus-id, score, tab separated, found string 'q3"),
    ("test", ["query-id corpus-id score"], 1, "(line)", "tab separated, found string 'query-id corpus-id score'"),
    ("dev", [], 1, "(line)", "tab separated, found an empty file"),
    ("test", [HEADER, "q3\t0\td2\t1"], 2, "(line)", "expected 3 cells: query-id, corpus-id, score"),
    ("test", [HEADER, "q3\td2"], 2, "(line)", "found 2 cells: string 'q3"),
    ("test", [HEADER, "q3\td2\thigh"], 2, "score", "an integer of 32 bits, found string 'high'"),
    ("test", [HEADER, "q3\td2\t1.0"], 2, "score", "an integer of 32 bits, found string '1.0'"),
    ("test", [HEADER, "q3\td2\t9999999999"], 2, "score", "32 bits, found integer 9999999999"),
    ("test", [HEADER, "q3\t\t1"], 2, "corpus-id", "not empty, found string ''"),
    ("test", [*TEST, "q9\td2\t1"], 4, "query-id", "an _id of queries.jsonl, found string 'q9'"),
    ("dev", [*DEV, "\n", "q1\td9\t1"], 6, "corpus-id", "an _id of corpus.jsonl, found string 'd9'"),
    ("dev", [HEADER, "q3\td2\t2"], 2, "corpus-id", "not judged for this query in a line above, found string 'd2'"),
]


@pytest.mark.parametrize(("name", "lines", "number", "field", "words"), MALFORMED)
def test_malformed_input_gets_one_message_that_names_the_place(name, lines, number, field, words) -> None:
    with pytest.raises(InputError) as caught:
        list(read(**{name: lines}).documents)
    error = caught.value
    assert (error.file, error.record, error.field) == (FILES[name], f"line {number}", field)
    assert str(error).startswith(f"{FILES[name]}: line {number}: field {field!r}: expected ")
    assert words in str(error)


def test_a_folder_without_a_judgement_is_refused() -> None:
    """It would be a benchmark of no query."""
    with pytest.raises(InputError, match=r"sea/qrels: .* since queries without one are dropped, found none in no file"):
        next(read_beir("sea", CORPUS, QUERIES, {}, Faults()))
    with pytest.raises(InputError, match=r"found none in qrels/test.tsv, qrels/dev.tsv"):
        read(test=[HEADER], dev=[HEADER])
