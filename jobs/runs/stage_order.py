"""The way of the data as code: which stages a run has, and which tables each reads and writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from jobs.write_benchmark import TABLES


class Step(NamedTuple):
    """A stage of the way of the data: which tables it reads, which one it writes."""

    name: str
    reads: tuple[str, ...]
    writes: str


WAY = (
    Step("retrieve", ("queries", "documents"), "rankings"),
    Step("rerank", ("rankings", "documents"), "rankings"),
    Step("pack", ("rankings", "documents"), "contexts"),
    Step("summarize", ("contexts", "documents"), "summaries"),
    Step("split", ("summaries",), "units"),
    Step("judge", ("units", "targets"), "verdicts"),
    Step("check", ("units", "contexts", "documents"), "verdicts"),
    Step("repair", ("summaries", "documents", "verdicts"), "summaries"),  # with the twins' units and copied verdicts
    Step("aggregate", ("verdicts", "units", "qrels"), "scores"),
    Step("report", ("scores", "summaries", "rankings", "contexts"), "results"),
)


def check_way(way: Sequence[Step]) -> None:
    """
    Every stage reads what the benchmark has or an earlier stage writes.

    Raises:
        ValueError: One does not.
    """
    known = set(TABLES) - {"rankings", "summaries"}  # a benchmark may ship these; a run makes its own
    for step in way:
        if missing := set(step.reads) - known:
            raise ValueError(f"{step.name} reads {sorted(missing)}, and no stage before it writes that")
        known.add(step.writes)
