"""
Runs of a million verdicts, or of a hundred thousand queries: what four times the rows cost in time and memory.

Scores, results and pages of a large run and of one of a quarter of its size, each step in a process of its own. Time is
processor time of the step without imports; memory is the most that the process ever held, imports included.

LONGFORM_BENCH_SHARE is the share of these sizes (a tenth unless told), LONGFORM_BENCH_SCALE names the loads, by comma.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

from tests.bench.measure import Figure, Spread

TIMES = 4  # the rows of the large size over those of the small one
MOST_TIME, MOST_MEMORY = 4.4, 1.1
STEPS = ("score", "aggregate", "report")
_SHARE = float(os.environ.get("LONGFORM_BENCH_SHARE", "0.1"))
_N_DOCUMENTS = 5


class Shape(NamedTuple):
    """
    The rows of a haystack of a run.

    Attributes:
        haystacks: Haystacks of the large size.
        queries: Queries of a haystack.
        targets: Targets of a query.
        systems: Systems that summarise each query.
        judges: Judges of each summary.
    """

    haystacks: int
    queries: int
    targets: int
    systems: int
    judges: int

    @property
    def verdicts(self) -> int:
        return self.haystacks * self.queries * self.targets * self.systems * self.judges


LOADS = {
    "verdicts": Shape(haystacks=250, queries=4, targets=50, systems=10, judges=2),  # 10^6, of 10^4 summaries
    "queries": Shape(haystacks=2000, queries=50, targets=2, systems=1, judges=1),  # 10^5
}


class Spent(TypedDict):
    seconds: float
    peak_mb: float


def figures() -> list[Figure]:
    found: list[Figure] = []
    for name in os.environ.get("LONGFORM_BENCH_SCALE", ",".join(LOADS)).split(","):
        shape = LOADS[name]._replace(haystacks=max(TIMES, round(LOADS[name].haystacks * _SHARE)))
        with tempfile.TemporaryDirectory() as place:
            large = measured(shape, Path(place) / "large")
            small = measured(shape._replace(haystacks=shape.haystacks // TIMES), Path(place) / "small")
        for step in STEPS:
            found += _figures(f"{step} of {shape.verdicts:,} verdicts ({name})", large[step], small[step])
    return found


def _figures(name: str, large: Spent, small: Spent) -> Iterator[Figure]:
    for unit, key, most in (("seconds", "seconds", MOST_TIME), ("MB at most", "peak_mb", MOST_MEMORY)):
        ours, reference = (float(spent[key]) for spent in (large, small))  # type: ignore[literal-required]
        ratio = Spread.of([ours / reference])
        yield Figure(name, ours, reference, unit, ratio, most, "beside a quarter of them", at_most=True)


def measured(shape: Shape, place: Path) -> dict[str, Spent]:
    """Write a run of a *shape* to *place*, and return what each step spent on it."""
    return {step: _in_process(step, shape, place) for step in ("write", *STEPS)}


def _in_process(step: str, shape: Shape, place: Path) -> Spent:
    command = [sys.executable, "-m", "tests.bench.scale", step, str(place), json.dumps(shape)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    spent: Spent = json.loads(done.stdout.splitlines()[-1])
    return spent


# ---------------------------------------------------------------- in a process of its own


def main(step: str, place: str, shape: str) -> None:
    work = _step(step, Path(place), Shape(*json.loads(shape)))
    started = time.process_time()
    work()
    print(json.dumps({"seconds": time.process_time() - started, "peak_mb": _peak_mb()}))


def _peak_mb() -> float:
    """Return the most memory that this program held; unlike ru_maxrss it does not count the parent's before exec."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def _step(step: str, place: Path, shape: Shape) -> Callable[[], object]:
    """Return the work of a step; what it needs is imported."""
    from jobs.evaluations.replay import Replay, ReplaySettings
    from jobs.evaluations.stored import aggregate
    from jobs.files.write_benchmark import write_benchmark
    from jobs.report import report
    from jobs.stages.cluster import Cluster

    bench, run, cluster = str(place / "bench"), str(place / "run"), Cluster(address=None, workers=0)

    def write() -> None:
        write_benchmark(bench, map(_haystack(shape), range(shape.haystacks)), sources=[{"name": "made", "sha256": ""}])
        job = Replay(bench, run, ReplaySettings(), cluster=cluster)
        for before in ("read", "split"):
            job.do(before)

    def score() -> None:
        Replay(bench, run, ReplaySettings(), cluster=cluster).do("aggregate")

    steps: dict[str, Callable[[], object]] = {
        "write": write,
        "score": score,
        "aggregate": lambda: aggregate(run, [], cluster=cluster),
        "report": lambda: report([run], str(place / "pages")),
    }
    return steps[step]


def _haystack(shape: Shape) -> Callable[[int], Any]:
    """Return what makes the rows of a haystack of its number; the same number, the same rows."""
    import numpy as np

    from longform.formats.rows import HaystackRows, ShippedRow, insight_label
    from longform.records import Document, Qrel, Query, Target

    answers, words = ("full", "partial", "none"), "river mill harvest council water farm bridge price".split()

    def text(*numbers: int) -> str:
        return " ".join(words[number % len(words)] for number in numbers) + "."

    def rows(number: int) -> HaystackRows:
        rng, name = np.random.default_rng(number), f"haystack {number}"
        documents = [
            Document(f"{name} document {place}", name, place, None, text(number, place, number + place) * 20)
            for place in range(_N_DOCUMENTS)
        ]
        queries = [Query(f"{name} query {place}", name, f"Which of {place}?") for place in range(shape.queries)]
        targets = [
            Target(f"{query.query_id} {place}", "insight", query.query_id, name, place, None, text(number, place, 3))
            for query in queries
            for place in range(shape.targets)
        ]
        qrels = [
            Qrel(target.query_id, target.target_id, documents[int(place)].doc_id, 1)
            for target, place in zip(targets, rng.integers(_N_DOCUMENTS, size=len(targets)), strict=True)
        ]
        summaries: list[ShippedRow] = []
        labels: list[ShippedRow] = []
        for query, system in product(range(shape.queries), range(shape.systems)):
            own = targets[query * shape.targets : (query + 1) * shape.targets]
            bullets = rng.integers(1, _N_DOCUMENTS + 1, size=8)
            summary_id = f"{queries[query].query_id} system {system}"
            summaries.append(
                {
                    "summary_id": summary_id,
                    "query_id": queries[query].query_id,
                    "haystack_id": name,
                    "summarizer": f"writer {system // 2}",
                    "setting": f"setting {system % 2}",
                    "method": "plain",
                    "text": "\n".join(f"- {text(number, place, 5)} [{cited}]" for place, cited in enumerate(bullets)),
                }
            )
            drawn = rng.integers([len(answers), len(bullets)], size=(shape.judges, len(own), 2))
            labels += [
                insight_label(f"judge {judge}", summary_id, target.target_id, answers[answer], int(unit))
                for judge in range(shape.judges)
                for target, (answer, unit) in zip(own, drawn[judge], strict=True)
            ]
        return HaystackRows(name, documents, queries, targets, qrels, summaries=summaries, labels=labels)

    return rows


if __name__ == "__main__":
    main(*sys.argv[1:])
