"""Answers of systems of one's own: each form is read, and each that does not fit its request says why."""

from __future__ import annotations

import json
from typing import Any

import pytest

from longform.chat.call import call_id
from longform.chat.completions import LARGEST_BODY
from longform.chat.own_systems import (
    body_of,
    documents_of,
    ranking_request,
    read_answer,
    read_scores,
    summary_request,
)
from longform.records import Document, Query
from longform.settings.chat import HttpSummarizerSettings

QUERY = Query("q", "h", "What?", subtopic="Costs")
DOCUMENTS = [Document(f"d{place}", "h", place, None, f"Text {place}.") for place in (4, 0, 7)]
ABOUT: dict[str, Any] = {"model": "m-1", "options": {"depth": 2}}
SUMMARY = summary_request(ABOUT, QUERY, DOCUMENTS, 5, repeat=1)
RANKING = ranking_request(ABOUT, QUERY, DOCUMENTS)


def answered(request: Any, content: Any) -> Any:
    return read_answer(request, json.dumps(content).encode())


def test_a_request_says_all_that_decides_its_answer() -> None:
    body = body_of(SUMMARY)
    assert (body["version"], body["task"], body["model"], body["n_requested"], body["repeat"]) == (
        1, "summarize", "m-1", 5, 1,
    )  # fmt: skip
    assert body["query"] == {"id": "q", "text": "What?", "subtopic": "Costs"}
    assert documents_of(body, "h") == DOCUMENTS
    settings = HttpSummarizerSettings(kind="http", url="http://a/ask", model="m-1").asked_model
    other = summary_request({**ABOUT, "options": {"depth": 3}}, QUERY, DOCUMENTS, 5, repeat=1)
    assert call_id(settings, SUMMARY) != call_id(settings, other)


def test_citations_by_number_and_by_id_are_the_same() -> None:
    bullets = [{"text": "One.", "citations": ["d0", 5, "d0"]}, {"text": " ", "citations": []}, {"text": "Two."}]
    reply = answered(SUMMARY, {"bullets": bullets, "model": "m-1.2", "cost_usd": 0.5, "usage": {"input_tokens": 7}})
    assert reply.text == "- One. [1, 5]\n- Two."
    assert (reply.model, reply.cost_usd, reply.usage.input_tokens, reply.usage.output_tokens) == ("m-1.2", 0.5, 7, None)


def test_rankings_are_read_as_scores() -> None:
    assert read_scores(answered(RANKING, {"scores": [1, None, 2.5]}).text) == [1.0, None, 2.5]
    assert read_scores(answered(RANKING, {"ranking": ["d7", 5]}).text) == [1.0, None, 2.0]


@pytest.mark.parametrize(
    ("request_", "content", "failure"),
    [
        (SUMMARY, {"bullets": [{"text": "One.", "citations": [2]}]}, "bad_answer: bullet 1 cites '2', which is none"),
        (SUMMARY, {"bullets": [{"text": "One.", "citations": ["d1"]}]}, "bad_answer: bullet 1 cites 'd1'"),
        (SUMMARY, {"text": "a", "failure": "b"}, "bad_answer: "),
        (SUMMARY, [], "bad_answer: "),
        (SUMMARY, {"text": "a", "cost_usd": -1}, "bad_answer: cost_usd: "),
        (SUMMARY, {"text": " "}, "empty_reply"),
        (SUMMARY, {"bullets": []}, "empty_reply"),
        (SUMMARY, {"failure": "refused"}, "refused"),
        (SUMMARY, {"failure": "\u0000" * 10}, "failed"),
        (RANKING, {"scores": [1, 2]}, "bad_answer: expected 3 scores, found 2"),
        (RANKING, {"scores": [1, 2, float("inf")]}, "bad_answer: scores.2: Input should be a finite number"),
        (RANKING, {"ranking": ["d9"]}, "bad_answer: unknown document 'd9'"),
        (RANKING, {"ranking": ["d0", "d0"]}, "bad_answer: document 'd0' stands in the ranking twice"),
        (RANKING, {"text": "a"}, "bad_answer: "),
    ],
)
def test_what_does_not_fit_is_a_failure_with_its_reason(request_: Any, content: Any, failure: str) -> None:
    reply = answered(request_, content)
    assert reply.text is None
    assert reply.failure.startswith(failure)


def test_a_body_that_is_no_json_or_too_large_is_a_failure() -> None:
    assert read_answer(SUMMARY, b"<html>").failure == "bad_body"
    assert read_answer(SUMMARY, b" " * (LARGEST_BODY + 1)).failure == "reply_too_large"
