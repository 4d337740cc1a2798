"""The plain layout: exact rows, whatever is written reads back, and one error for each thing that can be wrong."""

import io
import json
from collections.abc import Iterable
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.errors import InputError
from longform.formats.json_files import Faults
from longform.formats.jsonl import Coverage, Domain, read_jsonl
from longform.formats.rows import HaystackRows
from longform.records import TARGET_KINDS, Document, Qrel, Query, Target
from longform.schemas import SCHEMAS, conform
from tests.places import ROOT

Files = dict[str, list[dict[str, Any]]]

FOLDER: Files = {
    "documents.jsonl": [
        {"doc_id": "d1", "text": "The dam was finished in May.", "title": "Dam"},
        {"doc_id": "m1", "text": "A: Hello.", "haystack": "meeting"},
        {"doc_id": "d2", "text": "Work on the dam ended in spring."},
    ],
    "queries.jsonl": [
        {
            "query_id": "q1",
            "text": "When was the dam done?",
            "topic": "A dam",
            "subtopic_name": "End",
            "subtopic": "The end of the work",
            "domain": "news",
        },
        {"query_id": "q2", "text": "Who spoke?", "haystack": "meeting", "participants": ["A", "B"], "domain": None},
    ],
    "insights.jsonl": [
        {"insight_id": "i1", "query_id": "q1", "text": "Done in May.", "name": "Date", "doc_ids": ["d2", "d1"]},
        {"insight_id": "k1", "query_id": "q2", "text": "A spoke.", "kind": "key_point"},
        {"insight_id": "i2", "query_id": "q1", "text": "Work ended.", "kind": "insight", "doc_ids": ["d2"]},
    ],
    "qrels.jsonl": [{"query_id": "q2", "doc_id": "m1", "relevance": 3}],
    "summaries.jsonl": [
        {"summary_id": "s1", "query_id": "q1", "summarizer": "ann", "lines": ["- It ended in May [1].", "- Work [2]"]},
        {
            "summary_id": "s2",
            "query_id": "q1",
            "summarizer": "bo",
            "setting": "full",
            "order": "given",
            "text": "Done.\n\nWell.",
            "elapsed_minutes": 2.5,
        },
    ],
    "labels.jsonl": [
        {"summary_id": "s1", "insight_id": "i2", "annotator": "cy", "coverage": "full", "bullet": 2},
        {"summary_id": "s2", "insight_id": "i1", "annotator": "cy", "coverage": "none", "bullet": None},
    ],
}


def lines_of(files: Files) -> dict[str, Iterable[bytes]]:
    """Return lines in the form that files are read: bytes, split at line feeds, non-ASCII characters unchanged."""
    return {
        name: io.BytesIO("\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode())
        for name, rows in files.items()
    }


def read(files: Files) -> list[HaystackRows]:
    return [HaystackRows(rows[0], *map(list, rows[1:])) for rows in read_jsonl(lines_of(files), Faults())]


def test_a_folder_gives_exactly_these_rows() -> None:
    corpus, meeting = read(FOLDER)
    assert corpus == HaystackRows(
        "corpus",
        documents=[
            Document("d1", "corpus", 0, "Dam", "The dam was finished in May."),
            Document("d2", "corpus", 1, None, "Work on the dam ended in spring."),
        ],
        queries=[Query("q1", "corpus", "When was the dam done?", "news", "A dam", "End", "The end of the work")],
        targets=[
            Target("i1", "insight", "q1", "corpus", 0, "Date", "Done in May."),
            Target("i2", "insight", "q1", "corpus", 1, None, "Work ended."),
        ],
        qrels=[Qrel("q1", "i1", "d2", 1), Qrel("q1", "i1", "d1", 1), Qrel("q1", "i2", "d2", 1)],
        rankings=[],
        summaries=[
            {
                "summary_id": "s1",
                "query_id": "q1",
                "haystack_id": "corpus",
                "summarizer": "ann",
                "setting": "unknown",
                "order": None,
                "elapsed_minutes": None,
                "text": "- It ended in May [1].\n- Work [2]",
            },
            {
                "summary_id": "s2",
                "query_id": "q1",
                "haystack_id": "corpus",
                "summarizer": "bo",
                "setting": "full",
                "order": "given",
                "elapsed_minutes": 2.5,
                "text": "Done.\n\nWell.",
            },
        ],
        labels=[label("s1", "i2", "full", 1), label("s2", "i1", "none", None)],
        released_scores=[],
    )
    assert meeting == HaystackRows(
        "meeting",
        documents=[Document("m1", "meeting", 0, None, "A: Hello.")],
        queries=[Query("q2", "meeting", "Who spoke?", participants=["A", "B"])],
        targets=[Target("k1", "key_point", "q2", "meeting", 0, None, "A spoke.")],
        qrels=[Qrel("q2", None, "m1", 3)],
        rankings=[],
        summaries=[],
        labels=[],
        released_scores=[],
    )


def label(summary_id: str, target_id: str, answer: str, linked_unit: int | None) -> dict[str, Any]:
    return {
        "annotator": "cy",
        "summary_id": summary_id,
        "target_kind": "insight",
        "target_id": target_id,
        "mode": "full",
        "repeat": 0,
        "answer": answer,
        "linked_unit": linked_unit,
    }


def test_the_rows_fit_the_tables() -> None:
    for haystack in read(FOLDER):
        for table in ("documents", "queries", "targets", "qrels", "summaries", "labels"):
            rows = [row if isinstance(row, dict) else row._asdict() for row in getattr(haystack, table)]
            assert conform(rows, SCHEMAS[table]).num_rows == len(rows)


def test_documents_and_queries_are_enough() -> None:
    (corpus,) = read(
        {"documents.jsonl": [{"doc_id": "d", "text": "x"}], "queries.jsonl": [{"query_id": "q", "text": "y"}]}
    )
    assert corpus.haystack_id == "corpus"
    assert [*corpus.targets, *corpus.qrels, *corpus.summaries, *corpus.labels] == []


def test_the_example_in_the_documentation_reads() -> None:
    """docs/formats.md shows a folder file by file, each in a fence with the file's name."""
    page = (ROOT / "docs" / "formats.md").read_text()
    fences = [part.split("```")[0] for part in page.split("```json title=")[1:]]
    named = (fence.split("\n", 1) for fence in fences)
    files = {head: body.splitlines() for head, body in named if head.endswith(".jsonl")}
    assert set(files) == set(FOLDER)
    (haystack,) = read_jsonl(files, Faults())
    counts = [len(list(rows)) for rows in haystack[1:]]
    assert counts == [3, 2, 3, 7, 0, 2, 3, 0]


# ---------------------------------------------------------------- whatever is written reads back

TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8)
FILLED = TEXT.filter(str.strip)
MAYBE = st.none() | TEXT
FEW = {"max_size": 4}


def ids(minimum: int = 0) -> st.SearchStrategy[list[str]]:
    return st.lists(FILLED, unique=True, min_size=minimum, max_size=4)


@st.composite
def haystacks(draw: st.DrawFn) -> list[HaystackRows]:
    """Rows of one to three haystacks, with every reference in place."""
    names = draw(st.lists(FILLED, unique=True, min_size=1, max_size=3))
    free = {kind: iter(range(10**6)) for kind in ("document", "query", "target", "summary")}
    return [draw(rows_of(name, free)) for name in names]


@st.composite
def rows_of(draw: st.DrawFn, haystack_id: str, free: dict[str, Any]) -> HaystackRows:
    def new_id(kind: str) -> str:
        return f"{draw(TEXT)}{kind}{next(free[kind])}"

    documents = [
        Document(new_id("document"), haystack_id, index, draw(MAYBE), draw(FILLED))
        for index in range(draw(st.integers(1, 4)))
    ]
    doc_ids = st.lists(st.sampled_from([document.doc_id for document in documents]), unique=True, min_size=1)
    domain = st.none() | st.sampled_from(get_args(Domain))
    people = st.none() | st.lists(TEXT, **FEW)
    queries = [
        Query(new_id("query"), haystack_id, draw(FILLED), draw(domain), *(draw(MAYBE) for _ in range(3)), draw(people))
        for _ in range(draw(st.integers(1, 3)))
    ]
    targets = [
        Target(
            new_id("target"),
            draw(st.sampled_from(TARGET_KINDS)),
            query.query_id,
            haystack_id,
            index,
            draw(MAYBE),
            draw(FILLED),
        )
        for query in queries
        for index in range(draw(st.integers(0, 3)))
    ]
    gold = [Qrel(t.query_id, t.target_id, doc_id, 1) for t in targets for doc_id in draw(doc_ids)]
    judged = [
        Qrel(query.query_id, None, doc_id, draw(st.integers(-(2**31), 2**31 - 1)))
        for query in queries
        for doc_id in draw(doc_ids)
    ]
    summaries = [
        {
            "summary_id": new_id("summary"),
            "query_id": query.query_id,
            "haystack_id": haystack_id,
            "summarizer": draw(FILLED),
            "setting": draw(FILLED),
            "order": draw(st.none() | st.sampled_from(["given", "random"])),
            "elapsed_minutes": draw(st.none() | st.floats(0, 1e9)),
            "text": "a\nb\n" + draw(TEXT),
        }
        for query in queries
        for _ in range(draw(st.integers(0, 2)))
    ]
    labels = [
        {
            **label(
                summary["summary_id"],
                target.target_id,
                draw(st.sampled_from(get_args(Coverage))),
                draw(st.sampled_from([None, 0, 1])),
            ),
            "target_kind": target.kind,
            "annotator": annotator,
        }
        for summary in summaries
        for target in targets
        if target.query_id == summary["query_id"]
        for annotator in draw(ids())
    ]
    return HaystackRows(haystack_id, documents, queries, targets, gold + judged, [], summaries, labels, [])


def written(rows: list[HaystackRows]) -> Files:
    """The layout of docs/formats.md, from rows; nulls are left out where they may be."""
    files: Files = {name: [] for name in FOLDER}
    for haystack in rows:
        place = {"haystack": haystack.haystack_id}
        files["documents.jsonl"] += [
            without_nulls({"doc_id": d.doc_id, "text": d.text, "title": d.title}) | place for d in haystack.documents
        ]
        files["queries.jsonl"] += [
            without_nulls({k: v for k, v in q._asdict().items() if k != "haystack_id"}) | place
            for q in haystack.queries
        ]
        for target in haystack.targets:
            gold = [qrel.doc_id for qrel in haystack.qrels if qrel.target_id == target.target_id]
            row = {
                "insight_id": target.target_id,
                "query_id": target.query_id,
                "text": target.text,
                "name": target.name,
                "kind": target.kind,
                "doc_ids": gold,
            }
            files["insights.jsonl"].append(row)
        files["qrels.jsonl"] += [
            {"query_id": qrel.query_id, "doc_id": qrel.doc_id, "relevance": qrel.relevance}
            for qrel in haystack.qrels
            if qrel.target_id is None
        ]
        files["summaries.jsonl"] += [
            without_nulls({k: v for k, v in summary.items() if k != "haystack_id"}) for summary in haystack.summaries
        ]
        files["labels.jsonl"] += [
            {
                "summary_id": row["summary_id"],
                "insight_id": row["target_id"],
                "annotator": row["annotator"],
                "coverage": row["answer"],
                "bullet": None if row["linked_unit"] is None else row["linked_unit"] + 1,
            }
            for row in haystack.labels
        ]
    return files


def without_nulls(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if value is not None}


@given(haystacks())
def test_what_is_written_reads_back(rows: list[HaystackRows]) -> None:
    assert read(written(rows)) == rows


# ---------------------------------------------------------------- malformed input

DOCUMENTS, QUERIES, INSIGHTS, QRELS, SUMMARIES, LABELS = FOLDER
MALFORMED = [  # file, line, what is set in it (`...` takes a field away), the field, words of the message
    (DOCUMENTS, 2, {"doc_id": ...}, "doc_id", "that is not empty, found nothing (the record has text, haystack)"),
    (
        DOCUMENTS,
        2,
        {"doc_id": 7.0},
        "doc_id",
        "a whole number, or a printable string that is not empty, found number 7.0",
    ),
    (DOCUMENTS, 2, {"doc_id": True}, "doc_id", "that is not empty, found boolean True"),
    (DOCUMENTS, 2, {"doc_id": "d\0"}, "doc_id", "that is not empty, found string 'd\\x00'"),
    (DOCUMENTS, 2, {"text": "d\0"}, "text", "a text without NUL characters, found string 'd\\x00'"),
    (DOCUMENTS, 2, {"doc_id": "d1"}, "doc_id", "an id that no line above has, found string 'd1'"),
    (DOCUMENTS, 3, {"text": "\n"}, "text", "a string that is not empty"),
    (DOCUMENTS, 1, {"tilte": "x"}, "tilte", "only the fields doc_id, text, title, haystack"),
    (DOCUMENTS, 1, {"title": ["x"]}, "title", "a string, found list ['x']"),
    (DOCUMENTS, 1, {"text": "\ud800"}, "text", "without halves of surrogate pairs, found string '\\ud800'"),
    (DOCUMENTS, 1, {"haystack": 5.5}, "haystack", "a whole number, or a printable string"),
    (QUERIES, 1, {"text": None}, "text", "a string, found null"),
    (QUERIES, 2, {"query_id": "q1"}, "query_id", "no line above has, found string 'q1'"),
    (QUERIES, 2, {"haystack": "meetings"}, "haystack", "documents.jsonl names, found string 'meetings'"),
    (QUERIES, 1, {"domain": "sports"}, "domain", "one of 'conversation', 'news', found string 'sports'"),
    (QUERIES, 2, {"participants": "A"}, "participants", "a list, found string 'A'"),
    (QUERIES, 2, {"participants": ["A", 3]}, "participants[1]", "a string, found integer 3"),
    (QUERIES, 1, {"answer": "May"}, "answer", "only the fields query_id, text"),
    (INSIGHTS, 1, {"query_id": "q9"}, "query_id", "the query_id of a line in queries.jsonl, found string 'q9'"),
    (INSIGHTS, 2, {"insight_id": "i1"}, "insight_id", "no line above has, found string 'i1'"),
    (INSIGHTS, 2, {"kind": "keypoint"}, "kind", "one of 'insight', 'key_point', 'reference'"),
    (INSIGHTS, 1, {"doc_ids": []}, "doc_ids", "the documents that state the insight"),
    (INSIGHTS, 1, {"doc_ids": ...}, "doc_ids", "found nothing (the record has insight_id"),
    (INSIGHTS, 1, {"doc_ids": ["d1", "d9"]}, "doc_ids[1]", "a doc_id of documents.jsonl, found string 'd9'"),
    (INSIGHTS, 1, {"doc_ids": ["m1"]}, "doc_ids[0]", "haystack 'corpus', found string 'm1' of haystack 'meeting'"),
    (INSIGHTS, 1, {"doc_ids": ["d1", "d1"]}, "doc_ids[1]", "each document once, found string 'd1' again"),
    (INSIGHTS, 2, {"doc_ids": ["d1"]}, "doc_ids[0]", "haystack 'meeting', found string 'd1' of haystack 'corpus'"),
    (QRELS, 1, {"query_id": "q9"}, "query_id", "the query_id of a line in queries.jsonl, found string 'q9'"),
    (QRELS, 1, {"doc_id": "d1"}, "doc_id", "haystack 'meeting', found string 'd1' of haystack 'corpus'"),
    (QRELS, 1, {"relevance": 0.5}, "relevance", "an integer of 32 bits, found number 0.5"),
    (QRELS, 1, {"relevance": True}, "relevance", "an integer of 32 bits, found boolean True"),
    (QRELS, 2, {"doc_id": "m1"}, "doc_id", "no line above judges for this query, found string 'm1'"),
    (SUMMARIES, 1, {"query_id": "q9"}, "query_id", "the query_id of a line in queries.jsonl, found string 'q9'"),
    (SUMMARIES, 2, {"summary_id": "s1"}, "summary_id", "no line above has, found string 's1'"),
    (SUMMARIES, 1, {"text": "x"}, "text", "either text or lines, found both"),
    (SUMMARIES, 2, {"text": ...}, "text", "either text or lines, found nothing"),
    (SUMMARIES, 1, {"lines": ["x", None]}, "lines[1]", "a string, found null"),
    (SUMMARIES, 2, {"setting": ""}, "setting", "a string that is not empty"),
    (SUMMARIES, 2, {"order": "sorted"}, "order", "one of 'given', 'top', 'middle'"),
    (SUMMARIES, 2, {"elapsed_minutes": -1}, "elapsed_minutes", "a finite number of at least 0, found integer -1"),
    (SUMMARIES, 2, {"elapsed_minutes": float("nan")}, "elapsed_minutes", "a finite number of at least 0, found number"),
    (LABELS, 1, {"summary_id": "s9"}, "summary_id", "the summary_id of a line in summaries.jsonl, found string 's9'"),
    (LABELS, 1, {"insight_id": "i9"}, "insight_id", "the insight_id of a line in insights.jsonl, found string 'i9'"),
    (LABELS, 1, {"insight_id": "k1"}, "insight_id", "query 'q1', found string 'k1' of query 'q2'"),
    (LABELS, 1, {"coverage": "partly"}, "coverage", "one of 'full', 'partial', 'none', found string 'partly'"),
    (LABELS, 1, {"coverage": None}, "coverage", "found null"),
    (LABELS, 2, {"bullet": ...}, "bullet", "a bullet's number from 1, or null where there is none"),
    (LABELS, 1, {"bullet": 0}, "bullet", "an integer of 32 bits of at least 1, found integer 0"),
    (LABELS, 1, {"bullet": 3}, "bullet", "a number up to 2, the summary's non-empty lines, or null"),
    (LABELS, 1, {"annotator": ""}, "annotator", "a string that is not empty"),
    (LABELS, 3, FOLDER[LABELS][0], "insight_id", "this annotator has not labelled above, found string 'i2'"),
]


@pytest.mark.parametrize(("name", "number", "change", "field", "words"), MALFORMED)
def test_malformed_input_gets_one_message_that_names_the_place(name, number, change, field, words) -> None:
    rows = [*FOLDER[name], FOLDER[name][-1]][: max(number, len(FOLDER[name]))]
    changed = {key: value for key, value in (rows[number - 1] | change).items() if value is not ...}
    files = FOLDER | {name: [*rows[: number - 1], changed, *rows[number:]]}
    with pytest.raises(InputError) as caught:
        list(read_jsonl({key: map(json.dumps, content) for key, content in files.items()}, Faults()))
    error = caught.value
    assert (error.file, error.record, error.field) == (name, f"line {number}", field)
    assert str(error).startswith(f"{name}: line {number}: field {field!r}: expected ")
    assert words in str(error)


@pytest.mark.parametrize(
    ("files", "name", "words"),
    [
        ({}, DOCUMENTS, "this file in the folder, found no file"),
        ({DOCUMENTS: []}, QUERIES, "this file in the folder, found only documents.jsonl"),
        ({DOCUMENTS: [], QUERIES: FOLDER[QUERIES]}, DOCUMENTS, "at least one document, found none"),
        ({DOCUMENTS: FOLDER[DOCUMENTS], QUERIES: []}, QUERIES, "at least one query, found none"),
        (
            FOLDER | {"insight.jsonl": []},
            "insight.jsonl",
            "only the files documents.jsonl, queries.jsonl, insights.jsonl",
        ),
    ],
)
def test_a_folder_without_its_files_or_with_others_is_refused(files: Files, name: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        read(files)
    assert str(caught.value).startswith(f"{name}: (root): field '(file)': expected {words}")


def test_a_second_annotator_labels_the_same_insight() -> None:
    corpus, _ = read(FOLDER | {LABELS: [*FOLDER[LABELS], FOLDER[LABELS][0] | {"annotator": "di"}]})
    assert [row["annotator"] for row in corpus.labels] == ["cy", "cy", "di"]
