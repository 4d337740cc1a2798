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
from actors.judges.chat_coverage_targets import ChatCoverageJudge
from actors.judges.chat_support import ChatSupportJudge as Judge
from actors.ledger.keeper import open_keeper
from actors.ledger.ledger import Ledger
from actors.serving.handle import is_of_cluster
from actors.storage.folder import Folder
from actors.summarizers.chat import ChatSummarizer
from jobs.spending.call_count import Unasked
from jobs.stages.check import CheckReader, support_groups
from jobs.stages.items import PartReader
from jobs.stages.runner import Task
from longform.chat.call import ChatRequest
from longform.errors import UsageError
from longform.judges.support_prompts import open_cells
from longform.settings.chat import ChatSettings, ChatSummarizerSettings
from longform.settings.experiment import Experiment
from longform.settings.judges import ChatJudgeSettings, ChatSupportJudgeSettings
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
    definition = experiment.judges[name]
    if not isinstance(definition, ChatJudgeSettings) or not definition.chat.batch:
        return None
    walk = partial(judge_requests, run, bench_url, name, definition, prompts=experiment.prompts, tasks=tasks)
    return Batched(definition.chat, walk)


def checks_in_batches(
    run: Folder, bench_url: str, experiment: Experiment, name: str, tasks: Sequence[Task]
) -> Batched | None:
    """What a support judge will ask; None where it asks nobody, or singly."""
    definition = experiment.support_judges[name]
    if not isinstance(definition, ChatSupportJudgeSettings) or not definition.chat.batch:
        return None
    reader = CheckReader(run, bench_url, experiment.faithfulness.mode)
    walk = partial(support_requests, reader, name, definition, prompts=experiment.prompts, tasks=tasks)
    return Batched(definition.chat, walk)


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
    run: Folder, bench_url: str, name: str, definition: ChatJudgeSettings, *, prompts: str | None, tasks: Sequence[Task]
) -> Iterator[ChatRequest]:
    """Of summaries that are judged; what is asked again because a reply cannot be read is not known before."""
    reader = PartReader(run)
    asking = Asking(chat=Unasked(definition.chat), prompts_folder=prompts)
    judge = ChatCoverageJudge(bench_url, name, definition, asking)
    for task in tasks:
        for item in task.payload["items"]:
            bullets = [] if item["failure"] else [u["text"] for u in reader.rows(item["part"], item["source"])]
            if bullets:
                yield from judge.requests({"query_id": item["query_id"], "bullets": bullets})


def support_requests(
    reader: CheckReader, name: str, definition: ChatSupportJudgeSettings, *, prompts: str | None, tasks: Sequence[Task]
) -> Iterator[ChatRequest]:
    """Of sentences that are checked; what is asked again because a reply cannot be read is not known before."""
    judge = Judge(name, definition, Asking(chat=Unasked(definition.chat), prompts_folder=prompts))
    for task in tasks:
        groups = support_groups([reader.summary(item) for item in task.payload["items"]])
        for text, sentences in open_cells(groups).items():
            yield from judge.requests(text, sentences)
