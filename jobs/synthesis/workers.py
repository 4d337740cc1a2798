"""
The workers of a synthesis with chat models: topics -> `outlines` (haystack_id), 1:1; outlines -> `drafts`, 1:N.

One outline or one document is one task; its calls stand in the ledger, so that a task that died goes on from its last
call.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypedDict

from actors.chat.call_context import CallContext
from actors.storage.folder import Folder
from jobs.stages.items import Place, SourceReader
from longform.rows import CheckAttemptRow, DraftRow, OutlineRow
from longform.synthesis.written.asking import Log
from longform.synthesis.written.contamination import known_insights
from longform.synthesis.written.documents import Brief, Draft, write_document
from longform.synthesis.written.outline import Outline, OutlineJob, write_outline
from longform.synthesis.written.settings import ModelSynthesis


class OutlineTask(TypedDict):
    work_id: str
    haystack_id: str
    topic: int  # place in the configuration, from 0


class DraftTask(OutlineTask):
    outline: str  # work id
    part: str  # the file that has its row
    assigned: list[int]
    doc_index: int


def outline_worker(
    _: Folder, config: ModelSynthesis, context: CallContext
) -> Callable[[OutlineTask], Awaitable[list[OutlineRow]]]:
    """Make the worker of the table `outlines`: a payload is a topic."""
    from actors.synthesis import open_models

    models = open_models(config, context)

    async def outline(payload: OutlineTask) -> list[OutlineRow]:
        topic = config.topics[payload["topic"]]
        job = OutlineJob(topic=topic, sizes=config.sizes, caps=config.caps, withheld=config.withheld)
        log = Log()
        found = await models.carry_out(write_outline(job, log))
        if config.outsider is not None:
            known = await models.carry_out(known_insights(found, topic, config.caps, log))
            found = found.model_copy(update={"known": known})
        return [
            {
                "work_id": payload["work_id"],
                "haystack_id": payload["haystack_id"],
                "outline": found.model_dump_json(),
                "attempts": _attempts(log),
            }
        ]

    return outline


def draft_worker(
    work: Folder, config: ModelSynthesis, context: CallContext
) -> Callable[[DraftTask], Awaitable[list[DraftRow]]]:
    """Make the worker of the table `drafts`: a payload is a document of an outline."""
    from actors.synthesis import open_models

    models, reader = open_models(config, context), SourceReader(work, {"outlines": ["outline"]})

    async def write(payload: DraftTask) -> list[DraftRow]:
        row = reader.row(Place("outlines", payload["outline"], payload["part"]), OutlineRow)
        brief = Brief(
            topic=config.topics[payload["topic"]],
            outline=Outline.model_validate_json(row["outline"]),
            assigned=tuple(payload["assigned"]),
            doc_index=payload["doc_index"],
            n_documents=config.sizes.documents,
            words=config.sizes.words,
            caps=config.caps,
            reread=config.reread,
        )
        log = Log()
        draft = await models.carry_out(write_document(brief, log))
        return [
            {
                "work_id": payload["work_id"],
                "haystack_id": payload["haystack_id"],
                "doc_index": brief.doc_index,
                "title": draft.title,
                "text": draft.text,
                "stated": [*draft.stated],
                "unchecked": [*draft.unchecked],
                "reread": None if draft.reread is None else [*draft.reread],
                "attempts": _attempts(log),
            }
        ]

    return write


def _attempts(log: Log) -> list[CheckAttemptRow]:
    return [
        {
            "check": one.check,
            "subject": one.subject,
            "number": one.number,
            "verdict": one.verdict,
            "reason": one.reason,
            "call_id": one.call_id,
        }
        for one in log.attempts
    ]


def draft_of(row: DraftRow) -> Draft:
    """Read a row of `drafts` back."""
    return Draft(
        title=row["title"],
        text=row["text"],
        stated=tuple(row["stated"]),
        unchecked=tuple(row["unchecked"]),
        reread=None if row["reread"] is None else tuple(row["reread"]),
    )
