"""A run in SummHay's layout: its keys, what is left out, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from longform.errors import UsageError
from longform.formats.exported import ExportedFile, HaystackOfRun
from longform.formats.fields import Record
from longform.formats.rows import HaystackRows
from longform.formats.summhay import read_topic
from longform.formats.summhay_export import summhay_export
from longform.formats.summhay_labels import split_key
from longform.records import Document, Qrel, Query, Target
from tests.longform.formats.exporting import MadeRun


def summary(summary_id: str, setting: str, **changes: Any) -> dict[str, Any]:
    axes = {"reranker": None, "budget_tokens": None, "n_documents": None, "length_tokens": None}
    axes |= {"document_tokens": None, "permutation": None, "order": "given", "method": "plain"}
    ids = {"summary_id": summary_id, "query_id": "q", "summarizer": "writer", "setting": setting, "retriever": setting}
    return {**axes, **ids, "step": None, "cited_by": None, "repeat": 0, "text": "- One [1].\n- Two [2].", **changes}


def verdict(summary_id: str, answer: str | None, linked: int | None, judge: str = "judge") -> dict[str, Any]:
    ids = {"summary_id": summary_id, "judge": judge, "target_id": "i"}
    return {**ids, "answer": answer, "linked_unit": linked, "repeat": 0}


def exported(*summaries: dict[str, Any], **changes: Any) -> ExportedFile:
    haystack = HaystackOfRun(
        "h",
        documents=[Document(f"d{n}", "h", n, None, f"Text {n}.") for n in range(2)],
        queries=[Query("q", "h", "What?", topic="t", subtopic_name="s", subtopic="About s")],
        targets=[Target("i", "insight", "q", "h", 0, None, "One.")],
        qrels=[Qrel("q", "i", "d0", 1)],
        rankings=changes.pop("rankings", []),
        summaries=summaries,
        units={one["summary_id"]: ["- One [1].", "- Two [2]."] for one in summaries},
        verdicts={one["summary_id"]: [verdict(one["summary_id"], "full", 0)] for one in summaries},
    )
    (file,) = summhay_export(MadeRun([haystack._replace(**changes)]))
    return file


def again(file: ExportedFile) -> HaystackRows:
    return read_topic(Record(dict(file.content), file="topic.json", label="topic"))


def test_keys_have_the_retriever_and_the_orders_of_full_context_their_own() -> None:
    orders = [summary(f"s-{order}", f"Full/{order}", retriever="Full", order=order) for order in ("top", "random")]

    file = exported(summary("s", "Full"), summary("b", "bm25", budget_tokens=9), *orders)

    names = ["writer", "bm25_writer", "fl-ctxt-sort_writer", "Full/random_writer"]
    (subtopic,) = file.content["subtopics"]
    assert list(subtopic["summaries"]) == [f"summary_subtopic_{name}" for name in names]
    read = [(one["setting"], one["summarizer"]) for one in again(file).summaries]
    assert read == [(setting, "writer") for setting in ("full", "bm25", "fl-ctxt-sort", "Full/random")]


def test_labels_are_one_judge_s_and_the_rest_is_counted() -> None:
    verdicts = {"s": [verdict("s", "partial", 1), verdict("s", None, None), verdict("s", "full", 0, judge="other")]}

    file = exported(summary("s", "bm25"), summary("f", "bm25", text=None), verdicts=verdicts)

    (label,) = again(file).labels
    assert (label["annotator"], label["answer"], label["linked_unit"]) == ("judge", "partial", 1)
    assert file.left_out == {
        "failed summaries": 1,
        "verdicts of other": 1,
        "insights without a readable judgement": 1,
    }


def test_a_repeat_is_a_summarizer_of_its_own() -> None:
    file = exported(summary("s", "bm25"), summary("r", "bm25", repeat=1))

    assert [one["summarizer"] for one in again(file).summaries] == ["writer", "writer#2"]
    assert file.left_out == {"repeats, written as summarizers of their own": 1}


def test_a_ranking_that_leaves_documents_out_is_left_out() -> None:
    rows = [("whole", "d0", 2.0), ("whole", "d1", 1.0), ("short", "d0", 1.0)]
    rankings = [{"query_id": "q", "system": name, "doc_id": doc, "score": score} for name, doc, score in rows]

    file = exported(summary("s", "bm25"), rankings=rankings)

    assert {one["system"] for one in again(file).rankings} == {"released:whole"}
    assert file.left_out == {"rankings without a score for every document": 1}


def test_a_key_that_would_be_read_as_another_system_s_is_refused() -> None:
    with pytest.raises(UsageError, match=r"summary_subtopic_bm25_x would be read as 'x' in 'bm25'; rename"):
        exported(summary("s", "bm25"), summary("f", "Full", summarizer="bm25_x"))


def test_of_two_retrievers_that_fit_a_key_the_longer_is_read() -> None:
    assert split_key("bm25_long_writer", {"bm25", "bm25_long"}) == ("bm25_long", "writer")
    assert split_key("writer", {"bm25"}) == ("full", "writer")
