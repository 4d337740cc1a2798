"""
Retrieve: `queries` x `documents` -> `rankings` (query_id, system, doc_id). 1:N.

What ranks here takes one haystack's queries as a task, so that its index and vectors are made once for all its
retrievers. A system of one's own is asked about one query at a time, through the ledger; a query whose ranking cannot
be had has one row, of no document, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

from actors.chat.model import ChatModel
from actors.chat.opening import Asking
from actors.python_class import actor_of
from actors.retrieval.own_ranker import OwnRanker, OwnRetriever, equal_scores
from actors.retrieval.retriever import Retriever
from actors.storage.benchmark import Benchmark
from jobs.stages.items import Item, SourceReader
from jobs.stages.stage import Plan, Plans, Site, Stage, Works
from longform.axes import SystemAxes
from longform.chat.asking import Asks
from longform.chat.call import ChatRequest
from longform.keys import content_key, in_groups
from longform.records import Document, Query, shown_query
from longform.rows import RankedRow, RankingRow
from longform.schemas import DOCUMENTS, QUERIES, RANKINGS
from longform.settings.chat import ChatSettings
from longform.settings.experiment import Experiment
from longform.settings.retrievers import RetrievalSettings, RetrieverSettings, with_bases
from longform.settings.strict import ResourcesSettings, together

VERSION = "retrieve@1"
_QUERIES_A_TASK = 64


class Ranked(NamedTuple):
    """A ranking."""

    query_id: str
    haystack_id: str
    retriever: str
    reranker: str | None = None  # the one that reordered its first documents; None: none

    @property
    def system(self) -> str:
        """The name it goes by in the tables."""
        return SystemAxes(self.retriever, self.reranker).ranking


def definition(retrievers: Mapping[str, RetrieverSettings], name: str) -> dict[str, Any]:
    """Return all that a retriever's rankings depend on: its settings, and those of the retrievers it builds on."""
    settings = retrievers[name]
    return settings.identity | {
        "made_by": actor_of(settings, Retriever).version(settings),
        "bases": [definition(retrievers, base) for base in settings.bases],
    }


@dataclass(frozen=True, kw_only=True)
class _Retrieves(Stage[Ranked]):
    """Ranks documents by some retrievers."""

    step = "retrieve"
    reads: ClassVar = {"queries": QUERIES.names, "documents": DOCUMENTS.names}
    table = "rankings"
    unit = "rankings"
    columns = RANKINGS.names

    bench: str  # URL
    names: tuple[str, ...]  # retrievers, those that others build on left out
    retrieval: RetrievalSettings  # all retrievers, and what they are asked

    def items(self, plan: Plan) -> list[Item[Ranked]]:
        dataset = plan.benchmark.manifest["dataset_hash"]
        given = {name: definition(self.retrieval.retrievers, name) for name in self.names}
        how = [self.retrieval.query_text, self.retrieval.ranking_depth, VERSION]
        haystacks = {query_id: plan.benchmark.queries[query_id].haystack_id for query_id in plan.query_ids}
        return [
            Item(content_key("rankings", dataset, query_id, name, settings, how), Ranked(query_id, haystack_id, name))
            for query_id, haystack_id in haystacks.items()
            for name, settings in given.items()
        ]


@dataclass(frozen=True, kw_only=True)
class Retrieve(_Retrieves):
    """Ranks by the retrievers that compute here."""

    threads: int  # those of an encoder

    @property
    def holds_model(self) -> bool:
        return any(retriever.loads_model for retriever in self.retrieval.retrievers.values())

    @property
    def resources(self) -> ResourcesSettings | None:
        held = with_bases(self.retrieval.retrievers, self.names)
        return together(self.retrieval.retrievers[name].asked_resources for name in held)

    @property
    def embeds(self) -> bool:
        return self.holds_model

    def on_cores(self, cores: int) -> Self:
        return replace(self, threads=cores)

    def groups(self, given: Sequence[Item[Ranked]]) -> Iterator[list[Item[Ranked]]]:
        """Give queries of one haystack that lack the same retrievers, together."""
        lacking = in_groups((one.key.query_id, one) for one in given)
        alike = in_groups(
            ((of_query[0].key.haystack_id, tuple(one.key.retriever for one in of_query)), of_query)
            for of_query in lacking.values()
        )
        for queries in alike.values():
            for start in range(0, len(queries), _QUERIES_A_TASK):
                yield [one for of_query in queries[start : start + _QUERIES_A_TASK] for one in of_query]

    def worker(self, _reader: SourceReader) -> Works[Ranked]:
        from actors.retrieval.haystack_retriever import HaystackRetriever

        ranker = HaystackRetriever(self.bench, self.retrieval, threads=self.threads)

        def retrieve(given: Sequence[Item[Ranked]]) -> list[RankingRow]:
            """Rank for the queries of one haystack, each by the same retrievers."""
            work_ids = {(one.key.query_id, one.key.retriever): one.work_id for one in given}
            queries, retrievers = (list(dict.fromkeys(names)) for names in zip(*work_ids, strict=True))
            rows = ranker.rank(given[0].key.haystack_id, queries, retrievers)
            return [_row(row, work_ids[row["query_id"], row["system"]], row["system"]) for row in rows]

        return retrieve


@dataclass(frozen=True, kw_only=True)
class RetrieveAsked(_Retrieves):
    """Asks one retriever for rankings."""

    @property
    def name(self) -> str:
        return f"retrieve {self._retriever}"

    @property
    def chat(self) -> ChatSettings | None:
        return self._settings.asked_model

    @property
    def _retriever(self) -> str:
        (name,) = self.names
        return name

    @property
    def _settings(self) -> RetrieverSettings:
        return self.retrieval.retrievers[self._retriever]

    def assumed(self, request: ChatRequest) -> str:
        """Assume that a ranking leaves the documents in their order."""
        return equal_scores(request)

    def plans(self, _asking: Asking, _reader: SourceReader) -> Plans[Ranked]:
        about, benchmark = actor_of(self._settings, OwnRetriever).about(self._settings), Benchmark(self.bench)
        ranker = OwnRanker(self._retriever, about, depth=self.retrieval.ranking_depth)

        def plan(one: Item[Ranked]) -> Asks[list[RankingRow]]:
            found = yield from ranker.plan(*self._asked(benchmark, one))
            return [_row(row, one.work_id, one.key.retriever, failure) for row, failure in found]

        return lambda given: [plan(one) for one in given]

    def client(self) -> ChatModel | None:
        retrieval = self.retrieval
        return actor_of(self._settings, OwnRetriever).client(
            self._settings, Benchmark(self.bench), retrieval.query_text
        )

    def _asked(self, benchmark: Benchmark, one: Item[Ranked]) -> tuple[Query, Sequence[Document]]:
        query = shown_query(benchmark.queries[one.key.query_id], query_text=self.retrieval.query_text)
        return query, benchmark.documents(query.haystack_id)


def _row(ranked: RankedRow, work_id: str, retriever: str, failure: str | None = None) -> RankingRow:
    return {**ranked, "work_id": work_id, "retriever": retriever, "reranker": None, "failure": failure, "passage": None}


def stages(experiment: Experiment, site: Site) -> list[Retrieve | RetrieveAsked]:
    """Return the stage that ranks for all systems whose retriever computes here, and one for each that is asked."""
    retrievers = experiment.retrievers
    given: dict[str, Any] = {"run": site.run, "bench": site.bench, "retrieval": experiment.retrieval}
    here = tuple(name for name in experiment.used_retrievers if retrievers[name].asked_model is None)
    asked = [name for name in experiment.used_retrievers if retrievers[name].asked_model is not None]
    computes = [Retrieve(names=here, threads=site.threads, **given)] if here else []  # else all texts are shipped
    return [*computes, *(RetrieveAsked(names=(name,), **given) for name in asked)]
