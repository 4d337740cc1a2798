"""Pack: `rankings` -> `contexts` (query_id, system, order): doc ids in prompt order, tokens, what was cut. N:1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.stages.items import Item, PartReader, plan
from jobs.stages.retrieve import Ranked
from jobs.stages.runner import Row, Stage, Task
from longform.axes import COLUMNS
from longform.keys import content_key, stable_seed
from longform.retrieval.packing import BY_IMPORTANCE, pack, whole_within
from longform.settings.experiment import Experiment, ImportanceSettings, RelevanceImportanceSettings, System

VERSION = "pack@2"
_HOW = (*COLUMNS, "order")
_CONTEXTS_A_TASK = 32


class Packed(NamedTuple):
    """A context that the run wants."""

    query_id: str
    retriever: str
    reranker: str | None
    budget_tokens: int | None
    n_documents: int | None
    length_tokens: int | None
    order: str
    permutation: int | None

    @property
    def ranking(self) -> Ranked:
        """The ranking whose documents it holds."""
        return Ranked(self.query_id, self.retriever, self.reranker)

    @property
    def all_documents(self) -> bool:
        """Whether nothing but a budget keeps ranked documents out."""
        return self.n_documents is None and self.length_tokens is None


def context_work_ids(experiment: Experiment, rankings: Mapping[Ranked, str]) -> dict[Packed, tuple[str, str]]:
    """Every context the experiment wants -> (its work id, the work id of its ranking)."""
    found = {}
    kinds = dict.fromkeys(how_packed(system) for system in experiment.all_systems())
    for ranked, source in rankings.items():
        for kind in kinds:
            packed = Packed(ranked.query_id, *kind)
            if packed.ranking == ranked:
                length = [] if packed.length_tokens is None else ["length_tokens", packed.length_tokens]
                numbers = [n for n in (packed.n_documents, packed.permutation) if n is not None]
                how = [*numbers, *_depends(experiment, packed.order), *length]
                budget, order = packed.budget_tokens, packed.order
                work_id = content_key("contexts", source, budget, order, experiment.seed, VERSION, *how)
                found[packed] = (work_id, source)
    return found


def how_packed(system: System) -> tuple[str, str | None, int | None, int | None, int | None, str, int | None]:
    """What is `Packed` of a *system*, without the query."""
    length = (system.budget_tokens, system.n_documents, system.length_tokens)
    return (system.retriever, system.reranker, *length, system.order, system.permutation)


def _depends(experiment: Experiment, order: str) -> list[Any]:
    """What an order by importance depends on beside relevance."""
    by_relevance = isinstance(experiment.importance, RelevanceImportanceSettings)
    return [] if by_relevance or order not in BY_IMPORTANCE else [experiment.importance.model_dump()]


def pack_stage(run: Folder, bench_url: str, experiment: Experiment) -> Stage:
    return Stage(
        name="pack",
        table="contexts",
        identity=content_key(run.url, bench_url, experiment.seed, experiment.importance.model_dump()),
        make_worker=partial(_worker, run, bench_url, experiment.seed, experiment.importance),
    )


def pack_tasks(run: Folder, wanted: Mapping[Packed, tuple[str, str]]) -> list[Task]:
    items = [
        {"work_id": work_id, "source": source} | {key: getattr(packed, key) for key in _HOW}
        for packed, (work_id, source) in wanted.items()
    ]
    return plan(run, "rankings", run, "contexts", items, per_task=_CONTEXTS_A_TASK)


def _worker(run: Folder, bench_url: str, seed: int, importance: ImportanceSettings) -> Any:
    from actors.local_models.tokenizer import TokenCounter
    from actors.retrieval.importance import document_importance

    reader, benchmark = PartReader(run), Benchmark(bench_url)
    counter = TokenCounter(threads=1)
    weigh = document_importance(benchmark, importance)

    @lru_cache(maxsize=2)
    def tokens(haystack_id: str) -> Sequence[int]:
        return counter.counts([document.text for document in benchmark.documents(haystack_id)])

    def packed(payload: Mapping[str, Any]) -> list[Row]:
        return [context(item, reader.rows(item["part"], item["source"])) for item in payload["items"]]

    def context(item: Item, rows: Sequence[Row]) -> Row:
        first = rows[0]
        documents = benchmark.documents(first["haystack_id"])
        index = {document.doc_id: document.doc_index for document in documents}
        needed = item["order"] in BY_IMPORTANCE
        ranking = [index[row["doc_id"]] for row in sorted(rows, key=lambda row: row["rank"])][: item["n_documents"]]
        shown = ranking
        if item["length_tokens"] is not None:
            shown = whole_within(ranking, tokens(first["haystack_id"]), item["length_tokens"])
        packing = pack(
            shown,
            document_tokens=tokens(first["haystack_id"]),
            budget_tokens=item["budget_tokens"],
            order=item["order"],
            importance=weigh(first["query_id"]) if needed else None,
            seed=stable_seed(seed, first["query_id"], item["order"]),
            permutation=item["permutation"],
        )
        kept = [documents[place] for place in packing.documents]
        cut = None if packing.cut_document is None else documents[packing.cut_document].doc_id
        chars = [
            counter.prefix_chars(document.text, n) if document.doc_id == cut else len(document.text)
            for document, n in zip(kept, packing.tokens, strict=True)
        ]
        return {
            "work_id": item["work_id"],
            "context_id": item["work_id"],
            "query_id": first["query_id"],
            "haystack_id": first["haystack_id"],
            "system": first["system"],
            **{name: item[name] for name in _HOW},
            "dataset": benchmark.queries[first["query_id"]].dataset,
            "doc_ids": [document.doc_id for document in kept],
            "doc_numbers": [document.number for document in kept],
            "doc_tokens": list(packing.tokens),
            "doc_chars": chars,
            "n_tokens": packing.n_tokens,
            "cut_doc_id": cut,
            "cut_tokens": packing.cut_tokens,
            "cut_share": packing.cut_share,
            "n_left_out": packing.n_left_out + len(ranking) - len(shown),
        }

    return packed
