"""
Rerank: `rankings` -> `rankings` of system RETRIEVER+RERANKER, the first documents scored anew. 1:1.

A task of a reranker that asks a chat model has many queries, so that calls about one document can go out together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from actors.chat.opening import Asking
from actors.python_class import actor_of
from actors.retrieval.reranker import Means, Ranking, Reranked, Reranker
from actors.storage.benchmark import Benchmark
from jobs.stages.items import WHOLE, Item, Source, SourceReader
from jobs.stages.retrieve import Ranked
from jobs.stages.stage import Plan, Plans, Site, Stage, Works
from longform.chat.asking import Asks
from longform.keys import content_key
from longform.records import shown_query
from longform.retrieval.ranking import NOT_RANKED
from longform.rows import RankingRow
from longform.schemas import DOCUMENTS, QUERIES, RANKINGS
from longform.settings.chat import ChatSettings
from longform.settings.experiment import Experiment
from longform.settings.retrievers import RerankerSettings
from longform.settings.strict import ResourcesSettings

VERSION = "rerank@1"
_RANKINGS_A_TASK = 16
_CHAT_RANKINGS_A_TASK = 64

Before = tuple[Ranking, list[RankingRow]]
"""A ranking before it is reordered: the documents, and the rows that they stand in."""


@dataclass(frozen=True, kw_only=True)
class Rerank(Stage[Ranked]):
    """Reorders the first documents of rankings by one reranker."""

    step = "rerank"
    reads: ClassVar = {"rankings": WHOLE, "documents": DOCUMENTS.names, "queries": QUERIES.names}
    table = "rankings"
    unit = "rankings"
    columns = RANKINGS.names
    holds_model = True

    bench: str  # URL
    reranker: str
    settings: RerankerSettings
    retrievers: tuple[str, ...]  # those that systems combine it with
    query_text: str  # what it is asked
    threads: int  # those of a cross-encoder

    @property
    def name(self) -> str:
        return f"rerank {self.reranker}"

    @property
    def chat(self) -> ChatSettings | None:
        return self.settings.asked_model

    @property
    def requests_at_once(self) -> int | None:
        return self.settings.requests_at_once

    @property
    def shares_documents(self) -> bool:
        return self.chat is not None

    @property
    def resources(self) -> ResourcesSettings | None:
        return self.settings.asked_resources

    @property
    def per_task(self) -> int:
        return _RANKINGS_A_TASK if self.chat is None else _CHAT_RANKINGS_A_TASK

    def items(self, plan: Plan) -> list[Item[Ranked]]:
        how = self.settings.identity | actor_of(self.settings, Reranker).version(self.settings, self.prompts)
        found = []
        for ranking in plan.of(Ranked):
            if ranking.key.reranker is None and ranking.key.retriever in self.retrievers:
                depends = [ranking.work_id, self.reranker, how, self.query_text, VERSION]
                named = ranking.key._replace(reranker=self.reranker)
                found.append(Item(content_key("reranked", *depends), named, (Source("rankings", ranking.work_id),)))
        return found

    def plans(self, asking: Asking, reader: SourceReader) -> Plans[Ranked]:
        reranker, rankings = self._reranker(asking), self._rankings(reader)

        def plan(given: Sequence[Item[Ranked]]) -> Asks[list[RankingRow]]:
            before = [rankings(one) for one in given]
            orders = yield from reranker.plan([ranking for ranking, _ in before])
            return self._after(given, before, orders)

        return lambda given: [plan(given)]

    def worker(self, reader: SourceReader) -> Works[Ranked]:
        reranker, rankings = self._reranker(None), self._rankings(reader)

        async def rerank(given: Sequence[Item[Ranked]]) -> list[RankingRow]:
            before = [rankings(one) for one in given]
            return self._after(given, before, await reranker.orders([ranking for ranking, _ in before]))

        return rerank

    def _reranker(self, asking: Asking | None) -> Reranker[RerankerSettings]:
        return actor_of(self.settings, Reranker)(self.settings, Means(self.threads, asking))

    def _rankings(self, reader: SourceReader) -> Callable[[Item[Ranked]], Before]:
        """Return what reads a ranking as it was, as a reranker takes it and as its rows."""
        benchmark = Benchmark(self.bench)

        def read(one: Item[Ranked]) -> Before:
            there = (row for row in reader.rows(one.sources[0], RankingRow) if row["doc_id"] != NOT_RANKED)
            rows = sorted(there, key=lambda row: row["rank"])
            query = benchmark.queries[one.key.query_id]
            documents = {document.doc_id: document for document in benchmark.documents(query.haystack_id)}
            shown = shown_query(query, query_text=self.query_text)
            return (shown, [documents[row["doc_id"]] for row in rows]), rows

        return read

    def _after(
        self, given: Sequence[Item[Ranked]], before: Sequence[Before], orders: Sequence[Sequence[Reranked]]
    ) -> list[RankingRow]:
        return [
            {
                **rows[place],
                "work_id": one.work_id,
                "system": one.key.system,
                "reranker": self.reranker,
                "rank": rank,
                "score": score,
                "failure": failure,
            }
            for one, (_, rows), order in zip(given, before, orders, strict=True)
            for rank, (place, score, failure) in enumerate(order)
        ]


def stages(experiment: Experiment, site: Site) -> list[Rerank]:
    """Return a stage for each reranker that a system names."""
    systems = experiment.all_systems()
    return [
        Rerank(
            run=site.run,
            bench=site.bench,
            reranker=name,
            settings=settings,
            retrievers=tuple(dict.fromkeys(system.retriever for system in systems if system.reranker == name)),
            query_text=experiment.query_text,
            prompts=experiment.prompts,
            threads=site.threads,
        )
        for name, settings in experiment.used_rerankers.items()
    ]
