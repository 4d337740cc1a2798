"""
The protocol of systems of one's own: a request as JSON, and the answer to it (docs/own-systems.md).

A request travels as the one message of a `ChatRequest`, so that the pool carries it as any call: its content is its
key. A reply's text is a summary, or the scores of a ranking as JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Self, cast

from pydantic import BaseModel, JsonValue, ValidationError, model_validator

from longform.chat.answers import stated_error
from longform.chat.call import ChatReply, ChatRequest, Message, Usage, failed, guarded
from longform.chat.completions import LARGEST_BODY
from longform.chat.failures import BAD_BODY, TOO_LARGE, ending_failure
from longform.given import Count, Dollars, Number, Text
from longform.records import Document, Query
from longform.text.visible import is_blank

PROTOCOL = 1
"""The version of requests and answers; it changes if a server has to."""

BAD_ANSWER = "bad_answer"
"""Begins the failure of an answer that does not fit its request: `bad_answer: expected 5 scores, found 4`."""

_REASON = re.compile(r"[\w :.,'-]{1,80}")
_MOST_TOKENS = 1000  # of output that a plan assumes; a server of one's own is not told

Task = Literal["summarize", "rank"]


class ShownDocuments(NamedTuple):
    """The documents of a request, as its answer may name them."""

    ids: tuple[str, ...]
    numbers: tuple[int, ...]

    def place(self, named: int | str) -> int | None:
        """Return the place of a document, from 0; None if none has this number or id."""
        known: Sequence[int | str] = self.ids if isinstance(named, str) else self.numbers
        return known.index(named) if named in known else None


def summary_request(
    about: Mapping[str, JsonValue], query: Query, documents: Sequence[Document], n_requested: int, *, repeat: int
) -> ChatRequest:
    """
    Ask for a summary.

    *about* says who is asked, with its options, and is a part of the content of the call. Documents are in the order of
    the prompt, cut to its budget. *n_requested* counts bullets or sentences, and *repeat* the times that the same was
    asked before.
    """
    asked: dict[str, JsonValue] = {"n_requested": n_requested, "repeat": repeat}
    body = {**_body("summarize", about, query, documents), **asked}
    return _request(body, repeat)


def ranking_request(about: Mapping[str, JsonValue], query: Query, documents: Sequence[Document]) -> ChatRequest:
    """Ask for a score of each of *documents*; the query's text is what is searched with."""
    return _request(_body("rank", about, query, documents), 0)


def _body(
    task: Task, about: Mapping[str, JsonValue], query: Query, documents: Sequence[Document]
) -> dict[str, JsonValue]:
    told: dict[str, JsonValue] = {"id": query.query_id, "text": query.text}
    told |= {name: value for name in ("topic", "subtopic") if (value := getattr(query, name)) is not None}
    return {
        "version": PROTOCOL,
        "task": task,
        **about,
        "query": told,
        "documents": [
            {"id": one.doc_id, "number": one.number, "title": one.title, "text": one.text} for one in documents
        ],
    }


def _request(body: Mapping[str, JsonValue], repeat: int) -> ChatRequest:
    text = json.dumps(body, ensure_ascii=False)
    return ChatRequest(messages=(Message("user", text),), max_tokens=_MOST_TOKENS, repeat=repeat)


def body_of(request: ChatRequest) -> dict[str, JsonValue]:
    """Return the body that a request travels as."""
    found: dict[str, JsonValue] = json.loads(request.messages[0].text)
    return found


def documents_of(body: Mapping[str, JsonValue], haystack_id: str) -> list[Document]:
    """Return the documents of a body."""
    rows = _shown_rows(body)
    return [Document(row["id"], haystack_id, int(row["number"]) - 1, row["title"], row["text"]) for row in rows]


def _shown_rows(body: Mapping[str, JsonValue]) -> list[dict[str, str]]:
    """Return the documents of a body as `summary_request` and the ranker's request wrote them."""
    return cast(list[dict[str, str]], body["documents"])


# ---------------------------------------------------------------- answers


class _Bullet(BaseModel):
    text: str
    citations: list[Count | Text] = []


class _Usage(BaseModel):
    input_tokens: Count | None = None
    cached_tokens: Count | None = None
    output_tokens: Count | None = None
    reasoning_tokens: Count | None = None


class _SystemAnswer(BaseModel):
    ways: ClassVar[tuple[str, str]]  # in which it may answer
    failure: str | None = None
    finish_reason: Any = None
    model: str | None = None
    cost_usd: Dollars | None = None
    usage: _Usage = _Usage()

    @model_validator(mode="after")
    def _is_one_thing(self) -> Self:
        if sum(getattr(self, name) is not None for name in (*self.ways, "failure")) != 1:
            raise ValueError(f"expected one of {', '.join(self.ways)} and failure")
        return self


class _Summary(_SystemAnswer):
    ways = "text", "bullets"
    text: str | None = None
    bullets: list[_Bullet] | None = None


class _Ranking(_SystemAnswer):
    ways = "scores", "ranking"
    scores: list[Number | None] | None = None
    ranking: list[Count | Text] | None = None


class _WrongError(Exception):
    """An answer that does not fit its request."""


def read_answer(request: ChatRequest, answer: bytes) -> ChatReply:
    """
    Return the reply in the body of an answer to *request*.

    Failures: `bad_body` (no JSON), `reply_too_large`, `bad_answer: REASON`, `empty_reply`, those of an ending, and what
    the server states.
    """
    if len(answer) > LARGEST_BODY:
        return failed(TOO_LARGE)
    try:
        content = json.loads(answer)
    except (ValueError, RecursionError):
        return failed(BAD_BODY)
    return read_content(request, content)


@guarded
def read_content(request: ChatRequest, content: JsonValue) -> ChatReply:
    """Return the reply that the JSON of an answer holds, as `read_answer`."""
    asked = body_of(request)
    rows = _shown_rows(asked)
    shown = ShownDocuments(tuple(row["id"] for row in rows), tuple(int(row["number"]) for row in rows))
    kind = _Summary if asked["task"] == "summarize" else _Ranking
    try:
        found = kind.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"] if "[" not in str(part))
        return stated_error(content) or failed(f"{BAD_ANSWER}: {place + ': ' if place else ''}{first['msg']}"[:200])
    try:
        text = _text(found, shown) if isinstance(found, _Summary) else _scores(found, shown)
    except _WrongError as error:
        return _replied(found, None, f"{BAD_ANSWER}: {error}")
    if found.failure is not None:
        said = found.failure if _REASON.fullmatch(found.failure) else "failed"
        return _replied(found, None, said)
    if (unfinished := ending_failure(found.finish_reason)) is not None:
        return _replied(found, None, unfinished)
    return _replied(found, *((None, "empty_reply") if is_blank(text) else (text, None)))


def _replied(found: _SystemAnswer, text: str | None, failure: str | None) -> ChatReply:
    return ChatReply(
        text=text,
        failure=failure,
        model=found.model,
        usage=Usage(**found.usage.model_dump()),
        cost_usd=found.cost_usd,
    )


def _text(found: _Summary, shown: ShownDocuments) -> str:
    """Return the summary as a text, a bullet a line, with citations as numbers."""
    if found.bullets is None:
        return (found.text or "").strip()
    lines = [_line(bullet, place, shown) for place, bullet in enumerate(found.bullets, 1) if bullet.text.strip()]
    return "\n".join(lines)


def _line(bullet: _Bullet, place: int, shown: ShownDocuments) -> str:
    numbers = [_number(cited, place, shown) for cited in bullet.citations]
    text = " ".join(bullet.text.split())
    return f"- {text}" + (f" [{', '.join(map(str, dict.fromkeys(numbers)))}]" if numbers else "")


def _number(cited: int | str, place: int, shown: ShownDocuments) -> int:
    if (found := shown.place(cited)) is None:
        raise _WrongError(f"bullet {place} cites {str(cited)[:40]!r}, which is none of the {len(shown.ids)} documents")
    return shown.numbers[found]


def _scores(found: _Ranking, shown: ShownDocuments) -> str:
    """Return the scores of all documents as JSON; null: it is not ranked."""
    if found.scores is not None:
        if len(found.scores) != len(shown.ids):
            raise _WrongError(f"expected {len(shown.ids)} scores, found {len(found.scores)}")
        return json.dumps(found.scores)
    ranked = found.ranking or []
    scores: list[float | None] = [None] * len(shown.ids)
    for rank, named in enumerate(ranked):
        if (place := shown.place(named)) is None:
            raise _WrongError(f"unknown document {str(named)[:40]!r}")
        if scores[place] is not None:
            raise _WrongError(f"document {str(named)[:40]!r} stands in the ranking twice")
        scores[place] = float(len(ranked) - rank)
    return json.dumps(scores)


def read_scores(text: str) -> list[float | None]:
    """Return the scores in the text of a reply to a ranking request."""
    found: list[float | None] = json.loads(text)
    return found
