"""Make benchmarks whose contents are known exactly."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from io import StringIO

from actors.chat.opening import check_chat
from actors.storage.benchmark import MANIFEST
from actors.storage.folder import Folder
from jobs.command.calling import Calling, ledger_beside, open_rows
from jobs.configs import read_yaml, validated
from jobs.files.write_benchmark import Manifest, same_or_refuse, write_benchmark
from jobs.stages.cluster import Cluster
from jobs.stages.runner import PlainStage, Task, run_stage
from jobs.synthesis.audits import FACTS, export_summhay, write_audit, write_facts, write_tables
from jobs.synthesis.haystack_workers import HaystackTask, ProseWriter, facts_of, haystack_worker, prose_key, rows_of
from longform.errors import UsageError
from longform.formats.rows import HaystackRows
from longform.keys import content_key
from longform.rows import HaystackRow
from longform.settings.chat import ChatSettings
from longform.synthesis.grammar.haystack import topic_version
from longform.synthesis.grammar.settings import HaystackSettings

MakeWriter = Callable[[], ProseWriter | Callable[[HaystackTask], list[HaystackRow]]]
"""Makes the worker of the table `haystacks`."""

_TABLE = "haystacks"
_WORK = "synthesis"
_WORD_S = 0.67 / 75_000  # to write and to audit, measured at the size of `full` (docs/log.md)
_START_S = 9  # of Ray and two stages


def read_config(name: str, changes: Sequence[str] = ()) -> HaystackSettings:
    """The configuration of a file, or of a preset by its name, with `key=value` changes applied."""
    return validated(HaystackSettings, read_yaml(name, folder="configs/benchmarks"), changes, where=name)


def generate(name: str, out_url: str) -> None:
    """
    Make the benchmark of the configuration *name*; a run that makes its own opens this by its import path.

    Raises:
        UsageError: There is no such configuration, or it cannot be met.
    """
    make_benchmark(read_config(name), out_url)


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
    config: HaystackSettings, out_url: str, *, cluster: Cluster | None = None, calling: Calling | None = None
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
        made = _made(config, work, cluster, calling)
        manifest = write_benchmark(out_url, _haystacks(made, folder), sources=_sources(config))
    except UsageError:
        _clear(folder, work)
        raise
    except BaseException:
        if not folder.has(MANIFEST):
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


def _clear(folder: Folder, work: Folder) -> None:
    """Leave nothing behind of a configuration that cannot be met."""
    if not folder.has(MANIFEST):
        work.delete_table(_TABLE)
        work.delete_if_empty()
        folder.delete_table(FACTS)
        folder.delete_if_empty()


def _haystacks(made: Iterator[HaystackRow], folder: Folder) -> Iterator[HaystackRows]:
    for row in made:
        if row["refused"] is not None:
            raise UsageError(row["refused"])
        write_facts(folder, facts_of(row))
        yield rows_of(row)


def _made(config: HaystackSettings, work: Folder, cluster: Cluster | None, calling: Calling) -> Iterator[HaystackRow]:
    """Yield the rows of `haystacks` in the configuration's order, made when the first is taken."""
    tasks = _tasks(config)
    done = work.locate(_TABLE)
    todo = [task for task in tasks if task.work_ids[0] not in done]
    asks = bool(chats_of(config))
    if todo and asks:
        if cluster is not None:
            cluster.start_for_calls()
        calling.start()
    stage = PlainStage(
        name="synthesize",
        table=_TABLE,
        identity=content_key(work.url, config.model_dump(mode="json")),
        make_worker=_make_worker(config, calling),
        holds_model=asks,
        asynchronous=asks,
        unit="haystacks",
        slots=max([1, *map(open_rows, chats_of(config))]),
    )
    here = Cluster(address=None, workers=0) if cluster is None else cluster
    run_stage(
        work, stage, len(tasks), todo, cluster=here, notice=calling.notice, log=StringIO() if cluster is None else None
    )
    haystacks = work.snapshot(_TABLE)
    for task in tasks:
        (row,) = haystacks.read(work_ids=task.work_ids).to_pylist()
        yield row


def _make_worker(config: HaystackSettings, calling: Calling) -> MakeWriter:
    if config.prose is not None:
        return partial(ProseWriter, config, calling.context("synthesize"))
    return partial(haystack_worker, config)


def _tasks(config: HaystackSettings) -> list[Task]:
    sources = _sources(config)
    ids = [content_key("haystacks", sources, number) for number in range(len(list(config.planned())))]
    return [
        Task(work_ids=(work_id,), payload={"work_id": work_id, "number": number}) for number, work_id in enumerate(ids)
    ]


def chats_of(config: HaystackSettings) -> list[ChatSettings]:
    """Return the models that write."""
    return list(config.chats.values())


def _sources(config: HaystackSettings) -> list[dict[str, str]]:
    """The topics, each with a digest of its text and of all settings."""
    settings = _made_of(config)
    return [
        {"name": f"topic {topic}", "sha256": hashlib.sha256(f"{topic_version(topic)} {settings}".encode()).hexdigest()}
        for topic in config.topics
    ]


def _made_of(config: HaystackSettings) -> str:
    """All settings that can change a document; limits and deadlines of a model are no part of it."""
    said = config.model_dump_json(exclude={"prose"}, exclude_none=True)
    return said if config.prose is None else f"{said} {prose_key(config.prose)}"


def wants_workers(config: HaystackSettings, cluster: Cluster) -> bool:
    """Return whether workers are done sooner than this process: small haystacks are written before Ray has started."""
    sizes = [planned.size for planned in config.planned()]
    if cluster.in_process or cluster.workers == 1 or len(sizes) == 1:
        return False
    if config.prose is not None or cluster.is_named:
        return True
    alone_s = _WORD_S * sum(size.documents * size.words for size in sizes)
    return alone_s * (1 - 1 / cluster.workers) > _START_S
