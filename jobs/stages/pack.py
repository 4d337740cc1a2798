"""Pack: `rankings` -> `contexts` (query_id, system, order): doc ids in prompt order, tokens, what was cut. N:1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, NamedTuple

from actors.python_class import actor_of
from actors.retrieval.importance import Importance
from actors.storage.benchmark import Benchmark
from jobs.stages.items import Item, Source, SourceReader
from jobs.stages.retrieve import Ranked
from jobs.stages.stage import Plan, Site, Stage, Works
from longform.axes import SystemAxes
from longform.keys import content_key, stable_seed
from longform.retrieval.packing import BY_IMPORTANCE, capped, pack, whole_within
from longform.retrieval.ranking import NOT_RANKED
from longform.rows import ContextRow, RankingRow
from longform.schemas import CONTEXTS, DOCUMENTS
from longform.settings.experiment import Experiment
from longform.settings.systems import ImportanceSettings, Order, System

VERSION = "pack@2"


class Packed(NamedTuple):
    """A context that the run wants."""

    query_id: str
    retriever: str
    reranker: str | None
    budget_tokens: int | None
    n_documents: int | None
    length_tokens: int | None
    order: Order
    permutation: int | None
    document_tokens: int | None = None

    @property
    def all_documents(self) -> bool:
        """Return whether nothing but a budget keeps ranked documents, or parts of them, out."""
        return self.n_documents is None and self.length_tokens is None and self.document_tokens is None


HowPacked = tuple[str, str | None, int | None, int | None, int | None, Order, int | None, int | None]
"""A `Packed` without its query."""


def how_packed(system: System) -> HowPacked:
    """Return how the contexts of a *system* are packed."""
    assert system.order is not None, "the orders of a grid are known"
    length = (system.budget_tokens, system.n_documents, system.length_tokens)
    return (system.retriever, system.reranker, *length, system.order, system.permutation, system.document_tokens)


@dataclass(frozen=True, kw_only=True)
class Pack(Stage[Packed]):
    """Puts the documents of rankings into prompts."""

    step = "pack"
    reads: ClassVar = {
        "rankings": ("query_id", "haystack_id", "system", "doc_id", "rank"),
        "documents": DOCUMENTS.names,
    }
    table = "contexts"
    unit = "contexts"
    columns = CONTEXTS.names
    per_task = 32

    bench: str  # URL
    kinds: tuple[HowPacked, ...]  # how each system's contexts are packed: a `Packed` without its query
    importance: ImportanceSettings  # what orders by importance sort by
    seed: int  # for drawn orders

    @property
    def embeds(self) -> bool:
        return actor_of(self.importance, Importance).embeds

    def items(self, plan: Plan) -> list[Item[Packed]]:
        found = []
        for ranking in plan.of(Ranked):
            for kind in self.kinds:
                packed = Packed(ranking.key.query_id, *kind)
                if (packed.retriever, packed.reranker) == (ranking.key.retriever, ranking.key.reranker):
                    source = Source("rankings", ranking.work_id)
                    found.append(Item(self._work_id(ranking.work_id, packed), packed, (source,)))
        return found

    def _work_id(self, ranking: str, packed: Packed) -> str:
        length = [] if packed.length_tokens is None else ["length_tokens", packed.length_tokens]
        cut = [] if packed.document_tokens is None else ["document_tokens", packed.document_tokens]
        numbers = [n for n in (packed.n_documents, packed.permutation) if n is not None]
        weighed = (
            actor_of(self.importance, Importance).version(self.importance) if packed.order in BY_IMPORTANCE else []
        )
        depends = [ranking, packed.budget_tokens, packed.order, self.seed, VERSION, *numbers, *weighed, *length, *cut]
        return content_key("contexts", *depends)

    def worker(self, reader: SourceReader) -> Works[Packed]:
        from actors.local_models.tokenizer import TokenCounter

        benchmark = Benchmark(self.bench)
        counter = TokenCounter(threads=1)
        importance = actor_of(self.importance, Importance)(self.importance, benchmark)

        @lru_cache(maxsize=2)
        def tokens(haystack_id: str) -> Sequence[int]:
            return counter.counts([document.text for document in benchmark.documents(haystack_id)])

        def packed(given: Sequence[Item[Packed]]) -> list[ContextRow]:
            return [context(one.work_id, one.key, reader.rows(one.sources[0], RankingRow)) for one in given]

        def context(work_id: str, how: Packed, rows: Sequence[RankingRow]) -> ContextRow:
            query = benchmark.queries[how.query_id]
            documents = benchmark.documents(query.haystack_id)
            index = {document.doc_id: document.doc_index for document in documents}
            needed = how.order in BY_IMPORTANCE
            there = [row for row in rows if row["doc_id"] != NOT_RANKED]
            ranking = [index[row["doc_id"]] for row in sorted(there, key=lambda row: row["rank"])][: how.n_documents]
            shown, whole = ranking, tokens(query.haystack_id)
            if how.length_tokens is not None:
                shown = whole_within(ranking, capped(whole, how.document_tokens), how.length_tokens)
            packing = pack(
                shown,
                document_tokens=whole,
                budget_tokens=how.budget_tokens,
                order=how.order,
                importance=importance.of(how.query_id) if needed else None,
                seed=stable_seed(self.seed, how.query_id, how.order),
                permutation=how.permutation,
                most_tokens=how.document_tokens,
            )
            kept = [documents[place] for place in packing.documents]
            chars = [
                counter.prefix_chars(document.text, n) if lost else len(document.text)
                for document, n, lost in zip(kept, packing.tokens, packing.lost, strict=True)
            ]
            return {
                "work_id": work_id,
                "context_id": work_id,
                "query_id": how.query_id,
                "haystack_id": query.haystack_id,
                "system": SystemAxes(how.retriever, how.reranker).ranking,
                "retriever": how.retriever,
                "reranker": how.reranker,
                "budget_tokens": how.budget_tokens,
                "n_documents": how.n_documents,
                "length_tokens": how.length_tokens,
                "document_tokens": how.document_tokens,
                "permutation": how.permutation,
                "order": how.order,
                "dataset": query.dataset,
                "doc_ids": [document.doc_id for document in kept],
                "doc_numbers": [document.number for document in kept],
                "doc_tokens": list(packing.tokens),
                "doc_chars": chars,
                "n_tokens": packing.n_tokens,
                "cut_doc_id": None if packing.cut_document is None else documents[packing.cut_document].doc_id,
                "cut_tokens": packing.cut_tokens,
                "cut_share": packing.cut_share,
                "n_cut": packing.n_cut,
                "n_left_out": packing.n_left_out + len(ranking) - len(shown),
            }

        return packed


def stages(experiment: Experiment, site: Site) -> list[Pack]:
    """Return the stage that packs for all systems."""
    kinds = tuple(dict.fromkeys(how_packed(system) for system in experiment.all_systems()))
    if not kinds:
        return []  # all texts are shipped
    return [Pack(run=site.run, bench=site.bench, kinds=kinds, importance=experiment.importance, seed=experiment.seed)]
