"""Rankings by a system of one's own that is asked through the ledger: a server, or a class with `calls`."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Awaitable, Mapping, Sequence

from pydantic import JsonValue

from actors.chat.live import carry_out
from actors.chat.model import ChatModel
from actors.chat.opening import check_endpoint
from actors.retrieval.retriever import Resources, Retriever, Settings
from actors.storage.benchmark import Benchmark
from longform.chat.asking import Asks, Name
from longform.chat.call import ChatReply, ChatRequest
from longform.chat.own_systems import body_of, ranking_request, read_scores
from longform.records import Document, Query
from longform.retrieval.ranking import NOT_RANKED, OTHERS_VERSION, ranked, rounded
from longform.rows import RankedRow
from longform.settings.retrievers import HttpRetrieverSettings


class OwnRetriever(Retriever[Settings]):
    """A system of one's own, which may be asked through the ledger."""

    of_others = True

    @classmethod
    @abstractmethod
    def about(cls, settings: Settings, /) -> dict[str, JsonValue]:
        """Return the model that a request names, and the options that it holds."""

    @classmethod
    def client(cls, _settings: Settings, _benchmark: Benchmark, _query_text: str, /) -> ChatModel | None:
        """Return what carries a request about the benchmark; None: what its calls' settings name."""
        return None


class HttpRetriever(OwnRetriever[HttpRetrieverSettings]):
    """A server, which is asked by a stage of its own."""

    @classmethod
    def version(cls, _settings: HttpRetrieverSettings, /) -> list[str]:
        return [OTHERS_VERSION]

    @classmethod
    def about(cls, settings: HttpRetrieverSettings) -> dict[str, JsonValue]:
        return {"model": settings.model, "options": settings.options}

    @classmethod
    def check(cls, settings: HttpRetrieverSettings, resources: Resources) -> None:
        check_endpoint(settings.asked_model, with_key=resources.with_keys)


class OwnRanker:
    """
    Asks for the scores of a haystack's documents, a call a query.

    A query whose ranking cannot be had has one row, of no document, with the reason. Requests carry the fields *about*
    besides query and documents.
    """

    def __init__(self, name: str, about: dict[str, JsonValue], chat: ChatModel, *, depth: int) -> None:
        self._name, self._about, self._chat, self._depth = name, about, chat, depth

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
