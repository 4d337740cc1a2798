"""
The worker of every step of a synthesis with chat models: works -> `pieces` (work_id), 1:1.

Its calls stand in the ledger, so that a work that died goes on from its last call.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any, TypedDict, get_args

from pydantic import JsonValue

from actors.chat.model import CallContext
from actors.storage.folder import Folder
from jobs.stages.items import RowPlace, SourceReader
from jobs.synthesis.config import KINDS
from longform.rows import CheckAttemptRow, PieceRow
from longform.synthesis.asking import Attempt, Log, Outcome
from longform.synthesis.recipe import Job, Piece, Recipe

TABLE = "pieces"
_OUTCOMES: dict[str, Outcome] = {outcome: outcome for outcome in get_args(Outcome)}


class PieceTask(TypedDict):
    work_id: str
    step: str
    haystack_id: str
    doc_index: int | None
    payload: JsonValue
    needs: list[tuple[str, str]]  # work ids of pieces, with the files that have their rows


def piece_worker(
    work: Folder, kind: str, recipe: Recipe[Any], context: CallContext
) -> Callable[[PieceTask], Awaitable[list[PieceRow]]]:
    """Make the worker of the table `pieces`: a payload is a work."""
    from actors.synthesis.models import embed, open_models

    models = open_models(recipe.settings, context, KINDS[kind].forms)
    reader = SourceReader(work, {TABLE: ["piece"]})

    async def make(task: PieceTask) -> list[PieceRow]:
        needed = [json.loads(reader.row(RowPlace(TABLE, *place), PieceRow)["piece"]) for place in task["needs"]]
        log = Log()
        content = await models.carry_out(recipe.plan(Job(task["step"], task["payload"], needed, embed), log))
        return [
            {
                "work_id": task["work_id"],
                "step": task["step"],
                "haystack_id": task["haystack_id"],
                "doc_index": task["doc_index"],
                "piece": json.dumps(content, ensure_ascii=False),
                "attempts": [_as_row(attempt) for attempt in log.attempts],
            }
        ]

    return make


def _as_row(attempt: Attempt) -> CheckAttemptRow:
    return {
        "check": attempt.check,
        "subject": attempt.subject,
        "number": attempt.number,
        "verdict": attempt.verdict,
        "reason": attempt.reason,
        "call_id": attempt.call_id,
    }


def piece_of(row: PieceRow) -> Piece:
    """Read a row of `pieces` back."""
    attempts = [
        Attempt(one["check"], one["subject"], one["number"], _OUTCOMES[one["verdict"]], one["reason"], one["call_id"])
        for one in row["attempts"]
    ]
    return Piece(row["haystack_id"], row["doc_index"], json.loads(row["piece"]), attempts)
