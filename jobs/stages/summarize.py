"""
Summarize: `contexts` -> `summaries` (summary_id). 1:1; a summary that fails stays a row with its reason.

What a chat model is to summarise at several lengths, the first 10, 20, ... documents of one query, is one task, and so
are repeats: their prompts begin alike, and the server need not read that twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import inf
from typing import Any, NamedTuple

from actors.chat.call_context import CallContext
from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.calling import Calling, open_rows
from jobs.stages.items import Item, PartReader, plan
from jobs.stages.pack import Packed, how_packed
from jobs.stages.runner import Row, Stage, Task
from longform.formats.longformfact import SENTENCES
from longform.keys import content_key
from longform.settings.chat import ChatSummarizerSettings
from longform.settings.experiment import Experiment, System
from longform.settings.methods import PlainMethodSettings
from longform.text.sentences import sentences

USUAL_BULLETS = 7
"""Asked for where a query has no insights to count: SummHay's 92 queries have 6.75 of them on average."""

_OFFLINE_CONTEXTS_A_TASK = 8
_GIVEN = ("work_id", "n_requested", "method", "setting", "summarizer", "repeat")
"""What an item adds to its context's row."""


class Summarized(NamedTuple):
    """A summary that the run wants."""

    query_id: str
    setting: str
    summarizer: str
    repeat: int = 0


class Source(NamedTuple):
    """What a summary is made from."""

    work_id: str
    context: str
    n_requested: int
    method: str
    packed: Packed  # what the context is


def summary_work_ids(
    benchmark: Benchmark,
    experiment: Experiment,
    contexts: Mapping[Packed, tuple[str, str]],
    versions: Mapping[tuple[str, str], str],
) -> dict[Summarized, Source]:
    """
    Every summary the experiment wants -> its work id and source.

    *versions* has, for each summarizer and method, the version of what makes its summaries: its prompts, or its code.
    """
    found = {}
    for system, repeats in experiment.repeats.items():
        settings = experiment.summarizers[system.summarizer]
        for packed, (context, _) in contexts.items():
            if packed[1:] == how_packed(system):
                n = _bullets(benchmark, experiment, packed.query_id)
                depends = [
                    settings.identity,
                    n,
                    versions[system.summarizer, system.method],
                    *_method(experiment, system),
                ]
                for repeat in range(repeats):
                    again = [f"repeat {repeat}"] if repeat else []
                    made_of = [context, system.summarizer, system.setting, [*depends, *again]]
                    summarized = Summarized(packed.query_id, system.setting, system.summarizer, repeat)
                    found[summarized] = Source(content_key("summaries", *made_of), context, n, system.method, packed)
    return found


def _method(experiment: Experiment, system: System) -> list[Any]:
    """What a summary depends on beside the plain prompt's."""
    return [] if system.method == "plain" else [experiment.all_methods()[system.method].model_dump()]


def _bullets(benchmark: Benchmark, experiment: Experiment, query_id: str) -> int:
    """
    How many bullets to ask for: as configured, else as many as the query has targets, or the usual number.

    A query with a reference summary asks for as many sentences as its paper does, else as the reference has.
    """
    if isinstance(experiment.bullets, int):
        return experiment.bullets
    targets = benchmark.targets.get(query_id, [])
    if not targets or any(target.kind != "reference" for target in targets):
        return sum(target.kind != "reference" for target in targets) or USUAL_BULLETS
    return SENTENCES.get(benchmark.queries[query_id].dataset or "") or len(sentences(targets[0].text))


def summarize_stage(
    run: Folder, bench_url: str, experiment: Experiment, name: str, *, calling: Calling, threads: int
) -> Stage:
    settings = experiment.summarizers[name]
    chat = settings.chat if isinstance(settings, ChatSummarizerSettings) else None
    context = calling.context(f"summarize {name}")
    return Stage(
        name=f"summarize {name}",
        table="summaries",
        identity=content_key(run.url, bench_url, name, settings.model_dump(), experiment.prompts, threads),
        make_worker=partial(_worker, run, bench_url, experiment, name, context=context, threads=threads),
        holds_model=settings.kind
        != "offline",  # the offline one loads in a second where its process has loaded one before
        asynchronous=chat is not None,
        slots=open_rows(chat) if chat else 1,
    )


def summarize_tasks(run: Folder, experiment: Experiment, name: str, wanted: Mapping[Summarized, Source]) -> list[Task]:
    """The tasks of one summarizer that are not done; of a chat model one a context, or one for all its lengths."""
    items = [
        {
            "work_id": source.work_id,
            "source": source.context,
            "n_requested": source.n_requested,
            "method": source.method,
            "setting": summarized.setting,
            "summarizer": summarized.summarizer,
            "repeat": summarized.repeat,
        }
        for summarized, source in wanted.items()
        if summarized.summarizer == name
    ]
    if not isinstance(experiment.summarizers[name], ChatSummarizerSettings):
        return plan(run, "contexts", run, "summaries", items, per_task=_OFFLINE_CONTEXTS_A_TASK)
    sources = {source.work_id: source for summarized, source in wanted.items() if summarized.summarizer == name}
    plain = {
        method for method, settings in experiment.all_methods().items() if isinstance(settings, PlainMethodSettings)
    }
    tasks: dict[Any, list[Item]] = {}
    for single in plan(run, "contexts", run, "summaries", items, per_task=1):
        (item,) = single.payload["items"]
        source = sources[item["work_id"]]
        # others stay apart, so that a slow call holds back its own row only
        task = _any_length(source) if source.method in plain else source.work_id
        tasks.setdefault(task, []).append(item)
    return [_longest_first(members, sources) for members in tasks.values()]


def _any_length(source: Source) -> tuple[Packed, str]:
    """What is the same for sources that differ in their length alone."""
    return source.packed._replace(n_documents=None, length_tokens=None), source.method


def _longest_first(items: Sequence[Item], sources: Mapping[str, Source]) -> Task:
    def length(item: Item) -> float:
        packed = sources[item["work_id"]].packed
        return packed.n_documents or packed.length_tokens or inf

    ordered = sorted(items, key=length, reverse=True)
    return Task(work_ids=tuple(item["work_id"] for item in ordered), payload={"items": ordered})


def _worker(
    run: Folder, bench_url: str, experiment: Experiment, name: str, *, context: CallContext, threads: int
) -> Any:
    from actors.summarizers.opening import make_summarizer

    reader = PartReader(run)
    ask = make_summarizer(
        bench_url,
        name,
        experiment.summarizers[name],
        methods=experiment.all_methods(),
        prompts=experiment.prompts,
        context=context,
        threads=threads,
    )

    async def summarize(payload: Mapping[str, Any]) -> list[Row]:
        items = {item["work_id"]: item for item in payload["items"]}
        rows = [
            context | {key: item[key] for key in _GIVEN}
            for item in items.values()
            for context in reader.rows(item["part"], item["source"])
        ]
        return await ask(rows)

    return summarize
