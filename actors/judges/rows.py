"""Asks a judge about summaries, and writes down its verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from actors.judges.backend import Backend
from actors.judges.opening import Judge
from longform.judges.matrix import JudgedText, groups_of, rows_of


async def judged_rows(judge: Judge, backend: Backend, summaries: Sequence[JudgedText]) -> list[dict[str, Any]]:
    """Return the rows of `verdicts` on *summaries*; *backend* is *judge*, loaded. All are asked about at once."""
    groups = [groups_of(judge.kind, summary) for summary in summaries]
    verdicts = iter(await backend.ask([group for of_summary in groups for group in of_summary]))
    version = judge.version.prompt
    return [
        row
        for summary, of_summary in zip(summaries, groups, strict=True)
        for row in rows_of(judge.kind, judge.name, summary, [next(verdicts) for _ in of_summary], version=version)
    ]
