"""
Make benchmarks whose contents are known exactly.

One haystack is one task, and a row of `haystacks` (haystack_id). If a chat model writes prose, its calls stand in the
ledger, so that a task that died goes on from its last call.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from io import StringIO
from typing import Any

from pydantic import JsonValue

from actors.chat.model import CallContext
from actors.chat.opening import check_chat, load_prompt
from actors.judges.lexical import LexicalJudge
from actors.storage.benchmark import MANIFEST
from actors.storage.folder import Folder
from actors.synthesis.models import SynthesisModels, open_models
from jobs.command.calling import Calling, ledger_beside, open_rows
from jobs.configs import read_yaml, validated
from jobs.files.write_benchmark import Manifest, same_or_refuse, write_benchmark
from jobs.stages.accounts import Note, StageReport
from jobs.stages.cluster import Cluster
from jobs.stages.runner import PlainStage, Task, run_stage
from jobs.synthesis.audits import FACTS, export_summhay, write_audit, write_facts, write_tables
from longform.errors import UsageError
from longform.formats.rows import HaystackRows
from longform.judges.kind import Group
from longform.keys import content_key
from longform.rows import HaystackRow
from longform.settings.chat import ChatSettings
from longform.synthesis.audit.planted import HaystackFacts
from longform.synthesis.grammar import passages
from longform.synthesis.grammar.haystack import (
    ComposedHaystack,
    Parts,
    Woven,
    compose_haystack,
    finished_haystack,
    topic_version,
    write_haystack,
)
from longform.synthesis.grammar.passages import (
    Stating,
    Tried,
    passage_jobs,
    passage_parts,
    prose_counts,
    write_passages,
)
from longform.synthesis.grammar.settings import HaystackSettings, ProseSettings


def haystack_worker(config: HaystackSettings) -> Callable[[Mapping[str, Any]], list[HaystackRow]]:
    """Makes the worker of the table `haystacks` if no model is asked: a payload is a haystack's number."""
    planned = list(config.planned())

    def write(payload: Mapping[str, Any]) -> list[HaystackRow]:
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

    async def __call__(self, payload: Mapping[str, Any]) -> list[HaystackRow]:
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
        written = zip(tried, jobs, strict=True)
        parts = (None if one.text is None else passage_parts(one.text, job) for one, job in written)
        return [None if job is None else next(parts) for job in wanted], tried

    found = await asyncio.gather(*(document(index) for index in range(len(composed.documents))))
    told: dict[str, JsonValue] = {"model": prose.chat.model, "tries": prose.tries}
    told |= prose_counts(tried for _, tried in found)
    return finished_haystack(composed, [parts for parts, _ in found], prose=told)


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


def _row(work_id: str, written: Woven) -> HaystackRow:
    names = ("documents", "queries", "targets", "qrels")
    tables = {name: [row._asdict() for row in getattr(written, name)] for name in names}
    return {
        "work_id": work_id,
        "haystack_id": written.haystack_id,
        "rows": json.dumps({"haystack_id": written.haystack_id, **tables}),
        "facts": written.facts.model_dump_json(),
        "refused": None,
    }


def _refused(work_id: str, topic: str, error: UsageError) -> HaystackRow:
    told = f"topic {topic!r}: {error}"
    return {"work_id": work_id, "haystack_id": None, "rows": None, "facts": None, "refused": told}


_TABLE = "haystacks"
_WORK = "synthesis"
_WORD_S = 0.67 / 75_000  # to write and to audit, measured at the size of `full` (docs/log.md)
_START_S = 9  # of Ray and two stages


def read_config(name: str, changes: Sequence[str] = ()) -> HaystackSettings:
    """The configuration of a file, or of a preset by its name, with `key=value` changes applied."""
    return validated(HaystackSettings, read_yaml(name, folder="configs/benchmarks"), changes, where=name)


def generate(name: str, out_url: str, cluster: Cluster | None) -> list[StageReport]:
    """
    Return what was done to make the benchmark *name*; a run that makes its own opens this by its import path.

    Raises:
        UsageError: There is no such configuration, or it cannot be met.
    """
    config, done = read_config(name), dict[str, StageReport]()
    synthesize(config, out_url, cluster=cluster, note=lambda report, **_: done.update({report.name: report}))
    make_benchmark(config, out_url, cluster=cluster if cluster and wants_workers(config, cluster) else None)
    return list(done.values())


def make_benchmark(
    config: HaystackSettings, out_url: str, *, cluster: Cluster | None = None, calling: Calling | None = None
) -> Manifest:
    """Do as `synthesize`, write SummHay's files and the audit beside the benchmark, and return its manifest."""
    manifest = synthesize(config, out_url, cluster=cluster, calling=calling)
    export_summhay(out_url)
    write_audit(out_url, cluster=cluster)
    write_tables(Folder(out_url))
    return manifest


def synthesize(
    config: HaystackSettings,
    out_url: str,
    *,
    cluster: Cluster | None = None,
    calling: Calling | None = None,
    note: Note | None = None,
) -> Manifest:
    """
    Return the manifest of the benchmark now at *out_url*, a folder or s3:// URL: its tables, and the planted
    statements.

    Haystacks are tasks on *cluster*; None: they are written in this process, one after the other. *calling* has the
    ledger and the budget of calls for prose; None: the ledger stands beside the folder.

    Raises:
        UsageError: The sizes do not fit together, the model cannot be used, or another benchmark stands there.
        StageError: Some calls failed for a reason that may pass; the same command goes on.
        BudgetReachedError: The budget does not suffice for the rest; finished work is kept.
    """
    config.check_sizes()
    folder, work = Folder(out_url), Folder(out_url).child(_WORK)
    calling = calling or Calling("synthesize", ledger=ledger_beside(out_url))
    if not folder.has(MANIFEST):
        for chat in chats_of(config):
            check_chat(chat)
        calling.check_prices(chats_of(config))
    try:
        made = _made(config, work, cluster, calling, note)
        manifest = write_benchmark(out_url, _haystacks(made, folder), sources=_sources(config))
    except BaseException as error:
        if not folder.has(MANIFEST):
            if isinstance(error, UsageError):  # it cannot be met: nothing of it is to be left
                work.delete_table(_TABLE)
                work.delete_if_empty()
            folder.delete_table(FACTS)
            folder.delete_if_empty()
        raise
    work.delete_table(_TABLE)
    work.delete_if_empty()
    return manifest


def left_to_write(config: HaystackSettings, out_url: str) -> list[int]:
    """
    Numbers of the haystacks that are still to be written, from 0.

    Raises:
        UsageError: The sizes do not fit together, the model cannot be used, or another benchmark stands there.
    """
    config.check_sizes()
    for chat in chats_of(config):
        check_chat(chat, with_key=False)
    folder = Folder(out_url)
    if folder.has(MANIFEST):
        same_or_refuse(folder, _sources(config))
        return []
    done = folder.child(_WORK).locate(_TABLE)
    return [number for number, task in enumerate(_tasks(config)) if task.work_ids[0] not in done]


def _haystacks(made: Iterator[HaystackRow], folder: Folder) -> Iterator[HaystackRows]:
    for row in made:
        if row["refused"] is not None:
            raise UsageError(row["refused"])
        write_facts(folder, HaystackFacts.model_validate_json(row["facts"] or ""))
        yield HaystackRows(**json.loads(row["rows"] or ""))


def _made(
    config: HaystackSettings, work: Folder, cluster: Cluster | None, calling: Calling, note: Note | None
) -> Iterator[HaystackRow]:
    """Yield the rows of `haystacks` in the configuration's order, made when the first is taken."""
    tasks = _tasks(config)
    done = work.locate(_TABLE)
    todo = [task for task in tasks if task.work_ids[0] not in done]
    writer, asks = partial(haystack_worker, config), bool(chats_of(config))
    here = Cluster(address=None, workers=0) if cluster is None else cluster
    if todo and asks:
        here.start_for_calls()
        calling.start()
    stage = PlainStage(
        name="synthesize",
        table=_TABLE,
        make_worker=partial(ProseWriter, config, calling.context("synthesize")) if asks else writer,
        holds_model=asks,
        asynchronous=asks,
        unit="haystacks",
        slots=max([1, *map(open_rows, chats_of(config))]),
    )
    log = StringIO() if cluster is None else None
    run_stage(work, stage, len(tasks), todo, cluster=here, note=note, notice=calling.notice, log=log)
    haystacks = work.snapshot(_TABLE)
    for task in tasks:
        (row,) = haystacks.read(work_ids=task.work_ids).to_pylist()
        yield row


def _tasks(config: HaystackSettings) -> list[Task]:
    sources = _sources(config)
    ids = [content_key("haystacks", sources, number) for number in range(len(list(config.planned())))]
    return [Task(work_ids=(one,), payload={"work_id": one, "number": number}) for number, one in enumerate(ids)]


def chats_of(config: HaystackSettings) -> list[ChatSettings]:
    """Return the models that write."""
    return list(config.chats.values())


def _sources(config: HaystackSettings) -> list[dict[str, str]]:
    """The topics, each with a digest of its text and of all settings that can change a document."""
    settings = config.model_dump_json(exclude={"prose"}, exclude_none=True)
    if config.prose is not None:  # limits and deadlines of a model are no part of it
        settings += f" {prose_key(config.prose)}"
    return [
        {"name": f"topic {topic}", "sha256": hashlib.sha256(f"{topic_version(topic)} {settings}".encode()).hexdigest()}
        for topic in config.topics
    ]


def wants_workers(config: HaystackSettings, cluster: Cluster) -> bool:
    """Return whether workers are done sooner than this process: small haystacks are written before Ray has started."""
    sizes = [planned.size for planned in config.planned()]
    if cluster.in_process or cluster.workers == 1 or len(sizes) == 1:
        return False
    if config.prose is not None or cluster.is_named:
        return True
    alone_s = _WORD_S * sum(size.documents * size.words for size in sizes)
    return alone_s * (1 - 1 / cluster.workers) > _START_S
