"""Retrieval: queries a second over 100 documents, once index and vectors stand."""

from __future__ import annotations

import tempfile
import time
from functools import partial
from typing import Any

from actors.retrieval.haystack_retriever import HaystackRetriever
from actors.storage.benchmark import Benchmark
from longform.settings.experiment import Experiment
from tests.bench.inputs import make_benchmark
from tests.bench.measure import Figure, Spread, seconds

_RETRIEVERS: dict[str, Any] = {
    "bm25": {"kind": "bm25"},
    "feedback": {"kind": "feedback", "of": "bm25"},
    "cluster_feedback": {"kind": "cluster_feedback"},
    "statements": {"kind": "statements", "n_statements": 12},
}
_ROUNDS = 7
_TARGET = 20  # 50 ms a query


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as url:
        source = make_benchmark(url)
        benchmark = Benchmark(url)
        haystack_id = benchmark.haystack_ids[0]
        query_ids = [query_id for query_id, query in benchmark.queries.items() if query.haystack_id == haystack_id]
        retriever = HaystackRetriever(url, _experiment().retrieval, threads=1)
        rank = partial(retriever.rank, haystack_id, query_ids)
        rank(list(_RETRIEVERS))  # reads, embeds and indexes
        note = f"{len(query_ids)} queries on {len(benchmark.documents(haystack_id))} documents: {source}"
        return [_figure(name, partial(rank, [name]), len(query_ids), note) for name in _RETRIEVERS]


def _experiment() -> Experiment:
    return Experiment.model_validate(
        {
            "name": "bench",
            "seed": 1,
            "retrievers": _RETRIEVERS,
            "summarizers": {"offline": {"kind": "offline"}},
            "judges": {},
            "systems": [{"retriever": list(_RETRIEVERS), "budget_tokens": None, "summarizer": "offline"}],
        }
    )


def _figure(name: str, rank: Any, n_queries: int, note: str) -> Figure:
    rates = Spread.of([n_queries / seconds(rank, clock=time.process_time) for _ in range(_ROUNDS)])
    spread = f"{1000 / rates.high:.1f} to {1000 / rates.low:.1f} ms a query; {note}"
    return Figure(f"Retrieval, {name}", rates.median, None, "queries/s", None, _TARGET, spread)
