"""Rerank: `rankings` -> `rankings` of system RETRIEVER+RERANKER, the first documents scored anew. 1:1."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from actors.retrieval.opening import open_reranker, reranker_identity
from actors.retrieval.reranker import Reranker
from actors.storage.benchmark import Benchmark
from jobs.stages.items import WHOLE, Given, Item, Source, SourceReader
from jobs.stages.retrieve import Ranked
from jobs.stages.stage import Plan, Site, Stage, Works
from longform.keys import content_key
from longform.records import shown_query
from longform.rows import RankingRow
from longform.settings.experiment import Experiment
from longform.settings.retrievers import RerankerSettings
from longform.tables import DOCUMENTS, QUERIES, RANKINGS

VERSION = "rerank@1"


@dataclass(frozen=True, kw_only=True)
class Rerank(Stage[Ranked]):
    """
    Reorders the first documents of rankings.

    Attributes:
        bench: URL of the benchmark.
        pairs: Retrievers and rerankers that systems combine.
        rerankers: By their names.
        query_text: What they are asked.
        threads: Of a cross-encoder.
    """

    step = "rerank"
    reads: ClassVar = {"rankings": WHOLE, "documents": DOCUMENTS.names, "queries": QUERIES.names}
    table = "rankings"
    unit = "rankings"
    columns = RANKINGS.names
    per_task = 16
    holds_model = True

    bench: str
    pairs: tuple[tuple[str, str], ...]
    rerankers: Mapping[str, RerankerSettings]
    query_text: str
    threads: int

    def items(self, plan: Plan) -> list[Item[Ranked]]:
        how = {name: reranker_identity(settings) for name, settings in self.rerankers.items()}
        found = []
        for ranking in plan.of(Ranked):
            for retriever, reranker in self.pairs:
                if retriever == ranking.key.retriever:
                    named = ranking.key._replace(reranker=reranker)
                    depends = [ranking.work_id, reranker, how[reranker], self.query_text, VERSION]
                    source = Source("rankings", ranking.work_id)
                    found.append(Item(content_key("reranked", *depends), named, (source,)))
        return found

    def worker(self, reader: SourceReader) -> Works[Ranked]:
        benchmark = Benchmark(self.bench)
        opened: dict[str, Reranker] = {}

        async def rerank(given: Sequence[Given[Ranked]]) -> list[RankingRow]:
            found = await asyncio.gather(*(reranked(one, reader.rows(one.sources[0], RankingRow)) for one in given))
            return [row for rows in found for row in rows]

        async def reranked(one: Given[Ranked], rows: Sequence[RankingRow]) -> list[RankingRow]:
            name = one.key.reranker
            assert name is not None, one.key
            if name not in opened:
                opened[name] = open_reranker(self.rerankers[name], threads=self.threads)
            query = benchmark.queries[one.key.query_id]
            documents = {document.doc_id: document for document in benchmark.documents(query.haystack_id)}
            shown = shown_query(query, query_text=self.query_text)
            order = await opened[name].order(shown, [documents[row["doc_id"]] for row in rows])
            return [
                {
                    **rows[found.place],
                    "work_id": one.work_id,
                    "system": one.key.system,
                    "reranker": name,
                    "rank": rank,
                    "score": found.score,
                }
                for rank, found in enumerate(order)
            ]

        return rerank


def stages(experiment: Experiment, site: Site) -> list[Rerank]:
    """Return the stage that reorders; none if no system names a reranker."""
    pairs = tuple(dict.fromkeys((s.retriever, s.reranker) for s in experiment.all_systems() if s.reranker is not None))
    if not pairs:
        return []
    return [
        Rerank(
            run=site.run,
            bench=site.bench,
            pairs=pairs,
            rerankers={name: experiment.rerankers[name] for _, name in pairs},
            query_text=experiment.query_text,
            threads=site.threads,
        )
    ]
