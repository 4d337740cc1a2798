"""
The workers of a synthesis by grammar: haystacks to be written -> `haystacks` (haystack_id), 1:1.

One haystack is one task. If a chat model writes prose, its calls stand in the ledger, so that a task that died goes on
from its last call.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import TypedDict

from pydantic import JsonValue

from actors.chat.model import CallContext
from actors.chat.opening import load_prompt
from actors.judges.lexical import LexicalJudge
from actors.synthesis.models import SynthesisModels, open_models
from longform.errors import UsageError
from longform.formats.rows import HaystackRows
from longform.judges.kind import Group
from longform.keys import content_key
from longform.rows import HaystackRow
from longform.synthesis.audit import HaystackFacts
from longform.synthesis.grammar import passages
from longform.synthesis.grammar.haystack import (
    ComposedHaystack,
    Parts,
    Woven,
    compose_haystack,
    finished_haystack,
    write_haystack,
)
from longform.synthesis.grammar.passages import (
    PassageJob,
    Stating,
    Tried,
    passage_jobs,
    passage_parts,
    prose_counts,
    write_passages,
)
from longform.synthesis.grammar.settings import HaystackSettings, ProseSettings


class HaystackTask(TypedDict):
    work_id: str
    number: int  # of the haystack in the configuration, from 0


def haystack_worker(config: HaystackSettings) -> Callable[[HaystackTask], list[HaystackRow]]:
    """Makes the worker of the table `haystacks` if no model is asked: a payload is a haystack's number."""
    planned = list(config.planned())

    def write(payload: HaystackTask) -> list[HaystackRow]:
        topic, variant, size = planned[payload["number"]]
        try:
            written = write_haystack(topic, variant=variant, size=size, seed=config.seed, part=config.part)
        except UsageError as error:
            return [_refused(payload["work_id"], topic, error)]
        return [_row(payload["work_id"], written)]

    return write


class ProseWriter:
    """The worker for prose by a chat model."""

    def __init__(self, config: HaystackSettings, context: CallContext) -> None:
        assert config.prose is not None, "a grammar alone needs no chat model"
        self._config, self._prose, self._key = config, config.prose, prose_key(config.prose)
        self._topics = [planned.topic for planned in config.planned()]
        self._models, self._stating = open_models(config, context), offline_stating()

    async def __call__(self, payload: HaystackTask) -> list[HaystackRow]:
        """The row of a haystack, whose number *payload* gives."""
        try:
            composed = composed_haystack(self._config, payload["number"], self._key)
        except UsageError as error:
            return [_refused(payload["work_id"], self._topics[payload["number"]], error)]
        written = await with_prose(composed, self._models, self._stating, self._prose)
        return [_row(payload["work_id"], written)]


def composed_haystack(config: HaystackSettings, number: int, key: str) -> ComposedHaystack:
    """
    Haystack *number*, from 0, as the grammar writes it, before a chat model is asked; *key* digests the model's part.

    Raises:
        UsageError: The sizes do not fit together.
    """
    topic, variant, size = list(config.planned())[number]
    return compose_haystack(topic, variant=variant, size=size, seed=config.seed, part=config.part, prose=key)


async def with_prose(
    composed: ComposedHaystack, models: SynthesisModels, stating: Stating, prose: ProseSettings
) -> Woven:
    """Return the haystack with the model's sentences around planted ones, and the grammar's if none of them fit."""

    async def document(index: int) -> tuple[list[Parts | None], list[Tried]]:
        wanted = passage_jobs(composed, index)
        jobs = [job for job in wanted if job is not None]
        tried = await models.carry_out(write_passages(jobs, tries=prose.tries, stating=stating))
        found = iter(tried)
        return [None if job is None else _parts(next(found), job) for job in wanted], tried

    found = await asyncio.gather(*(document(index) for index in range(len(composed.documents))))
    told: dict[str, JsonValue] = {
        "model": prose.chat.model,
        "tries": prose.tries,
        **prose_counts(tried for _, tried in found),
    }
    return finished_haystack(composed, [parts for parts, _ in found], prose=told)


def _parts(tried: Tried, job: PassageJob) -> Parts | None:
    return None if tried.text is None else passage_parts(tried.text, job)


def offline_stating() -> Stating:
    """The offline support judge as verifier: it had no part in writing, and asks no model service."""
    judge = LexicalJudge(threads=1)

    def stating(text: str, facts: Sequence[str]) -> list[bool]:
        (row,) = judge.judge([Group("text", (text,), tuple(facts))])
        return [verdict.answer == "supported" for verdict in row]

    return stating


def prose_key(prose: ProseSettings) -> str:
    """Digest everything that decides a model's text, but for the seed."""
    version = load_prompt(passages.PROMPT, prose.prompts).version
    return content_key("prose", passages.VERSION, prose.chat.identity, prose.tries, version)


def rows_of(row: HaystackRow) -> HaystackRows:
    """Return the tables in a row of `haystacks`."""
    return HaystackRows(**json.loads(row["rows"] or ""))


def facts_of(row: HaystackRow) -> HaystackFacts:
    """Return the planted facts of a row of `haystacks`."""
    return HaystackFacts.from_json(json.loads(row["facts"] or ""))


def _row(work_id: str, written: Woven) -> HaystackRow:
    tables = {
        name: [row._asdict() for row in getattr(written, name)] for name in ("documents", "queries", "targets", "qrels")
    }
    rows = {"haystack_id": written.haystack_id, **tables, "rankings": [], "summaries": [], "labels": []}
    return {
        "work_id": work_id,
        "haystack_id": written.haystack_id,
        "rows": json.dumps(rows),
        "facts": json.dumps(written.facts.as_json()),
        "refused": None,
    }


def _refused(work_id: str, topic: str, error: UsageError) -> HaystackRow:
    told = f"topic {topic!r}: {error}"
    return {"work_id": work_id, "haystack_id": None, "rows": None, "facts": None, "refused": told}
