"""SummHay's published files, field by field."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from longform.errors import InputError
from longform.formats.json_files import json_object, json_objects
from longform.formats.summhay import read_human_study, read_topic

TOPIC: dict[str, Any] = {
    "topic_id": "t",
    "topic": "A bridge",
    "topic_metadata": {"participants": ["Ann", "Bo"]},
    "documents": [
        {"document_id": "d1", "document_text": "one", "insights_included": ["i1"]},
        {"document_id": "d2", "document_text": "two", "insights_included": ["i1", "i2"]},
    ],
    "subtopics": [
        {
            "subtopic_id": "s",
            "subtopic_name": "money",
            "subtopic": "what it costs",
            "query": "What does it cost?",
            "insights": [
                {"insight_id": "i1", "insight_name": "price", "insight": "It costs 5 million."},
                {"insight_id": "i2", "insight_name": "debt", "insight": "It needs a loan."},
            ],
            "retriever": {
                "keywords": {"d1": 0.5, "d2": 0.5, "gone": 0.9},
                "dwzhu/e5-base-4k": {"d1": 1, "d2": 2},
            },
            "summaries": {
                "summary_subtopic_gpt-4o": ["- Five million [1, 2]", "- A loan [2]"],
                "summary_subtopic_dwzhu/e5-base-4k_gpt-4o": ["- Nothing"],
                "summary_subtopic_fl-ctxt-rev-sort_gpt-4o": ["- Nothing"],
            },
            "eval_summaries": {
                "summary_subtopic_gpt-4o": [
                    {"insight_id": "i1", "coverage": "FULL_COVERAGE", "bullet_id": 1},
                    {"insight_id": "i2", "coverage": "NO_COVERAGE", "bullet_id": "NA"},
                ]
            },
        }
    ],
}


def read(topic: dict[str, Any]) -> Any:
    return read_topic(json_object(json.dumps(topic), "topic_t.json"))


def test_topic_becomes_rows_of_every_table() -> None:
    rows = read(TOPIC)

    assert [(d.doc_id, d.doc_index) for d in rows.documents] == [("d1", 0), ("d2", 1)]
    assert rows.queries[0].domain == "conversation"
    assert rows.queries[0].participants == ["Ann", "Bo"]
    assert [(q.target_id, q.doc_id) for q in rows.qrels] == [("i1", "d1"), ("i1", "d2"), ("i2", "d2")]
    assert [(s["setting"], s["summarizer"], s["order"]) for s in rows.summaries] == [
        ("full", "gpt-4o", "given"),
        ("longembed", "gpt-4o", "given"),
        ("fl-ctxt-rev-sort", "gpt-4o", "bottom"),
    ]
    assert [(v["answer"], v["linked_unit"]) for v in rows.labels] == [("full", 0), ("none", None)]


def test_ties_of_released_scores_keep_the_haystack_order_and_unknown_documents_are_left_out() -> None:
    """The published maps also score documents of earlier generations."""
    rows = read(TOPIC)

    assert [r["doc_id"] for r in rows.rankings if r["system"] == "released:keywords"] == ["d1", "d2"]
    assert [r["doc_id"] for r in rows.rankings if r["system"] == "released:longembed"] == ["d2", "d1"]


def set_at(path: list[Any], value: Any) -> Callable[[dict[str, Any]], None]:
    def change(topic: dict[str, Any]) -> None:
        place: Any = topic
        for step in path[:-1]:
            place = place[step]
        if value is ...:
            del place[path[-1]]
        else:
            place[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "record", "field"),
    [
        (set_at(["topic_id"], ...), "(root)", "topic_id"),
        (set_at(["documents"], []), "(root)", "documents"),
        (set_at(["documents", 1, "document_id"], "d1"), "(root)", "documents"),
        (set_at(["documents", 0, "document_text"], 5), "documents[0]", "document_text"),
        (set_at(["documents", 0, "insights_included"], ["i9"]), "documents[0]", "insights_included"),
        (set_at(["subtopics", 0, "query"], " "), "subtopics[0]", "query"),
        (set_at(["subtopics", 0, "insights", 1, "insight"], ...), "subtopics[0].insights[1]", "insight"),
        (set_at(["subtopics", 0, "insights", 1, "insight_id"], "i1"), "(root)", "subtopics"),
        (set_at(["subtopics", 0, "retriever", "keywords", "d1"], "high"), "subtopics[0].retriever.keywords", "d1"),
        (set_at(["subtopics", 0, "summaries", "gpt"], ["- x"]), "subtopics[0].summaries", "gpt"),
        (
            set_at(["subtopics", 0, "eval_summaries", "summary_subtopic_gpt-4o", 0, "coverage"], "MOSTLY"),
            "subtopics[0].eval_summaries.summary_subtopic_gpt-4o[0]",
            "coverage",
        ),
        (
            set_at(["subtopics", 0, "eval_summaries", "summary_subtopic_gpt-4o", 0, "insight_id"], "i9"),
            "subtopics[0].eval_summaries.summary_subtopic_gpt-4o[0]",
            "insight_id",
        ),
        (
            set_at(["subtopics", 0, "eval_summaries", "summary_subtopic_x"], []),
            "subtopics[0].eval_summaries",
            "summary_subtopic_x",
        ),
    ],
)
def test_malformed_topic_is_named_by_file_record_and_field(
    change: Callable[[dict[str, Any]], None], record: str, field: str
) -> None:
    topic = copy.deepcopy(TOPIC)
    change(topic)

    with pytest.raises(InputError, match=r"topic_t.json: .*expected .*found ") as caught:
        read(topic)

    assert (caught.value.record, caught.value.field) == (record, field)


def test_released_haystacks_have_the_published_sizes(released: Path) -> None:
    for name, n_insights in {"topic_news3": 79, "topic_news5": 54, "topic_conv5": 55}.items():
        content = gzip.decompress((released / "summhay" / f"{name}.json.gz").read_bytes())
        rows = read_topic(json_object(content, name))
        assert (len(rows.documents), len(rows.targets)) == (100, n_insights)
        assert rows.queries[0].domain == ("conversation" if "conv" in name else "news")


def test_human_study_keeps_human_and_machine_bullet_numbers_apart(released: Path) -> None:
    """People's bullet ids count from 0 in the file, the judges' from 1."""
    content = gzip.decompress((released / "summhay" / "eval_benchmark_data.json.gz").read_bytes())
    (rows,) = read_human_study(json_objects(content, "eval_benchmark_data.json"))
    human = {(r["summary_id"], r["target_id"]): r["linked_unit"] for r in rows.labels if r["annotator"] == "human"}
    gpt = {
        (r["summary_id"], r["target_id"]): r["linked_unit"] for r in rows.labels if r["annotator"] == "released:gpt-4o"
    }
    both = [key for key in human if human[key] is not None and gpt[key] is not None]

    assert len(human) == 562
    assert sum(human[key] == gpt[key] for key in both) / len(both) > 0.9
    assert len({r["summary_id"] for r in rows.summaries}) == 61
