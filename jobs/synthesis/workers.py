"""
The workers of a synthesis with chat models: topics -> `outlines` (haystack_id), 1:1; outlines -> `drafts`, 1:N.

One outline or one document is one task; its calls stand in the ledger, so that a task that died goes on from its last
call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from actors.chat.call_context import CallContext
from actors.storage.folder import Folder
from jobs.stages.items import Place, Row, SourceReader
from longform.rows import OutlineRow
from longform.synthesis.written.asking import Log
from longform.synthesis.written.contamination import known_insights
from longform.synthesis.written.documents import Brief, Draft, write_document
from longform.synthesis.written.outline import Outline, OutlineJob, write_outline
from longform.synthesis.written.settings import ModelSynthesis


def outline_worker(_: Folder, config: ModelSynthesis, context: CallContext) -> Any:
    """Makes the worker of the table `outlines`: a payload is a topic."""
    from actors.synthesis import open_models

    models = open_models(config, context)

    async def outline(payload: Mapping[str, Any]) -> list[Row]:
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
                "attempts": [attempt._asdict() for attempt in log.attempts],
            }
        ]

    return outline


def draft_worker(work: Folder, config: ModelSynthesis, context: CallContext) -> Any:
    """Makes the worker of the table `drafts`: a payload is a document of an outline."""
    from actors.synthesis import open_models

    models, reader = open_models(config, context), SourceReader(work, {"outlines": ["outline"]})

    async def write(payload: Mapping[str, Any]) -> list[Row]:
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
                **asdict(draft),
                "attempts": [attempt._asdict() for attempt in log.attempts],
            }
        ]

    return write


def draft_of(row: Row) -> Draft:
    """A row of `drafts`, read back."""
    return Draft(
        title=row["title"],
        text=row["text"],
        stated=tuple(row["stated"]),
        unchecked=tuple(row["unchecked"]),
        reread=None if row["reread"] is None else tuple(row["reread"]),
    )
