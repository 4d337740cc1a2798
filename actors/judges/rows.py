"""Asks a judge about summaries, and writes down its verdicts."""

from __future__ import annotations

from collections.abc import Sequence

from actors.judges.backend import Backend
from actors.judges.opening import Judge
from longform.judges.kind import Group, Verdicts
from longform.judges.matrix import JudgedText, groups_of, rows_of
from longform.rows import VerdictRow


async def judged_rows(judge: Judge, backend: Backend, summaries: Sequence[JudgedText]) -> list[VerdictRow]:
    """Return the rows of `verdicts` on *summaries*; *backend* is *judge*, loaded. All are asked about at once."""
    return rows_of_all(judge, summaries, await backend.ask(groups_of_all(judge, summaries)))


def groups_of_all(judge: Judge, summaries: Sequence[JudgedText]) -> list[Group]:
    """Return the pairs of all *summaries* that are to be judged."""
    return [group for summary in summaries for group in groups_of(judge.kind, summary)]


def rows_of_all(judge: Judge, summaries: Sequence[JudgedText], verdicts: Verdicts) -> list[VerdictRow]:
    """Return the rows of `verdicts` on *summaries*, whose *verdicts* are in the order of `groups_of_all`."""
    left, version = iter(verdicts), judge.version.prompt
    return [
        row
        for summary in summaries
        for of_groups in [[next(left) for _ in groups_of(judge.kind, summary)]]
        for row in rows_of(judge.kind, judge.name, summary, of_groups, version=version)
    ]
