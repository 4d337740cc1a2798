"""
The check stage with a checkpoint by two workers, against the same stage by one; each has one thread.

Wall time of the work alone, from the moment when every worker has its model: loading is done once a stage, however many
cells there are.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.command.calling import Calling
from jobs.configs import read_experiment
from jobs.runs.stage_order import stages_of
from jobs.stages.cluster import Cluster
from jobs.stages.stage import Site
from tests.bench.checker import save_cross_encoder
from tests.bench.measure import Figure, Pairs
from tests.bench.worker_clocks import seconds_of
from tests.jobs.planted_bench import N_DOCUMENTS, bench, prepared

_WORKERS = 2
_QUERIES = 40  # a task each, of 25 cells
_SENTENCES = 4  # of nine words, a document
_ROUNDS = 3
_TARGET = 1.6


def figures() -> list[Figure]:
    return [against_one_worker(n_queries=_QUERIES, rounds=_ROUNDS)]


def against_one_worker(*, n_queries: int, rounds: int) -> Figure:
    """Cells a second of both, in turn, after one untimed run."""
    found = Pairs([], [])
    with tempfile.TemporaryDirectory() as place, Cluster(address=None, workers=_WORKERS) as cluster:
        folder = Path(place)
        url, model = bench(folder, n=n_queries, n_sentences=_SENTENCES), save_cross_encoder(folder / "checker")
        cluster.start()
        _seconds(folder / "warm", url, model, workers=_WORKERS)
        for number in range(rounds):
            found.ours.append(_seconds(folder / f"two-{number}", url, model, workers=_WORKERS))
            found.reference.append(_seconds(folder / f"one-{number}", url, model, workers=1))
    note = f"{_WORKERS} workers beside 1, one thread each; {n_queries} tasks, wall time once all have loaded"
    cells = n_queries * N_DOCUMENTS**2
    return found.rates("Check stage, workers", items=cells, unit="cells/s", target=_TARGET, note=note)


def _seconds(folder: Path, bench_url: str, model: str, *, workers: int) -> float:
    """Return the seconds of one stage's work, by its tasks' own clocks."""
    run, benchmark = Folder(str(folder / "run")), Benchmark(bench_url)
    folder.mkdir(parents=True)
    judge = f"{{kind: checkpoint, model: {model}}}"
    experiment = read_experiment("positional_bias", [f"support_judges={{checker: {judge}}}"])
    made = prepared(run, benchmark, "checker")
    calling = Calling("bench", ledger=str(folder / "ledger"))
    site = Site(run.url, bench_url, 1, calling)
    (stage,) = (one for one in stages_of(experiment, site) if one.judged_by == "checker")
    tasks = stage.tasks(run, made.items)
    return seconds_of(stage, tasks, len(made.items), clocks=folder / "clocks", workers=workers)
