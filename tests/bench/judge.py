"""The offline judge of coverage: pairs of an insight and a summary a second, on one core."""

from __future__ import annotations

import asyncio
import tempfile
import time
from typing import Any

from actors.chat.model import CallContext
from actors.judges.backend import judged_rows
from actors.judges.opening import make_judge
from actors.storage.benchmark import Benchmark
from jobs.stages.judge import judged_summary
from longform.judges import claims
from longform.judges.offline_coverage import QueryInsights, shipped_judge, stem_weights
from longform.settings.named_judges import SHIPPED_JUDGES
from longform.text import words as text
from longform.text.citations import bullets
from tests.bench.inputs import make_benchmark
from tests.bench.measure import Figure, Spread, seconds

_ROUNDS = 7
_TARGET = 5000


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as url:
        source = make_benchmark(url)
        benchmark = Benchmark(url)
        summaries = [_judged_row(row) for row in benchmark.folder.read("summaries").to_pylist()]
        n_pairs = sum(len(benchmark.targets[row["query_id"]]) for row in summaries)
        note = f"{n_pairs:,} pairs of {len(summaries):,} summaries: {source}"
        return [
            _figure("Offline judge, by words", lambda: _read_all(benchmark, summaries), n_pairs, note),
            _figure(
                "Offline judge, by words, with its rows",
                lambda: _rows(benchmark, summaries),
                n_pairs,
                "rows of `verdicts`",
            ),
        ]


def _judged_row(summary: dict[str, Any]) -> dict[str, Any]:
    ids = {name: summary[name] for name in ("summary_id", "query_id", "haystack_id")}
    return ids | {"work_id": summary["summary_id"], "bullets": [bullet.text for bullet in bullets(summary["text"])]}


def _figure(name: str, judge: Any, n_pairs: int, note: str) -> Figure:
    def cold() -> None:
        text._stem.cache_clear()  # each word is stemmed anew
        claims._read_piece.cache_clear()
        judge()

    cold()
    rates = Spread.of([n_pairs / seconds(cold, clock=time.process_time) for _ in range(_ROUNDS)])
    spread = f"{rates.low:,.0f} to {rates.high:,.0f}; {note}"
    return Figure(name, rates.median, None, "pairs/s", None, _TARGET, spread)


def _rows(benchmark: Benchmark, summaries: list[dict[str, Any]]) -> None:
    judge = make_judge("offline-people", SHIPPED_JUDGES)
    judged = [judged_summary(judge.kind, row | {"failure": None}, row["bullets"], benchmark) for row in summaries]
    asyncio.run(judged_rows(judge, judge.open(CallContext(job="bench", stage="judge", ledger=""), 1), judged))


def _read_all(benchmark: Benchmark, summaries: list[dict[str, Any]]) -> None:
    """The pure part: insights are read once a query, bullets once a summary."""
    weights = {
        haystack_id: stem_weights([target.text for target in benchmark.haystack_targets(haystack_id)])
        for haystack_id in benchmark.haystack_ids
    }
    insights = {
        query_id: QueryInsights([target.text for target in targets], weights[targets[0].haystack_id])
        for query_id, targets in benchmark.targets.items()
    }
    model = shipped_judge("people")
    for row in summaries:
        insights[row["query_id"]].readings(row["bullets"], model)
