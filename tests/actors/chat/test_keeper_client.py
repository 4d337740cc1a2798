"""Messages of a worker to the keeper."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from actors.authority import Local
from actors.chat import keeper_client as call_batches
from actors.chat.keeper_client import Batches
from longform.chat.call import ChatReply, failed
from longform.chat.ledger_rows import Admission, Intent, Receipt


class Keeper:
    """Lets every call go; says when it has heard of the worker *n* times."""

    def __init__(self, n: int) -> None:
        self._left = n
        self.heard_enough = asyncio.Event()

    def finished(self, call_ids: Sequence[str]) -> dict[str, ChatReply]:
        return {}

    def exchange(self, worker: str, intents: Sequence[Intent], receipts: Sequence[Receipt]) -> list[Admission]:
        self._left -= 1
        if self._left == 0:
            self.heard_enough.set()
        return ["go" for _ in intents]


async def test_worker_whose_calls_take_long_keeps_saying_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """The keeper takes who is silent for dead, and what it has under way for lost."""
    monkeypatch.setattr(call_batches, "_HEARD_S", 0.001)
    keeper = Keeper(n=3)
    batches = Batches("worker", Local(keeper))
    await batches.begin([Intent("attempt", "call", "stage", "openai", "m", 0, None, 60.0)])

    async with asyncio.timeout(300):
        await keeper.heard_enough.wait()

    await batches.settle("attempt", "call", failed("timeout"))
    await batches.close()
