"""Asks a judge about summaries, and writes down its verdicts."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from actors.judges.opening import Backend, Judge
from longform.judges.kind import Group, Verdicts
from longform.judges.matrix import JudgedText, groups_of, rows_of
from longform.rows import VerdictRow

Rounds = Generator[list[Group], Verdicts, list[VerdictRow]]
"""Yields pairs that are to be judged, takes their verdicts, and returns the rows of `verdicts`."""


async def judged_rows(judge: Judge, backend: Backend, summaries: Sequence[JudgedText]) -> list[VerdictRow]:
    """Return the rows of `verdicts` on *summaries*; *backend* is *judge*, loaded. Each round is asked at once."""
    rounds = rounds_of(judge, summaries)
    try:
        groups = next(rounds)
        while True:
            groups = rounds.send(await backend.ask(groups))
    except StopIteration as ended:
        rows: list[VerdictRow] = ended.value
        return rows


def rounds_of(judge: Judge, summaries: Sequence[JudgedText]) -> Rounds:
    """Ask about all *summaries*, and go on with those that have something further to be judged."""
    rows: list[VerdictRow] = []
    while summaries:
        groups = [groups_of(judge.kind, summary) for summary in summaries]
        flat = [group for of in groups for group in of]
        left = iter((yield flat) if flat else [])
        further = []
        for summary, of_summary in zip(summaries, groups, strict=True):
            verdicts = [next(left) for _ in of_summary]
            new = rows_of(judge.kind, judge.name, summary, verdicts, version=judge.version.prompt)
            rows += new
            if summary.further is not None:
                further.append(summary.further(_supported(judge, new)))
        summaries = further
    return rows


def _supported(judge: Judge, rows: Sequence[VerdictRow]) -> set[int]:
    """Return the units that a target supports wholly."""
    counts = judge.kind.counts
    return {row["unit_index"] for row in rows if row["unit_index"] is not None and counts.get(row["answer"] or "") == 1}
