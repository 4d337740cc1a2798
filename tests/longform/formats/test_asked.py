"""Questions and insights are read from the files people have, and each fault is told with its place."""

from __future__ import annotations

import json

import pytest

from longform.errors import InputError, LongformError
from longform.formats.asked import questions, wanted_of
from longform.formats.json_files import Faults
from longform.records import Query
from tests.longform.formats.memory_files import MemoryFile, memory

TREC = """<top>
<num> Number: 301
<title> bridge costs
<desc> Description:
What does it cost?
</top>
<top><num> Number: 302 </num><title>trams &amp; buses</title></top>"""


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("q.txt", "\ufeffWhat?\n\n Why so? \r\n", [("q1", "What?"), ("q2", "Why so?")]),
        ("q.csv", "id;question\na;What, then?\nb;Why?\n", [("a", "What, then?"), ("b", "Why?")]),
        ("q.csv", 'Query\n"What,\nthen?"\n', [("q1", "What, then?")]),
        ("q.tsv", "qid\tquery\n7\tWhat?\n", [("7", "What?")]),
        ("q.tsv", "7\tWhat?\n8\tWhy?\n", [("7", "What?"), ("8", "Why?")]),
        ("q.jsonl", json.dumps({"query_id": "x", "text": "What?"}), [("x", "What?")]),
        ("t.trec", TREC, [("301", "bridge costs"), ("302", "trams & buses")]),
        ("t.xml", '<topics><topic number="4"><query>Who?</query></topic></topics>', [("4", "Who?")]),
    ],
)
def test_questions_of_each_kind(name: str, text: str, expected: list[tuple[str, str]]) -> None:
    assert [(one.query_id, one.text) for one in questions([memory(name, text)], Faults())] == expected


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("q.txt", "Où?".encode("cp1252"), "maybe Windows' cp1252"),
        ("q.txt", b"\n \n", "expected at least one question"),
        ("q.csv", b"id,words\n1,What?\n", "a filled column of query, question"),
        ("q.csv", b"id,query\n1,What?,then\n", "line 2: field '(header)': expected 2 cells"),
        ("q.csv", b"id,query\n1,What?\n1,Why?\n", "line 3: field 'id': expected an id that no query above has"),
        ("q.xml", b"<html></html>", "expected <top> or <topic>"),
        ("q.trec", b"<top><title>x</title></top>", "topic 1"),
        ("q.docx", b"x", "expected questions in .txt"),
    ],
)
def test_faults_are_told(name: str, content: bytes, told: str) -> None:
    def read() -> None:
        faults = Faults()
        questions([MemoryFile(name, content)], faults)
        faults.settle()

    with pytest.raises(LongformError) as error:
        read()
    assert told in str(error.value)
    assert name in str(error.value)


QUERY = Query("q1", "corpus", "What?")


def test_insights_have_documents_and_without_them_are_key_points() -> None:
    text = "query_id,text,doc_ids\nq1,It costs 3 million.,a.md; b b.md\nq1,It is late.,\n"
    targets, qrels = wanted_of([memory("i.csv", text)], {"q1": QUERY}, ["a.md", "b b.md"], Faults())

    assert [(one.kind, one.target_index, one.text) for one in targets] == [
        ("insight", 0, "It costs 3 million."),
        ("key_point", 1, "It is late."),
    ]
    assert [one.doc_id for one in qrels] == ["a.md", "b b.md"]


@pytest.mark.parametrize(("row", "told"), [("q2,x,a.md", "a query of q1"), ("q1,x,c.md", "ids of documents, as a.md")])
def test_insights_of_nothing_are_refused(row: str, told: str) -> None:
    faults = Faults()
    wanted_of([memory("i.csv", f"query_id,text,doc_ids\n{row}\n")], {"q1": QUERY}, ["a.md"], faults)
    with pytest.raises(InputError, match=told):
        faults.settle()
