"""TREC's documents, topics, judgements and runs become a haystack with shipped rankings."""

from __future__ import annotations

import pytest

from longform.errors import InputError
from longform.formats.trec_files import trec_files
from tests.longform.formats.memory_files import MemoryFile, memory

DOCS = """<DOC><DOCNO> FT-1 </DOCNO><HEADLINE>Bridge</HEADLINE><TEXT><P>The bridge &amp; the tram.</P></TEXT></DOC>
<DOC>
<DOCNO>FT-2</DOCNO>
<TEXT>One.</TEXT><TEXT>Two.</TEXT>
</DOC>"""
TOPICS = "<top><num> Number: 1</num><title>bridge</title></top>"
QRELS = "1 0 FT-1 2\n1 0 FT-2 0\n1 0 FT-9 1\n9 0 FT-1 1\n"
RUN = "1 Q0 FT-1 1 2.5 bm25\n1 Q0 FT-2 2 7.25 bm25\n"


def read(qrels: str = QRELS, run: str = RUN, docs: MemoryFile | None = None):
    named = {"docs": {"docs": docs or memory("docs", DOCS)}}
    found = trec_files(
        named, queries=[memory("t.trec", TOPICS)], qrels=[memory("qrels", qrels)], run=[memory("run", run)]
    )
    return next(iter(found.haystacks))


def test_documents_judgements_and_runs_are_read() -> None:
    found = read()

    assert [(one.doc_id, one.title, one.text) for one in found.documents] == [
        ("FT-1", "Bridge", "The bridge & the tram."),
        ("FT-2", None, "One.\nTwo."),
    ]
    assert [(one.doc_id, one.relevance) for one in found.qrels] == [("FT-1", 2), ("FT-2", 0)]
    assert [(one["system"], one["doc_id"], one["rank"], one["score"]) for one in found.rankings] == [
        ("bm25", "FT-2", 0, 7.25),
        ("bm25", "FT-1", 1, 2.5),
    ]


def test_documents_may_be_lines_of_json() -> None:
    found = read("", "", memory("d.jsonl", '{"docno": "a", "contents": "x"}'))

    assert [(one.doc_id, one.text) for one in found.documents] == [("a", "x")]


@pytest.mark.parametrize(
    ("qrels", "run", "told"),
    [
        ("1 0 FT-1\n", "", "qrels: line 1.*4 cells"),
        ("1 0 FT-1 yes\n", "", "a whole number"),
        ("1 0 FT-1 1\n1 0 FT-1 0\n", "", "line 2.*judged once"),
        ("", "1 Q0 FT-1 1 nan x\n", "run: line 1: field 'score': expected a finite number"),
        ("", "1 Q0 FT-2 1 2 x\n1 Q0 FT-1 1 1e400 x\n", "run: line 2: field 'score'"),
        ("", "1 Q0 FT-1 1 9,5e-3 x\n", "with a decimal point, found '9,5e-3'"),
        ("1 0 FT-1 9999999999\n", "", "a whole number of 32 bits"),
        ("", "1 Q0 FT-1 1 1.0 x\n1 Q0 FT-1 2 0.5 x\n", "line 2.*each document once"),
        ("", "1 Q0 FT-1 first 1.0 x\n", "'rank': expected a whole number"),
    ],
)
def test_faults_are_told_by_line(qrels: str, run: str, told: str) -> None:
    with pytest.raises(InputError, match=told):
        read(qrels, run)


def test_small_scores_stay_and_what_names_others_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    run = "1 Q0 FT-1 2 3.1e-08 s\n1 Q0 FT-2 1 9.5e-08 s\n1 Q0 FT-9 3 1e-9 s\n7 Q0 FT-1 1 1 s\n"

    found = [(one["doc_id"], one["rank"], one["score"]) for one in read("", run).rankings]
    assert found == [("FT-2", 0, 9.5e-08), ("FT-1", 1, 3.1e-08)]
    assert "2 of 4 lines of runs name topics or documents that are not here, and are left out" in caplog.text


def test_ranks_against_the_scores_are_said(caplog: pytest.LogCaptureFixture) -> None:
    read("", RUN)
    assert "1 rankings have ranks in another order than their scores" in caplog.text
