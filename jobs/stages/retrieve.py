"""
Retrieve: `queries` x `documents` -> `rankings` (query_id, system, doc_id). 1:N.

The rows of a task are one haystack's queries, so that its index and vectors are made once for all its retrievers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

from actors.python_class import actor_of
from actors.retrieval.retriever import Retriever
from jobs.stages.items import Given, Item, SourceReader
from jobs.stages.stage import Plan, Site, Stage, Works
from longform.axes import SystemAxes
from longform.keys import content_key, in_groups
from longform.rows import RankingRow
from longform.schemas import DOCUMENTS, QUERIES, RANKINGS
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
class Retrieve(Stage[Ranked]):
    """Ranks documents by the retrievers that systems begin with."""

    step = "retrieve"
    reads: ClassVar = {"queries": QUERIES.names, "documents": DOCUMENTS.names}
    table = "rankings"
    unit = "rankings"
    columns = RANKINGS.names

    bench: str  # URL
    names: tuple[str, ...]  # retrievers, those that others build on left out
    retrieval: RetrievalSettings  # all retrievers, and what they are asked
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

    def items(self, plan: Plan) -> list[Item[Ranked]]:
        return ranking_items(plan, self.retrieval, self.names)

    def groups(self, given: Sequence[Given[Ranked]]) -> Iterator[list[Given[Ranked]]]:
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

        def retrieve(given: Sequence[Given[Ranked]]) -> list[RankingRow]:
            """Rank for the queries of one haystack, each by the same retrievers."""
            work_ids = {(one.key.query_id, one.key.retriever): one.work_id for one in given}
            queries, retrievers = (list(dict.fromkeys(names)) for names in zip(*work_ids, strict=True))
            rows = ranker.rank(given[0].key.haystack_id, queries, retrievers)
            return [
                {
                    **row,
                    "work_id": work_ids[row["query_id"], row["system"]],
                    "retriever": row["system"],
                    "reranker": None,
                    "failure": None,
                    "passage": None,
                }
                for row in rows
            ]

        return retrieve


def ranking_items(plan: Plan, retrieval: RetrievalSettings, names: Sequence[str]) -> list[Item[Ranked]]:
    """Return the rankings that a run wants by the retrievers *names*."""
    dataset = plan.benchmark.manifest["dataset_hash"]
    given = {name: definition(retrieval.retrievers, name) for name in names}
    how = [retrieval.query_text, retrieval.ranking_depth, VERSION]
    haystacks = {query_id: plan.benchmark.queries[query_id].haystack_id for query_id in plan.query_ids}
    return [
        Item(content_key("rankings", dataset, query_id, name, settings, how), Ranked(query_id, haystack_id, name))
        for query_id, haystack_id in haystacks.items()
        for name, settings in given.items()
    ]


def stages(experiment: Experiment, site: Site) -> list[Retrieve]:
    """Return the stage that ranks for all systems whose retriever computes here."""
    names = tuple(name for name in experiment.used_retrievers if experiment.retrievers[name].asked_model is None)
    if not names:
        return []  # all texts are shipped, or servers rank
    return [Retrieve(run=site.run, bench=site.bench, names=names, retrieval=experiment.retrieval, threads=site.threads)]
