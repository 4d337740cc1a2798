"""Pack: `rankings` -> `contexts` (query_id, system, order): doc ids in prompt order, tokens, what was cut. N:1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

from actors.benchmark import Benchmark
from actors.storage import Folder
from jobs.derive import Item, PartReader, plan
from jobs.retrieve import Ranked
from jobs.stage import Row, Stage, Task
from longform.configuration import Experiment, Importance, RelevanceImportance
from longform.keys import content_key, stable_seed
from longform.packing import BY_IMPORTANCE, pack

VERSION = "pack@1"
_CONTEXTS_A_TASK = 32


class Packed(NamedTuple):
    """A context that the run wants."""

    query_id: str
    ranking: str
    budget_tokens: int | None
    n_documents: int | None
    order: str
    permutation: int | None


def context_work_ids(experiment: Experiment, rankings: Mapping[Ranked, str]) -> dict[Packed, tuple[str, str]]:
    """Every context the experiment wants -> (its work id, the work id of its ranking)."""
    found = {}
    kinds = dict.fromkeys(
        (s.ranking, s.budget_tokens, s.n_documents, s.order, s.permutation) for s in experiment.all_systems()
    )
    for (query_id, system), source in rankings.items():
        for ranking, budget, n_documents, order, permutation in kinds:
            if ranking == system:
                how = [*(n for n in (n_documents, permutation) if n is not None), *_depends(experiment, order)]
                work_id = content_key("contexts", source, budget, order, experiment.seed, VERSION, *how)
                found[Packed(query_id, ranking, budget, n_documents, order, permutation)] = (work_id, source)
    return found


def _depends(experiment: Experiment, order: str) -> list[Any]:
    """What an order by importance depends on beside relevance."""
    by_relevance = isinstance(experiment.importance, RelevanceImportance)
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
        {"work_id": work_id, "source": source}
        | {key: getattr(packed, key) for key in ("budget_tokens", "n_documents", "order", "permutation")}
        for packed, (work_id, source) in wanted.items()
    ]
    return plan(run, "rankings", run, "contexts", items, per_task=_CONTEXTS_A_TASK)


def _worker(run: Folder, bench_url: str, seed: int, importance: Importance) -> Any:
    from actors.importance import document_importance
    from actors.tokenizer import TokenCounter

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
        packing = pack(
            [index[row["doc_id"]] for row in sorted(rows, key=lambda row: row["rank"])][: item["n_documents"]],
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
            "order": item["order"],
            "budget_tokens": item["budget_tokens"],
            "doc_ids": [document.doc_id for document in kept],
            "doc_numbers": [document.number for document in kept],
            "doc_tokens": list(packing.tokens),
            "doc_chars": chars,
            "n_tokens": packing.n_tokens,
            "cut_doc_id": cut,
            "cut_tokens": packing.cut_tokens,
            "cut_share": packing.cut_share,
            "n_left_out": packing.n_left_out,
        }

    return packed
