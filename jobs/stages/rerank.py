"""Rerank: `rankings` -> `rankings` of system RETRIEVER+RERANKER, the first documents scored anew. 1:1."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from actors.local_models.checkpoints import changing_content
from actors.python_class import class_version
from actors.retrieval.endpoint_reranker import Order, open_reranker
from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.stages.items import PartReader, plan
from jobs.stages.retrieve import Ranked
from jobs.stages.runner import Row, Stage, Task
from longform.keys import content_key
from longform.records import shown_query
from longform.settings.experiment import Experiment
from longform.settings.python_class import PythonClassSettings
from longform.settings.retrievers import CrossEncoderRerankerSettings, RerankerSettings

VERSION = "rerank@1"
_RANKINGS_A_TASK = 16


class Reranking(NamedTuple):
    """One reranked list: its work id, the work id of the ranking it is made from, and the reranker's name."""

    work_id: str
    source: str
    reranker: str


def reranking_work_ids(experiment: Experiment, rankings: Mapping[Ranked, str]) -> dict[Ranked, Reranking]:
    """Every reranked list the experiment wants."""
    pairs = dict.fromkeys((s.retriever, s.reranker) for s in experiment.all_systems() if s.reranker is not None)
    made_by = {name: _made_by(experiment.rerankers[name]) for _, name in pairs}
    found = {}
    for ranked, source in rankings.items():
        for retriever, reranker in pairs:
            if retriever == ranked.retriever:
                work_id = content_key("reranked", source, reranker, made_by[reranker], experiment.query_text, VERSION)
                found[ranked._replace(reranker=reranker)] = Reranking(work_id, source, reranker)
    return found


def _made_by(settings: RerankerSettings) -> dict[str, Any]:
    """What a reranker's orders depend on."""
    if isinstance(settings, PythonClassSettings):
        return settings.identity | {"version": class_version(settings)}
    content = changing_content(settings.model) if isinstance(settings, CrossEncoderRerankerSettings) else None
    return settings.identity | ({"content": content} if content else {})


def rerank_stage(run: Folder, bench_url: str, experiment: Experiment, *, threads: int) -> Stage:
    return Stage(
        name="rerank",
        table="rankings",
        identity=content_key(run.url, bench_url, experiment.model_dump(), threads),
        make_worker=partial(_worker, run, bench_url, experiment, threads),
        holds_model=True,
    )


def rerank_tasks(run: Folder, wanted: Mapping[Ranked, Reranking]) -> list[Task]:
    items = [reranking._asdict() | {"system": ranked.system} for ranked, reranking in wanted.items()]
    return plan(run, "rankings", run, "rankings", items, per_task=_RANKINGS_A_TASK)


def _worker(run: Folder, bench_url: str, experiment: Experiment, threads: int) -> Any:
    reader, benchmark = PartReader(run), Benchmark(bench_url)
    orders: dict[str, Order] = {}

    async def rerank(payload: Mapping[str, Any]) -> list[Row]:
        items = payload["items"]
        found = await asyncio.gather(*(reranked(item, reader.rows(item["part"], item["source"])) for item in items))
        return [row for rows in found for row in rows]

    async def reranked(item: Mapping[str, Any], rows: Sequence[Row]) -> list[Row]:
        name = item["reranker"]
        if name not in orders:
            orders[name] = open_reranker(experiment.rerankers[name], threads=threads)
        query = benchmark.queries[rows[0]["query_id"]]
        documents = {document.doc_id: document for document in benchmark.documents(query.haystack_id)}
        shown = shown_query(query, query_text=experiment.query_text)
        order = await orders[name](shown, [documents[row["doc_id"]] for row in rows])
        changed = {name: item[name] for name in ("work_id", "system", "reranker")}
        return [rows[place] | changed | {"rank": rank, "score": score} for rank, (place, score) in enumerate(order)]

    return rerank
