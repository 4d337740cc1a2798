"""
Have a chat stage's calls answered in batches before the stage runs, where its model's settings say `batch: true`.

The walk makes the requests that the stage will make for tasks that are not done.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple, TextIO

from actors.chat.call_context import CallContext
from actors.chat.openai_client import servers
from actors.chat.opening import Asking
from actors.chat.prepayment import Prepayment, Walk
from actors.chat.price_list import PriceList
from actors.chat.provider_batches import ProviderBatches
from actors.judges.chat import ChatJudge
from actors.judges.opening import Judge, make_judge
from actors.ledger.keeper import open_keeper
from actors.ledger.ledger import Ledger
from actors.serving.handle import is_of_cluster
from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from actors.summarizers.chat import ChatSummarizer
from jobs.spending.call_count import Unasked
from jobs.stages.check import CheckReader
from jobs.stages.items import PartReader
from jobs.stages.judge import judged_summary
from jobs.stages.runner import Task
from longform.chat.call import ChatRequest
from longform.errors import UsageError
from longform.judges.matrix import groups_of
from longform.settings.chat import ChatSettings, ChatSummarizerSettings
from longform.settings.experiment import Experiment
from longform.settings.methods import MethodSettings


class Batched(NamedTuple):
    """The calls of a stage, to be answered in batches."""

    settings: ChatSettings
    walk: Walk


def summaries_in_batches(
    run: Folder, bench_url: str, experiment: Experiment, name: str, tasks: Sequence[Task]
) -> Batched | None:
    """What a summarizer will ask; None where it asks nobody, or singly."""
    definition = experiment.summarizers[name]
    if not isinstance(definition, ChatSummarizerSettings) or not definition.chat.batch:
        return None
    walk = partial(
        summarizer_requests,
        run,
        bench_url,
        name,
        definition,
        methods=experiment.all_methods(),
        prompts=experiment.prompts,
        tasks=tasks,
    )
    return Batched(definition.chat, walk)


def verdicts_in_batches(
    run: Folder, bench_url: str, experiment: Experiment, name: str, tasks: Sequence[Task]
) -> Batched | None:
    """What a judge will ask; None where it asks nobody, or singly."""
    judge, chat = _made(experiment, name)
    if chat is None or not chat.batch:
        return None
    return Batched(chat, partial(judge_requests, run, bench_url, judge, chat, prompts=experiment.prompts, tasks=tasks))


def checks_in_batches(
    run: Folder, bench_url: str, experiment: Experiment, name: str, tasks: Sequence[Task]
) -> Batched | None:
    """What a support judge will ask; None where it asks nobody, or singly."""
    judge, chat = _made(experiment, name)
    if chat is None or not chat.batch:
        return None
    reader = CheckReader(run, bench_url, experiment.faithfulness.mode)
    return Batched(chat, partial(support_requests, reader, judge, chat, prompts=experiment.prompts, tasks=tasks))


def _made(experiment: Experiment, name: str) -> tuple[Judge, ChatSettings | None]:
    judge = make_judge(name, experiment.judges, prompts=experiment.prompts)
    return judge, judge.settings.asked_model


def check_batches(models: Iterable[ChatSettings]) -> None:
    """
    Every model with `batch: true` has a batch API that we speak.

    Raises:
        UsageError: One has not.
    """
    for settings in models:
        of_cluster = any(map(is_of_cluster, servers(settings)))
        if settings.batch and (settings.provider != "openai" or settings.replicas or of_cluster):
            openai = "an application of this cluster" if of_cluster else "replicas"
            has = openai if settings.provider == "openai" else f"provider {settings.provider!r}"
            raise UsageError(
                f"model {settings.model!r}: `batch: true` needs provider 'openai' and one server, found {has}; "
                "leave `batch` out"
            )


def prepay(batched: Batched, context: CallContext, *, log: TextIO = sys.stderr) -> int:
    """
    How many calls were answered in batches, after waiting for them; the ledger's keeper runs.

    Raises:
        LongformError: The provider refused a batch, or somebody cancelled it; what is answered is kept.
    """

    async def answer() -> int:
        batches, ledger = ProviderBatches(settings), Ledger.existing(context.ledger)
        keeper = open_keeper(context.ledger, context.job)
        try:
            prepayment = Prepayment(
                settings,
                context,
                ledger=ledger,
                keeper=keeper,
                batches=batches,
                price=PriceList.read(context.prices).price(settings),
                log=log,
            )
            return await prepayment.answer(walk)
        finally:
            ledger.close()
            await keeper.close()
            await batches.close()

    settings, walk = batched
    return asyncio.run(answer())


def summarizer_requests(
    run: Folder,
    bench_url: str,
    name: str,
    definition: ChatSummarizerSettings,
    *,
    methods: Mapping[str, MethodSettings],
    prompts: str | None,
    tasks: Sequence[Task],
) -> Iterator[ChatRequest]:
    """
    Of contexts that are summarised; those that no prompt can be made for are left out.

    Of a method with several steps, those that read no other step; the others are asked singly.
    """
    reader = PartReader(run)
    asking = Asking(chat=Unasked(definition.chat), prompts_folder=prompts)
    summarizer = ChatSummarizer(bench_url, name, definition, asking, methods=methods)
    for task in tasks:
        for item in task.payload["items"]:
            for context in reader.rows(item["part"], item["source"]):
                row = context | {key: item[key] for key in ("n_requested", "method", "repeat")}
                yield from (r for r in summarizer.requests(row).values() if isinstance(r, ChatRequest))


def judge_requests(
    run: Folder, bench_url: str, judge: Judge, chat: ChatSettings, *, prompts: str | None, tasks: Sequence[Task]
) -> Iterator[ChatRequest]:
    """Make the requests about summaries that are judged; second requests about unreadable replies are not known yet."""
    reader, benchmark = PartReader(run), Benchmark(bench_url)
    asker = _asker(judge, chat, prompts)
    for task in tasks:
        for item in task.payload["items"]:
            bullets = [] if item["failure"] else [u["text"] for u in reader.rows(item["part"], item["source"])]
            yield from asker.requests(groups_of(judge.kind, judged_summary(judge.kind, item, bullets, benchmark)))


def support_requests(
    reader: CheckReader, judge: Judge, chat: ChatSettings, *, prompts: str | None, tasks: Sequence[Task]
) -> Iterator[ChatRequest]:
    """Make the requests about sentences that are checked; second requests are not known yet."""
    asker = _asker(judge, chat, prompts)
    for task in tasks:
        summaries = [reader.summary(item) for item in task.payload["items"]]
        yield from asker.requests([group for summary in summaries for group in groups_of(judge.kind, summary)])


def _asker(judge: Judge, chat: ChatSettings, prompts: str | None) -> ChatJudge:
    assert judge.asking is not None, "a judge with a model asks it"
    return judge.asking(Asking(chat=Unasked(chat), prompts_folder=prompts))
