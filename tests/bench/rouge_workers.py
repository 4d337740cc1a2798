"""
ROUGE of ten thousand pairs of summary and reference by two workers, against one, and beside one process without Ray.

Wall time of the score stage alone, from the moment when every worker is there.
"""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any

from jobs.evaluations.replay import Replay, ReplaySettings
from jobs.files.write_benchmark import write_benchmark
from jobs.stages.cluster import Cluster
from jobs.stages.stage import Stage
from longform.formats.rows import HaystackRows, ShippedRow
from longform.records import Query, Target
from tests.bench.measure import Figure, Pairs
from tests.bench.worker_clocks import seconds_of
from tests.jobs.planted_bench import WORDS

_WORKERS = 2
_SUMMARIES, _REFERENCES = 2560, 4  # ten tasks of 256 summaries
_LENGTHS = (200, 300)  # words, as stories are summarised in
_ROUNDS = 3
_TARGET = 1.8


def figures() -> list[Figure]:
    found = Pairs([], [])
    with tempfile.TemporaryDirectory() as place, Cluster(address=None, workers=_WORKERS) as cluster:
        folder = Path(place)
        bench = _bench(folder / "bench")
        cluster.start()
        _seconds(folder / "warm", bench, workers=_WORKERS)
        for number in range(_ROUNDS):
            found.ours.append(_seconds(folder / f"two-{number}", bench, workers=_WORKERS))
            found.reference.append(_seconds(folder / f"one-{number}", bench, workers=1))
    note = f"ROUGE-1, -2 and -L; {_WORKERS} workers beside 1, wall time of the score stage once all are there"
    pairs = _SUMMARIES * _REFERENCES
    return [found.rates(f"ROUGE of {pairs:,} pairs", items=pairs, unit="pairs/s", target=_TARGET, note=note)]


def _bench(folder: Path) -> str:
    draw = random.Random(1)

    def text() -> str:
        return " ".join(draw.choices(WORDS, k=draw.randint(*_LENGTHS)))

    queries = [Query(f"q{place}", "h", "What?") for place in range(_SUMMARIES)]
    summaries: list[ShippedRow] = [
        {"summary_id": one.query_id, "query_id": one.query_id, "haystack_id": "h", "summarizer": "m", "setting": "s",
         "text": text()}
        for one in queries
    ]  # fmt: skip
    targets = [
        Target(f"{one.query_id}:{place}", "reference", one.query_id, "h", place, None, text())
        for one in queries
        for place in range(_REFERENCES)
    ]
    scores: list[Any] = [{"summary_id": one.query_id, "measure": "bertscore", "value": 0.8} for one in queries]
    rows = HaystackRows("h", [], queries, targets, summaries=summaries, released_scores=scores)
    write_benchmark(str(folder), [rows], sources=[])
    return str(folder)


def _seconds(folder: Path, bench: str, *, workers: int) -> float:
    settings = ReplaySettings(measures=("rouge_1", "rouge_2", "rouge_l"))
    job = Replay(bench, str(folder / "run"), settings, cluster=Cluster(address=None, workers=0))
    stage: Stage[Any] = job.plan.stages[-1]
    for step in dict.fromkeys(one.step for one in job.plan.stages if one is not stage):
        job.do(step)
    items = job.plan.items(stage)
    return seconds_of(stage, stage.tasks(job.run, items), len(items), clocks=folder / "clocks", workers=workers)
