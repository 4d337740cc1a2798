"""
Have a chat stage's calls answered in batches before the stage runs, if its model's settings say `batch: true`.

The requests are those of the stage's own plans. Each round of batches has the requests that all open plans wait for, so
that steps which read others, and second questions about replies that could not be read, go in a later round.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, TextIO

from actors.chat.model import CallContext
from actors.chat.opening import Asking
from actors.chat.prepayment import Prepayment
from actors.chat.price_list import PriceList
from actors.chat.provider_batches import ProviderBatches
from actors.ledger.keeper import open_keeper
from actors.ledger.ledger import Ledger
from jobs.spending.call_count import CallCount, Unasked
from jobs.stages.items import Item
from jobs.stages.stage import Stage
from longform.chat.asking import Recorded, UnansweredError, carry_out
from longform.chat.call import ChatRequest
from longform.settings.chat import ChatSettings

Tasks = Sequence[Sequence[Item[Any]]]


def prepay_stage(
    stage: Stage[Any], tasks: Callable[[], Tasks], context: CallContext, *, log: TextIO = sys.stderr
) -> int:
    """
    Have the calls of a stage's *tasks* answered in batches if its model's settings say so; the ledger's keeper runs.

    Returns:
        How many calls were answered.

    Raises:
        LongformError: The provider refused a batch, or it was cancelled; finished answers are kept.
    """
    if stage.chat is None or not stage.chat.batch:
        return 0
    return asyncio.run(_prepay(stage, stage.chat, tasks(), context, log))


async def _prepay(stage: Stage[Any], settings: ChatSettings, tasks: Tasks, context: CallContext, log: TextIO) -> int:
    batches, ledger = ProviderBatches(settings), Ledger.existing(context.ledger)
    keeper = open_keeper(context.ledger, context.job)
    try:
        prepayment = Prepayment(
            settings,
            context,
            keeper=keeper,
            batches=batches,
            price=PriceList.read(context.prices).price(settings),
            log=log,
        )
        return await prepayment.answer(partial(open_requests, stage, settings, tasks, ledger))
    finally:
        ledger.close()
        await keeper.close()
        await batches.close()


async def open_requests(
    stage: Stage[Any], settings: ChatSettings, tasks: Tasks, ledger: Ledger
) -> AsyncIterator[ChatRequest]:
    """Give the requests that the plans of *tasks* wait for, once they have read the ledger's replies."""
    plans = stage.plans(Asking(chat=Unasked(settings), prompts_folder=stage.prompts), stage.reader())
    find = partial(CallCount(ledger).answered, settings)
    for task in tasks:
        for plan in plans(task):
            recorded = Recorded(find)
            with suppress(UnansweredError):
                await carry_out(plan, recorded.answer)
            for request in recorded.open:
                yield request
