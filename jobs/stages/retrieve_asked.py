"""
Retrieve by a system of one's own: `queries` x `documents` -> `rankings`, a call a query through the ledger. 1:N.

A query whose ranking cannot be had has one row, of no document, with the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from actors.chat.model import ChatModel
from actors.chat.opening import Asking
from actors.python_class import actor_of
from actors.retrieval.own_ranker import OwnRanker, OwnRetriever, equal_scores
from actors.storage.benchmark import Benchmark
from jobs.stages.items import Given, Item, SourceReader
from jobs.stages.retrieve import Ranked, ranking_items
from jobs.stages.stage import Plan, Plans, Site, Stage, Works
from longform.chat.asking import Asks
from longform.chat.call import ChatRequest
from longform.records import Document, Query, shown_query
from longform.rows import RankedRow, RankingRow
from longform.schemas import DOCUMENTS, QUERIES, RANKINGS
from longform.settings.chat import ChatSettings
from longform.settings.experiment import Experiment
from longform.settings.retrievers import RetrievalSettings, RetrieverSettings


@dataclass(frozen=True, kw_only=True)
class RetrieveAsked(Stage[Ranked]):
    """Asks one retriever for rankings."""

    step = "retrieve"
    reads: ClassVar = {"documents": DOCUMENTS.names, "queries": QUERIES.names}
    table = "rankings"
    unit = "rankings"
    columns = RANKINGS.names

    bench: str  # URL
    retriever: str
    settings: RetrieverSettings
    retrieval: RetrievalSettings  # settings of all retrievers

    @property
    def name(self) -> str:
        return f"retrieve {self.retriever}"

    @property
    def chat(self) -> ChatSettings | None:
        return self.settings.asked_model

    def items(self, plan: Plan) -> list[Item[Ranked]]:
        return ranking_items(plan, self.retrieval, (self.retriever,))

    def assumed(self, request: ChatRequest) -> str:
        """Assume that a ranking leaves the documents in their order."""
        return equal_scores(request)

    def plans(self, asking: Asking, _reader: SourceReader) -> Plans[Ranked]:
        ranker, benchmark = self._ranker(asking.chat), Benchmark(self.bench)

        def plan(one: Given[Ranked]) -> Asks[list[RankingRow]]:
            found = yield from ranker.plan(*self._asked(benchmark, one))
            return _rows(one, found)

        return lambda given: [plan(one) for one in given]

    def worker(self, _reader: SourceReader) -> Works[Ranked]:
        actor, benchmark = actor_of(self.settings, OwnRetriever), Benchmark(self.bench)
        asking = self.asking(actor.client(self.settings, benchmark, self.retrieval.query_text))
        assert asking is not None, "its rankings are asked for"
        ranker = self._ranker(asking.chat)

        async def retrieve(given: Sequence[Given[Ranked]]) -> list[RankingRow]:
            (one,) = given
            return _rows(one, await ranker.rank(*self._asked(benchmark, one)))

        return retrieve

    def _ranker(self, chat: ChatModel) -> OwnRanker:
        about = actor_of(self.settings, OwnRetriever).about(self.settings)
        return OwnRanker(self.retriever, about, chat, depth=self.retrieval.ranking_depth)

    def _asked(self, benchmark: Benchmark, one: Given[Ranked]) -> tuple[Query, Sequence[Document]]:
        query = shown_query(benchmark.queries[one.key.query_id], query_text=self.retrieval.query_text)
        return query, benchmark.documents(query.haystack_id)


def _rows(one: Given[Ranked], found: Sequence[tuple[RankedRow, str | None]]) -> list[RankingRow]:
    return [
        {
            **row,
            "work_id": one.work_id,
            "retriever": one.key.retriever,
            "reranker": None,
            "failure": failure,
            "passage": None,
        }
        for row, failure in found
    ]


def stages(experiment: Experiment, site: Site) -> list[RetrieveAsked]:
    """Return a stage for each retriever that is asked through the ledger."""
    return [
        RetrieveAsked(
            run=site.run,
            bench=site.bench,
            retriever=name,
            settings=experiment.retrievers[name],
            retrieval=experiment.retrieval,
        )
        for name in experiment.used_retrievers
        if experiment.retrievers[name].asked_model is not None
    ]
