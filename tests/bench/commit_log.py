"""
Tables of many commits: what four times the rows cost, locally and on the S3 server that tests use.

Each figure is wall time: that of the large size beside that of a quarter of it, read back once it is written. The two
take turns, four steps and one, each on its own clock, so that a busy machine makes both slower alike.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from actors.storage.tables import Part
from jobs.files.write_benchmark import HaystackRows, write_benchmark
from jobs.stages.accounts import RECEIPTS_A_COMMIT
from longform.records import Document, Query, Target
from tests.bench.measure import Figure, Spread
from tests.s3_server import BUCKET, binary, running_s3_server

TIMES = 4  # the rows of the large size over those of the small one
MOST = 4.6  # times the wall time
_HAYSTACKS = 3000
_ROWS = 60_000
_ROWS_A_SUMMARY = 8  # verdicts; a summary is a part, as in a stage that asks a chat model
_ROUNDS = int(os.environ.get("LONGFORM_BENCH_ROUNDS", "3"))
_SHARE = float(os.environ.get("LONGFORM_BENCH_SHARE", "1"))  # of the sizes above


Pause = Callable[[], None]
"""Called by a load after each step."""


class Load(NamedTuple):
    name: str
    size: int
    unit: str
    work: Callable[[str, int, Pause], None]  # URL of a new folder, size


def figures() -> list[Figure]:
    loads = [
        Load("a benchmark", round(_HAYSTACKS * _SHARE), "haystacks of one document", _benchmark),
        Load("a stage", round(_ROWS * _SHARE), "rows", _stage),
    ]
    with tempfile.TemporaryDirectory() as place:
        found = [_figure(load, f"{place}/tables", "local") for load in loads]
        if binary() is None:
            return found
        (Path(place) / "s3").mkdir()
        with running_s3_server(Path(place) / "s3") as environment, environment_of(environment):
            return found + [_figure(load, f"s3://{BUCKET}", "S3") for load in loads]


def _figure(load: Load, root: str, where: str) -> Figure:
    small, large = [], []
    for number in range(_ROUNDS):
        ours, reference = Side(TIMES), Side(1)
        url = f"{root}/{load.name.split()[-1]}-{number}"
        _in_turns(
            (ours, partial(load.work, f"{url}-large", load.size, ours.pause)),
            (reference, partial(load.work, f"{url}-small", load.size // TIMES, reference.pause)),
        )
        small.append(reference.seconds)
        large.append(ours.seconds)
    return Figure(
        f"{load.name} of {load.size:,} {load.unit}, {where}",
        Spread.of(large).median,
        Spread.of(small).median,
        "seconds",
        Spread.of([ours / reference for ours, reference in zip(large, small, strict=True)]),
        MOST,
        f"beside {load.size // TIMES:,}; written, committed and read",
        at_most=True,
    )


class Side:
    """One of two loads that take turns, with the seconds of its own turns."""

    def __init__(self, steps: int) -> None:
        self.seconds = 0.0
        self.may_go = threading.Event()
        self.other: Side | None = None  # None: it is done
        self._steps, self._left = steps, steps
        self._since = 0.0

    def begin(self) -> None:
        self.may_go.wait()
        self._since = time.perf_counter()

    def pause(self) -> None:
        """Let the other go on, after so many steps."""
        self._left -= 1
        if self._left == 0 and self.other is not None:
            self._left = self._steps
            self.end()
            self.begin()

    def end(self) -> None:
        self.seconds += time.perf_counter() - self._since
        if self.other is not None:
            self.may_go.clear()
            self.other.may_go.set()


def _in_turns(first: tuple[Side, Callable[[], None]], second: tuple[Side, Callable[[], None]]) -> None:
    first[0].other, second[0].other = second[0], first[0]

    def run(side: Side, work: Callable[[], None]) -> None:
        side.begin()
        try:
            work()
        finally:
            other = side.other
            side.end()
            if other is not None:
                other.other = None  # goes on alone

    first[0].may_go.set()
    with ThreadPoolExecutor(2) as threads:
        for done in [threads.submit(run, *side) for side in (first, second)]:
            done.result()


@contextmanager
def environment_of(environment: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(environment)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _benchmark(url: str, size: int, pause: Pause) -> None:
    write_benchmark(url, _haystacks(size, pause), sources=[{"name": "one document each", "sha256": str(size)}])
    benchmark = Benchmark(url)
    assert len(benchmark.queries) == size
    for haystack_id in benchmark.haystack_ids:
        assert len(benchmark.documents(haystack_id)) == len(benchmark.haystack_targets(haystack_id)) == 1
        pause()


def _haystacks(size: int, pause: Pause) -> Iterator[HaystackRows]:
    for number in range(size):
        yield _haystack(number)
        pause()


def _haystack(number: int) -> HaystackRows:
    name = f"h{number}"
    return HaystackRows(
        name,
        [Document(f"{name}-d", name, 0, None, "A sentence. " * 100)],
        [Query(f"{name}-q", name, "What is said?")],
        [Target(f"{name}-t", "reference", f"{name}-q", name, 0, None, "A sentence is.")],
        qrels=[],
        rankings=[],
        summaries=[],
        labels=[],
    )


def _stage(url: str, size: int, pause: Pause) -> None:
    """Commit as a stage does; before it a command asks what is there, and after it the rows are read."""
    folder, waiting = Folder(url), list[Part]()
    assert not folder.locate("verdicts")
    for number in range(size // _ROWS_A_SUMMARY):
        waiting.append(folder.write_part("verdicts", _verdicts(number), work_ids=[f"work {number}"]))
        if len(waiting) == RECEIPTS_A_COMMIT:
            folder.commit("verdicts", waiting)
            waiting = []
        pause()
    folder.commit("verdicts", waiting)
    read = 0
    for batch in Folder(url).batches("verdicts"):
        read += batch.num_rows
        pause()
    assert read == size // _ROWS_A_SUMMARY * _ROWS_A_SUMMARY


def _verdicts(number: int) -> list[dict[str, object]]:
    return [
        {
            "work_id": f"work {number}",
            "judge": "bench",
            "summary_id": f"summary {number}",
            "target_kind": "insight",
            "target_id": f"target {target}",
            "mode": "full",
            "repeat": 0,
            "answer": "full",
        }
        for target in range(_ROWS_A_SUMMARY)
    ]
