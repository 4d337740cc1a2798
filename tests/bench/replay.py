"""
Replay as a Ray Data stream, against the same workers called in a plain loop that writes the same rows.

The ratio is of wall times on a cluster that is up and has done a small replay before. It holds two things: what two
workers gain, and what a stage costs however little it does; the latter is measured apart.
"""

from __future__ import annotations

import io
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from actors.storage.folder import Folder
from jobs.evaluations.replay import Replay, ReplaySettings
from jobs.stages.cluster import Cluster
from jobs.stages.items import Worker
from jobs.stages.runner import PlainStage, Task, run_stage
from jobs.stages.stage import Stage
from tests.bench.inputs import make_benchmark, make_small_benchmark
from tests.bench.measure import Figure, Pairs, seconds

_WORKERS = 2
_ROUNDS = 3
_EMPTY_STAGES = 7
_TABLES = ("summaries", "units", "verdicts", "scores")

StageSeconds = dict[str, float]


class PlainReplay(Replay):
    """The same tasks, one after the other in this process."""

    def __init__(self, bench_url: str, out_url: str, *, cluster: Cluster) -> None:
        super().__init__(bench_url, out_url, ReplaySettings(), cluster=cluster)
        self.seconds: StageSeconds = {}

    def _do(self, stages: Sequence[Stage[Any]]) -> None:
        for stage in stages:
            started = time.monotonic()
            worker, tasks = stage.opened(), stage.tasks(self.run, self.plan.items(stage))
            parts = [
                self.run.write_part(stage.table, worker(given), work_ids=[one.work_id for one in given])
                for given in tasks
            ]
            self.run.commit(stage.table, parts)
            self.seconds[stage.name] = time.monotonic() - started


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as place, Cluster(address=None, workers=_WORKERS) as cluster:
        folder = Path(place)
        cluster.start()
        make_small_benchmark(str(folder / "small"), haystacks=1)
        _round(folder / "small", folder / "warm", cluster)
        source = make_benchmark(str(folder / "bench"))
        rounds = [_round(folder / "bench", folder / f"round-{number}", cluster) for number in range(_ROUNDS)]
        return [*_compared(rounds, source), _overhead(folder / "empty", cluster)]


def _compared(rounds: list[tuple[StageSeconds, StageSeconds]], source: str) -> list[Figure]:
    def pairs(name: str) -> Pairs:
        return Pairs(*([side[name] for side in sides] for sides in zip(*rounds, strict=True)))

    stages = [name for name in rounds[0][0] if name != "all"]
    whole = pairs("all").times(f"Replay, {_WORKERS} Ray workers to a plain loop", note=source)
    return [whole, *(pairs(name).times(f"Replay, stage {name}", note="") for name in stages)]


def _round(bench: Path, out: Path, cluster: Cluster) -> tuple[StageSeconds, StageSeconds]:
    """Wall seconds of each stage and of all: on Ray, and in the loop."""
    on_ray = Replay(str(bench), str(out / "ray"), ReplaySettings(), cluster=cluster)
    in_loop = PlainReplay(str(bench), str(out / "plain"), cluster=cluster)
    of_ray = {"all": _seconds(on_ray)}
    of_ray |= {stage["name"]: stage["seconds"] for stage in on_ray.record.content["stages"]}
    of_loop = {"all": _seconds(in_loop)} | in_loop.seconds
    _check_same(on_ray.run, in_loop.run)
    return of_ray, of_loop


def _seconds(job: Replay) -> float:
    def work() -> None:
        job.do()

    return seconds(work, clock=time.monotonic)


def _check_same(on_ray: Folder, in_loop: Folder) -> None:
    for table in _TABLES:
        ours, reference = (sorted(map(repr, on.read(table).to_pylist())) for on in (on_ray, in_loop))
        assert ours == reference, f"{table}: the stream and the loop made different rows"


def _overhead(out: Path, cluster: Cluster) -> Figure:
    """A stage of one task that makes no row."""

    def empty(number: int) -> float:
        stage = PlainStage(name="empty", table="units", make_worker=_idle_worker)
        task = Task(work_ids=(str(number),), payload={})
        run = Folder(str(out))
        return seconds(
            lambda: run_stage(run, stage, 1, [task], cluster=cluster, log=io.StringIO()), clock=time.monotonic
        )

    found = [empty(number) for number in range(_EMPTY_STAGES)]
    note = f"{min(found):.2f} to {max(found):.2f}; a stage with one task that makes no row"
    return Figure("Ray, fixed cost of a stage", median(found), None, "seconds", None, None, note)


def _idle_worker() -> Worker:
    return lambda payload: []
