"""
Have a chat stage's calls answered in batches before the stage runs, where its model's settings say `batch: true`.

The walk makes the requests that the stage will make for tasks that are not done.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, TextIO

from actors.chat.call_context import CallContext
from actors.chat.opening import Asking
from actors.chat.prepayment import Prepayment, Walk
from actors.chat.price_list import PriceList
from actors.chat.provider_batches import ProviderBatches
from actors.ledger.keeper import open_keeper
from actors.ledger.ledger import Ledger
from actors.summarizers.chat import ChatSummarizer
from jobs.spending.call_count import Unasked
from jobs.stages.judge import AskJudge
from jobs.stages.runner import Task
from jobs.stages.stage import Stage
from jobs.stages.summarize import Summarize, asked_context
from longform.chat.call import ChatRequest
from longform.judges.matrix import groups_of
from longform.settings.chat import ChatSettings, ChatSummarizerSettings


class Batched(NamedTuple):
    """The calls of a stage, to be answered in batches."""

    settings: ChatSettings
    walk: Walk


def prepay_stage(stage: Stage[Any], tasks: Sequence[Task], context: CallContext) -> None:
    """
    Have the calls of a stage's *tasks* answered in batches if its model's settings say so; the ledger's keeper runs.

    Raises:
        LongformError: The provider refused a batch, or somebody cancelled it; what is answered is kept.
    """
    if stage.chat is not None and stage.chat.batch:
        prepay(Batched(stage.chat, partial(_requests, stage, tasks)), context)


def _requests(stage: Stage[Any], tasks: Sequence[Task]) -> Iterator[ChatRequest]:
    match stage:
        case Summarize():
            return summarizer_requests(stage, tasks)
        case AskJudge():
            return judge_requests(stage, tasks)
    raise AssertionError(f"{stage.name} asks a model in a way that no batch knows")


def prepay(batched: Batched, context: CallContext, *, log: TextIO = sys.stderr) -> int:
    """
    Answer calls in batches, wait for them, and return their number; the ledger's keeper runs.

    Raises:
        LongformError: The provider refused a batch, or it was cancelled; finished answers are kept.
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


def summarizer_requests(stage: Summarize, tasks: Sequence[Task]) -> Iterator[ChatRequest]:
    """
    Give those of contexts that are summarised; those that no prompt can be made for are left out.

    Of a method with several steps, those that read no other step; the others are asked singly.
    """
    settings, reader = stage.settings, stage.reader()
    assert isinstance(settings, ChatSummarizerSettings), stage.name
    asking = Asking(chat=Unasked(settings.chat), prompts_folder=stage.prompts)
    summarizer = ChatSummarizer(stage.bench, stage.summarizer, settings, asking, methods=stage.methods)
    for task in tasks:
        for one in task.payload:
            row = asked_context(reader.row(one.sources[0]), one.work_id, one.key)
            yield from (r for r in summarizer.requests(row).values() if isinstance(r, ChatRequest))


def judge_requests(stage: AskJudge[Any], tasks: Sequence[Task]) -> Iterator[ChatRequest]:
    """Make the requests about summaries that are judged; second requests about unreadable replies are not known yet."""
    made, texts, chat = stage.made(), stage.texts(), stage.chat
    assert made.asking is not None, "a judge with a model asks it"
    assert chat is not None, stage.name
    asker = made.asking(Asking(chat=Unasked(chat), prompts_folder=stage.prompts))
    for task in tasks:
        summaries = [texts(one) for one in task.payload]
        yield from asker.requests([group for summary in summaries for group in groups_of(made.kind, summary)])
