"""Rankings by a system of one's own: a server, or a class, which may be asked through the ledger."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from math import isnan
from typing import SupportsFloat

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from actors.chat.model import ChatModel
from actors.chat.opening import check_endpoint
from actors.chat.own_system_client import ClassChat
from actors.python_class import check_class, class_version, listed, open_class, returned, user_code, wrong
from actors.retrieval.reranker import Means, Reranked, Reranker, reranked
from actors.retrieval.retriever import Haystack, Resources, Retriever, Scores, Settings
from actors.storage.benchmark import Benchmark
from longform.chat.asking import Asks, Name
from longform.chat.call import ChatReply, ChatRequest
from longform.chat.own_systems import body_of, documents_of, ranking_request, read_scores
from longform.given import Number
from longform.protocols import Ranker
from longform.records import Document, Query, shown_query
from longform.retrieval.ranking import NOT_RANKED, OTHERS_VERSION, ranked, ranked_rows, rounded
from longform.rows import RankedRow
from longform.settings.python_class import PythonClassSettings
from longform.settings.retrievers import HttpRetrieverSettings, PythonRerankerSettings, PythonRetrieverSettings


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

    def __init__(self, name: str, about: dict[str, JsonValue], *, depth: int) -> None:
        self._name, self._about, self._depth = name, about, depth

    def plan(self, query: Query, documents: Sequence[Document]) -> Asks[list[tuple[RankedRow, str | None]]]:
        """Return the plan that asks about a query; it returns rows, each with the reason if there is no ranking."""
        replies: dict[Name, ChatReply] = {}
        new: Mapping[Name, ChatRequest] = {0: ranking_request(self._about, query, documents)}
        while not replies:
            replies |= yield new
            new = {}
        reply = replies[0]
        if reply.text is None:
            (row,) = ranked_rows(query, self._name, [NOT_RANKED], [0.0], depth=1, of_others=True)
            return [({**row, "score": None}, reply.failure)]
        scores = [float("nan") if score is None else score for score in read_scores(reply.text)]
        ids = [document.doc_id for document in documents]
        rows = ranked_rows(query, self._name, ids, scores, depth=self._depth, of_others=True)
        return [(row, None) for row in rows]


def equal_scores(request: ChatRequest) -> str:
    """Return the reply to a ranking request that leaves all documents in their order."""
    documents = body_of(request)["documents"]
    assert isinstance(documents, list), "we have written it"
    return json.dumps([0.0] * len(documents))


_Scores = dict[str, Number | None]


class PythonRanker:
    """
    Holds an object of the user's class.

    Raises:
        UsageError: The class cannot be used.
        UserCodeError: Its constructor raised.
    """

    def __init__(self, settings: PythonClassSettings) -> None:
        self._settings = settings
        self._ranker = open_class(settings, Ranker)

    def scores(self, query: Query, documents: Sequence[Document]) -> NDArray[np.float64]:
        """
        Return the score of each document, shape (documents,); NaN: it is not ranked.

        Raises:
            UserCodeError: The class raised, or returned something else.
        """
        with user_code(self._settings, "rank"):
            found = self._ranker.rank(query, documents)
        return numbers(self._settings, found, len(documents), query)


def numbers(settings: PythonClassSettings, found: object, n_documents: int, query: Query) -> NDArray[np.float64]:
    """Return the scores that a class returned, shape (documents,); NaN: it is not ranked. UserCodeError: not finite."""
    expected = f"numbers, one a document (None: not ranked), for query {query.query_id!r}"
    scores = listed(settings, "rank", found, n_documents, expected)
    for place, score in enumerate(scores):
        if not isinstance(score, SupportsFloat | None):
            each = f"a number for each of {n_documents} documents, in their order, for query {query.query_id!r}"
            raise wrong(settings, "rank", f"{each}; document {place + 1}", score)
    named = {f"the score of document {place} for query {query.query_id!r}": one for place, one in enumerate(scores, 1)}
    taken = returned(settings, "rank", named, _Scores, expected=expected)
    return np.array([np.nan if score is None else score for score in taken.values()], dtype=np.float64)


class PythonRetriever(OwnRetriever[PythonRetrieverSettings]):
    """Ranks all documents of a haystack with the user's class."""

    @classmethod
    def version(cls, settings: PythonRetrieverSettings) -> list[str]:
        return [class_version(settings), OTHERS_VERSION]

    @classmethod
    def about(cls, settings: PythonRetrieverSettings) -> dict[str, JsonValue]:
        return {"model": f"{settings.class_}@{class_version(settings)}", "options": settings.options}

    @classmethod
    def client(cls, settings: PythonRetrieverSettings, benchmark: Benchmark, query_text: str) -> ClassChat:
        """Return what asks the class; raise as `PythonRanker` does."""
        ranker, asked = open_class(settings, Ranker), settings.asked_model
        assert asked is not None, "its rankings are asked for"

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

    @classmethod
    def check(cls, settings: PythonRetrieverSettings, _resources: Resources, /) -> None:
        check_class(settings, Ranker)

    def scores(self, haystack: Haystack, query: Query) -> Scores:
        return self._ranker.scores(self._resources.shown(query), haystack.documents)

    @cached_property
    def _ranker(self) -> PythonRanker:
        return PythonRanker(self._settings)


class PythonReranker(Reranker[PythonRerankerSettings]):
    """Scores the first documents of another's ranking with the user's class."""

    def __init__(self, settings: PythonRerankerSettings, means: Means) -> None:
        super().__init__(settings, means)
        self._ranker = PythonRanker(settings)

    @classmethod
    def version(cls, settings: PythonRerankerSettings, _prompts: str | None, /) -> dict[str, JsonValue]:
        return {"version": class_version(settings), "scores": OTHERS_VERSION}

    @classmethod
    def check(cls, settings: PythonRerankerSettings, _prompts: str | None, _with_keys: bool, /) -> None:
        check_class(settings, Ranker)

    async def order(self, query: Query, documents: Sequence[Document]) -> list[Reranked]:
        """
        Return all *documents* in their new order.

        The first of them, down to the depth, stand by descending score. Documents that the class does not rank follow
        those that it does.
        """
        scores = rounded(self._ranker.scores(query, documents[: self._settings.depth]), of_others=True)
        places = ranked(scores, of_others=True)
        return reranked([(place, float(scores[place])) for place in places], len(documents))
