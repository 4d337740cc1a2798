"""Rankings by a system of one's own that is asked through the ledger: a server, or a class with `calls`."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Mapping, Sequence
from math import isnan

from pydantic import JsonValue

from actors.chat.live import carry_out
from actors.chat.model import ChatModel
from actors.chat.own_system_client import ClassChat
from actors.python_class import class_version, open_class
from actors.retrieval.python_ranker import numbers
from actors.storage.benchmark import Benchmark
from longform.chat.asking import Asks, Name
from longform.chat.call import ChatReply, ChatRequest
from longform.chat.own_systems import body_of, documents_of, ranking_request, read_scores
from longform.protocols import Ranker
from longform.records import Document, Query, shown_query
from longform.retrieval.ranking import NOT_RANKED, ranked, rounded
from longform.rows import RankedRow
from longform.settings.chat import ChatSettings
from longform.settings.retrievers import HttpRetrieverSettings, OwnRetrieverSettings, PythonRetrieverSettings


class OwnRanker:
    """
    Asks for the scores of a haystack's documents, a call a query.

    A query whose ranking cannot be had has one row, of no document, with the reason.

    Args:
        name: Of the retriever.
        settings: Of it.
        chat: Carries the calls.
        depth: Documents kept of each ranking.
    """

    def __init__(self, name: str, settings: OwnRetrieverSettings, chat: ChatModel, *, depth: int) -> None:
        self._name, self._chat, self._depth = name, chat, depth
        asked = settings.model if isinstance(settings, HttpRetrieverSettings) else _class_name(settings)
        self._about: dict[str, JsonValue] = {"model": asked, "options": settings.options}

    async def rank(self, query: Query, documents: Sequence[Document]) -> list[tuple[RankedRow, str | None]]:
        """Return the rows of a ranking, each with the reason if there is none."""
        return await carry_out(self.plan(query, documents), self._send)

    def plan(self, query: Query, documents: Sequence[Document]) -> Asks[list[tuple[RankedRow, str | None]]]:
        """Return the plan that asks about a query, whose text is what is searched with."""
        replies: dict[Name, ChatReply] = {}
        new: Mapping[Name, ChatRequest] = {0: ranking_request(self._about, query, documents)}
        while not replies:
            replies |= yield new
            new = {}
        reply = replies[0]
        if reply.text is None:
            return [(self._row(query, NOT_RANKED, 0, None), reply.failure)]
        found = [float("nan") if one is None else one for one in read_scores(reply.text)]
        scores = rounded(found, of_others=True)
        places = ranked(scores, depth=self._depth, of_others=True)
        return [
            (self._row(query, documents[place].doc_id, rank, float(scores[place])), None)
            for rank, place in enumerate(places)
        ]

    def _row(self, query: Query, doc_id: str, rank: int, score: float | None) -> RankedRow:
        return {
            "query_id": query.query_id,
            "haystack_id": query.haystack_id,
            "system": self._name,
            "doc_id": doc_id,
            "rank": rank,
            "score": score,
        }

    def _send(self, requests: Mapping[Name, ChatRequest]) -> Mapping[Name, Awaitable[ChatReply]]:
        return {name: self._chat.complete(request) for name, request in requests.items()}


def equal_scores(request: ChatRequest) -> str:
    """Return the reply to a ranking request that leaves all documents in their order."""
    documents = body_of(request)["documents"]
    assert isinstance(documents, list), "we have written it"
    return json.dumps([0.0] * len(documents))


def class_chat(
    settings: PythonRetrieverSettings, asked: ChatSettings, benchmark: Benchmark, *, query_text: str
) -> ClassChat:
    """
    Return what asks the class about the queries of *benchmark*.

    Raises:
        UsageError: The class cannot be used.
        UserCodeError: Its constructor raised.
    """
    ranker = open_class(settings, Ranker)

    def query_of(request: ChatRequest) -> Query:
        told = body_of(request)["query"]
        assert isinstance(told, dict), "we have written it"
        return shown_query(benchmark.queries[str(told["id"])], query_text=query_text)

    def given(request: ChatRequest) -> tuple[object, ...]:
        query = query_of(request)
        return query, documents_of(body_of(request), query.haystack_id)

    def read(request: ChatRequest, returned: object) -> ChatReply:
        query = query_of(request)
        found = numbers(settings, returned, len(documents_of(body_of(request), "")), query)
        return ChatReply(text=json.dumps([None if isnan(one) else one for one in found.tolist()]), failure=None)

    return ClassChat(asked, settings, ranker.rank, given=given, read=read)


def _class_name(settings: PythonRetrieverSettings) -> str:
    return f"{settings.class_}@{class_version(settings)}"
