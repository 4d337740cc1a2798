"""The search for documents: decomposed or not, what is found and how it is ranked."""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from longform.synthesis.asking import Log, Reply
from longform.synthesis.key_points.search import Corpus, Searched, SourceDocument, find_documents, segments
from longform.synthesis.key_points.settings import SearchSettings
from tests.longform.synthesis.synthesizing import Told

TEXTS = {"bridge": "bridge bridge river", "river": "river fish", "harbour": "harbour ships", "choir": "choir songs"}
CORPUS = Corpus([SourceDocument(doc_id, None, text) for doc_id, text in TEXTS.items()])


def embed(_: str, texts: Sequence[str]) -> NDArray[np.float32]:
    return np.array([[float(text.startswith(("Why", "choir"))), 1.0] for text in texts], dtype=np.float32)


def found(question: str, *replies: str, **settings: Any) -> tuple[Searched, Log]:
    log = Log()
    plan = find_documents(question, CORPUS, SearchSettings.model_validate(settings), log, replies=2, embed=embed)
    return Told(searches=replies or [""]).run(plan), log


def test_the_question_itself_is_searched() -> None:
    result, _ = found("Why a bridge over a river?")
    assert result.searches == ["Why a bridge over a river?"]
    assert [one.doc_id for one in result.documents] == ["bridge", "river"]


def test_sub_questions_find_more_and_the_question_ranks_what_was_found() -> None:
    reply = json.dumps({"kind": "complex", "sub_questions": ["ships of a harbour", "songs of a choir", "a river"]})
    result, log = found("Why a bridge over a river?", reply, decomposed=True, per_search=1, documents=2)
    assert (result.kind, len(result.searches)) == ("complex", 3)
    assert [one.doc_id for one in result.documents] == ["river", "harbour"]
    assert [(one.check, one.verdict) for one in log.attempts] == [
        ("question decomposed", "accepted"),
        ("documents found", "accepted"),
    ]


def test_a_simple_question_is_searched_as_it_stands() -> None:
    result, _ = found("songs?", json.dumps({"kind": "simple", "sub_questions": []}), decomposed=True)
    assert (result.kind, result.searches) == ("simple", ["songs?"])


@pytest.mark.parametrize("reply", ["First, ships.", '{"kind": "complex", "sub_questions": []}', "!empty_reply"])
def test_a_question_that_nobody_takes_apart_is_searched_itself(reply: str) -> None:
    result, log = found("songs?", reply, decomposed=True)
    assert (result.kind, result.searches) == (None, ["songs?"])
    assert [one.verdict for one in log.attempts] == ["rejected", "exhausted", "accepted"]


def test_an_encoder_ranks_what_was_found_by_cosine() -> None:
    result, _ = found("Why a choir, a bridge, a river?", encoder="any")
    assert result.documents[0].doc_id == "choir"


def test_segments_of_the_documents_are_held_against_the_question() -> None:
    result, _ = found("Why a choir?", segments="any", segment_words=1)
    assert [one.doc_id for one in result.documents] == ["choir"]
    assert result.fits == [2.0, 1.0]  # `choir`, `songs`
    assert segments("one two three", 2) == ["one two", "three"]


HITS = [
    {"id": "web", "title": "W", "text": "A bridge over a river."},
    {"url": "http://x", "text": "Ships."},
    {"id": "e"},
]


def test_an_endpoint_s_documents_stand_beside_those_of_files() -> None:
    log, question = Log(), "Why a bridge over a river?"
    settings = SearchSettings.model_validate(
        {"endpoints": [{"url": "http://one"}, {"url": "http://two"}], "per_search": 2}
    )
    plan = find_documents(question, CORPUS, settings, log, replies=2, embed=embed)
    asks = next(plan)
    assert [(ask.role, ask.prompt, ask.fields["query"], ask.fields["n"]) for ask in asks] == [
        ("search", "http://one", question, "2"),
        ("search", "http://two", question, "2"),
    ]
    with pytest.raises(StopIteration) as ended:
        plan.send([Reply(json.dumps(HITS), None), Reply('{"no": "list"}', None)])
    result: Searched = ended.value.value
    assert {one.doc_id for one in result.documents} == {"bridge", "river", "web", "http://x"}
    assert [one["doc_id"] for one in result.fetched] == [
        o.doc_id for o in result.documents if o.doc_id in {"web", "http://x"}
    ]
    assert [(one.verdict, one.reason) for one in log.attempts if one.check == "search answered"] == [
        ("rejected", "http://one: a document without text, or without id and url"),
        ("accepted", None),
        ("exhausted", "http://two: no list of documents"),
    ]


def test_nothing_found_is_given_up_with_the_reason() -> None:
    result, log = found("zebras")
    assert result.documents == ()
    assert (log.attempts[0].check, log.attempts[0].verdict) == ("documents found", "exhausted")


def test_a_corpus_travels_without_its_index() -> None:
    CORPUS.scores("river")
    copy = pickle.loads(pickle.dumps(CORPUS))
    assert "_index" not in vars(copy)
    assert copy.scores("river") == CORPUS.scores("river")
