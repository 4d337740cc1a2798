"""
Haystacks of full size by two workers, against one process: wall time of the whole command, the start of Ray included.

Few haystacks are written sooner than Ray starts; many are what workers are for.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from jobs.stages.cluster import Cluster
from jobs.synthesis.haystacks import make_benchmark, read_config
from tests.bench.measure import Figure, Pairs

_WORKERS = 2
_HAYSTACKS = (20, 100)
_ROUNDS = 2


def figures() -> list[Figure]:
    return [_figure(n) for n in _HAYSTACKS]


def _figure(n: int) -> Figure:
    found = Pairs([], [])
    with tempfile.TemporaryDirectory() as place:
        for number in range(_ROUNDS):
            found.ours.append(_seconds(Path(place) / f"workers-{number}", n, workers=_WORKERS))
            found.reference.append(_seconds(Path(place) / f"process-{number}", n, workers=None))
    note = f"{_WORKERS} workers beside 1 process, with Ray's start, audit and export"
    return found.rates(f"Synthesis, {n} haystacks", items=n, unit="haystacks/s", target=None, note=note)


def _seconds(out: Path, n: int, *, workers: int | None) -> float:
    config = read_config("full", [f"haystacks={n}"])
    started = time.monotonic()
    if workers is None:
        make_benchmark(config, str(out))
    else:
        with Cluster(address=None, workers=workers) as cluster:
            make_benchmark(config, str(out), cluster=cluster)
    return time.monotonic() - started
