"""Messages of one worker's calls to the ledger's keeper, many calls a message."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from actors.ledger.keeper import Keeper, LedgerKeeper
from longform.chat.call import ChatReply
from longform.chat.ledger_rows import Admission, Intent, Receipt
from longform.chat.server_standing import Server

_LOOKUP_S = 0.06  # lookups wait this long for company; a worker has more rows open than calls under way
_SETTLE_S = 0.02  # receipts wait this long for company; a reply is used when its receipt is durable
_HEARD_S = 1.0
_MOST_LOOKUPS = 1000  # of one message


class Batches:
    """Lookups, intents and receipts of one worker, on one event loop."""

    def __init__(self, worker: str, keeper: Keeper, server: Server | None = None, *, stage: str = "") -> None:
        self._worker, self._keeper, self._server, self._stage = worker, keeper, server, stage
        self._asked: dict[str, asyncio.Future[ChatReply | None]] = {}
        self._receipts: list[tuple[Receipt, asyncio.Future[None]]] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._settling = False
        self._last_exchange = 0.0
        self._n_open = 0
        self._keeping_heard: asyncio.Task[None] | None = None

    async def finished(self, call_id: str) -> ChatReply | None:
        """Return the reply this call has in the ledger; None if it has none."""
        if call_id not in self._asked:
            self._asked[call_id] = asyncio.get_running_loop().create_future()
            if len(self._asked) == 1:
                self._later(_LOOKUP_S, self._look_up)
        return await asyncio.shield(self._asked[call_id])

    async def begin(self, intents: Sequence[Intent]) -> Sequence[Admission]:
        """Return the keeper's answer to each intent; the admitted ones are recorded by then."""
        admissions = await self._exchange(intents)
        self._n_open += admissions.count("go")
        if self._keeping_heard is None or self._keeping_heard.done():
            self._keeping_heard = asyncio.create_task(self._keep_heard())
        return admissions

    async def settle(self, attempt_id: str, call_id: str, reply: ChatReply, *, again: str | None = None) -> None:
        """Record the outcome of an attempt; *again* is why it was made of a reply that was there."""
        recorded: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._receipts.append((Receipt(attempt_id, call_id, reply, self._server, again), recorded))
        if not self._settling:
            self._settling = True
            self._later(_SETTLE_S, self._settle_rest)
        try:
            await recorded
        finally:
            self._n_open -= 1

    async def close(self) -> None:
        """Wait for the messages that are under way."""
        if self._keeping_heard is not None:
            self._keeping_heard.cancel()
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _look_up(self) -> None:
        asked, self._asked = self._asked, {}
        keys = list(asked)
        try:
            for start in range(0, len(keys), _MOST_LOOKUPS):
                chunk = keys[start : start + _MOST_LOOKUPS]
                found = await self._keeper.ask(LedgerKeeper.finished, chunk, self._stage)
                for key in chunk:
                    asked[key].set_result(found.get(key))
        except Exception as error:  # noqa: BLE001  # each waiting call is told
            for future in asked.values():
                if not future.done():
                    future.set_exception(error)

    async def _settle_rest(self) -> None:
        self._settling = False
        if self._receipts:  # intents may have taken them along
            await self._settle()

    async def _settle(self) -> None:
        with suppress(Exception):  # each waiting call is told
            await self._exchange([])

    async def _keep_heard(self) -> None:
        # the keeper takes a worker with calls under way that says nothing for dead
        while self._n_open:
            await asyncio.sleep(_HEARD_S)
            if time.monotonic() - self._last_exchange >= _HEARD_S:
                await self._settle()

    async def _exchange(self, intents: Sequence[Intent]) -> Sequence[Admission]:
        taken, self._receipts = self._receipts, []
        self._last_exchange = time.monotonic()
        try:
            admissions = await self._keeper.ask(
                LedgerKeeper.exchange, self._worker, intents, [receipt for receipt, _ in taken]
            )
        except Exception as error:
            for _, recorded in taken:
                if not recorded.done():
                    recorded.set_exception(error)
            raise
        for _, recorded in taken:
            if not recorded.done():
                recorded.set_result(None)
        return admissions

    def _later(self, seconds: float, what: Callable[[], Awaitable[None]]) -> None:
        async def wait() -> None:
            await asyncio.sleep(seconds)
            await what()

        task = asyncio.create_task(wait())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
