"""The data of the matrix: one row a summary, points as in tables, unknown kept apart from 0."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from longform.report import text_pages
from longform.report.text_pages import MatrixRows, too_large
from longform.results.evidence import Unfolded
from longform.studies.schema_1 import with_tables
from longform.tables.packed import values_of

SCORES: Any = {
    ("alpha", "q1"): 0.4,
    ("alpha", "q2"): 0.2,
    ("alpha, repaired", "q1"): 0.5,
    ("beta", "q1"): 0.0,
    ("beta", "q2"): None,
}
WORDS = {"q1": ("h1", "first?"), "q2": ("h2", "second?")}


def results() -> Any:
    cells = [
        {"summarizer": name, "setting": "oracle", "judge": "j", "n_summaries": 2, "twin_of": None, "in_sample": []}
        for name in ("alpha", "beta")
    ]
    twin = {**cells[0], "summarizer": "alpha, repaired", "twin_of": "alpha", "in_sample": ["summarizer"]}
    measure = {"name": "joint", "title": "joint", "told": "a score", "unit": "points", "better": "higher"}
    older = {
        "title": "Three systems",
        "aggregate": "micro",
        "haystack_topics": {"h1": "Hills", "h2": "Rivers"},
        "measures": [measure],
        "cells": [*cells, twin],
    }
    return with_tables(older)


def summaries() -> Iterator[Unfolded]:
    ids = iter(("a1", "a2", "r1", "b1", "b2"))
    for (summarizer, query_id), value in SCORES.items():
        haystack, words = WORDS[query_id]
        summary: Any = {
            "summary_id": next(ids),
            "query_id": query_id,
            "setting": "oracle",
            "summarizer": summarizer,
            "scores": {"j": {"joint": value, "unlisted": 7.0}},
        }
        query: Any = {"haystack": haystack, "topic": None, "subtopic": None, "text": words, "targets": []}
        yield Unfolded(summary, query)


def test_scores_are_points_and_unknown_is_null() -> None:
    rows = MatrixRows(results())
    passed = list(summaries())
    for one in passed:
        rows.add(one)
    data = json.loads(rows.packed({one.summary["summary_id"]: "summaries-0001.html" for one in passed}))
    summaries_, queries, systems = (values_of(data[name]) for name in ("summaries", "queries", "systems"))
    assert [row["values"] for row in summaries_] == [[40.0], [20.0], [50.0], [0.0], [None]]
    assert [(one["text"], one["haystack"]) for one in queries] == [("first?", "Hills"), ("second?", "Rivers")]
    repaired = {"summarizer": "alpha, repaired", "setting": "oracle", "twin_of": "alpha", "in_sample": 1}
    assert systems[1] == repaired


def test_too_many_values_leave_the_page_out_with_a_reason(monkeypatch: Any) -> None:
    assert too_large(results()) is None
    monkeypatch.setattr(text_pages, "MOST_VALUES", 5)
    assert "6 values are above its limit of 5" in str(too_large(results()))
