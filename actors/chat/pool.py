"""
The pool that every model call goes through: within the limits, never paid twice, each failure a reply.

    lookup -> turn (lease from the governor, intent in the ledger) -> call -> receipt in the ledger -> reply
"""

from __future__ import annotations

import asyncio
import random
import time
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from actors.chat.governor import LeaseSource
from actors.chat.keeper_client import Batches
from actors.chat.lease_queue import LeaseQueue
from actors.chat.model import CallContext, ChatModel
from actors.ledger.keeper import Keeper, LedgerKeeper
from actors.secret_values import redaction
from longform.chat.call import Capabilities, ChatReply, ChatRequest, call_id, failed, refusal_reason
from longform.chat.failures import CANCELLED, REFUSED, UNANSWERED, Endings, asks_to_wait, backoff_s, is_final
from longform.chat.ledger_rows import Admission, Intent, intent_of
from longform.chat.prices import Price, TokenEstimates, cost_usd
from longform.chat.server_standing import Server
from longform.errors import BudgetReachedError, ServerGoneError, StoppedError
from longform.settings.chat import ChatSettings

_WATCH_S = 1.0  # between two looks at how the server stands with all workers
_BUSY_S = 0.3  # until a call that another worker is making is asked for again
_ALONE_REFUSALS = 8  # of one call while others are let in: it is this call that the provider will not have
_MOST_REFUSALS = 100  # of one call to a model that no keeper watches
_UNSAID_S = 30.0  # that a reply waits for others which say how they ended, at most
_LONGEST_TOLD_S = 60.0  # what a failing server may ask one call to wait


class _Attempt(NamedTuple):
    request: ChatRequest
    intent: Intent

    @property
    def ids(self) -> tuple[str, str]:
        return self.intent.attempt_id, self.intent.call_id


class ChatPool:
    """A `ChatModel` around one that makes single attempts; one a worker and model."""

    def __init__(
        self,
        model: ChatModel,  # makes the attempts
        settings: ChatSettings,
        context: CallContext,
        *,
        leases: LeaseSource,
        keeper: Keeper,
        price: Price | None,  # None: unknown, and then costs are too
        server: Server | None = None,  # given up if all workers find that it is gone; None: it cannot be
    ) -> None:
        self._model, self._settings, self._context, self._price = model, settings, context, price
        self._leases, self._keeper = leases, keeper
        self._redaction = redaction()  # after the model has read its key
        worker = uuid.uuid4().hex
        self._batches = Batches(worker, keeper, server, stage=context.stage)
        self._server = server
        self._has_succeeded = False
        self._gone: str | None = None  # why no call can succeed
        self._is_gone = asyncio.Event()
        self._watching: asyncio.Task[None] | None = None
        self._estimates = TokenEstimates()
        self._endings = Endings()
        self._unsaid: list[asyncio.Future[None]] = []  # of replies that do not say whether they are whole
        self._slots = asyncio.Semaphore(settings.concurrency)
        self._turns: LeaseQueue[_Attempt] = LeaseQueue(
            leases,
            worker=worker,
            job=context.job,
            # some more than may be under way, so that no slot waits for a lease
            most=settings.concurrency + settings.concurrency // 2 + 1,
            begin=self._begin,
            not_made=self._cancelled,
        )
        self._running: dict[str, asyncio.Task[ChatReply]] = {}
        self._n_accepted = 0
        self._settling: set[asyncio.Task[None]] = set()

    @property
    def accepted(self) -> Capabilities:
        return self._model.accepted

    async def complete(self, request: ChatRequest) -> ChatReply:
        """
        Return the reply, from the ledger if the call was answered before, or one with the reason why there is none.

        Two requests of one content at once are one call.

        Raises:
            BudgetReachedError: The command may not spend more.
            StoppedError: The command is over.
            ServerGoneError: No call of the model can succeed, as the calls of all workers have shown.
        """
        if reason := refusal_reason(request, self.accepted):
            return failed(reason)
        key = call_id(self._settings, request)
        running = self._running.get(key)
        if running is None:
            running = self._running[key] = asyncio.create_task(self._answer(key, request))
            running.add_done_callback(lambda _: self._end(key))
            if self._watching is None or self._watching.done():
                self._watching = asyncio.create_task(self._watch())
        return await asyncio.shield(running)

    def _end(self, key: str) -> None:
        self._running.pop(key, None)
        self._let_unsaid_go()

    async def close(self) -> None:
        """Give up what waits, and let go of connections."""
        for task in self._running.values():
            task.cancel()
        if self._watching is not None:
            self._watching.cancel()
        await asyncio.gather(*self._running.values(), return_exceptions=True)
        await self._turns.close()
        await asyncio.gather(*self._settling, return_exceptions=True)
        await self._batches.close()
        await asyncio.gather(self._leases.close(), self._keeper.close(), self._model.close())

    async def _answer(self, key: str, request: ChatRequest) -> ChatReply:
        found = await self._batches.finished(key)
        n_failed = n_refused = 0
        n_accepted = self._n_accepted
        while found is None:
            if self._gone is not None:
                raise ServerGoneError(self._gone)
            attempt, tokens = self._attempt(key, request), self._estimates.tokens(request)
            admission = await self._turns.take(attempt, tokens, first=n_refused > 0)
            if admission != "go":
                found = await self._not_ours(key, admission)
                continue
            reply = await self._make(attempt, tokens)
            self._has_succeeded |= reply.failure is None
            if not self._has_succeeded:
                await self._look()
            refused = reply.failure == REFUSED
            n_refused, n_failed = n_refused + refused, n_failed + (not refused)
            if refused:
                done = self._is_hopeless(n_refused, others_let_in=self._n_accepted > n_accepted)
            else:
                done = is_final(reply) or n_failed >= self._settings.attempts
            if done:
                return reply
            if not refused:  # for refusals the governor decides when
                told = min(reply.signals.retry_after_s or 0.0, _LONGEST_TOLD_S)
                await self._pause(backoff_s(n_failed, random.random(), told_s=told))
        # an older ledger may hold what is taken out today, and texts that were cut
        self._endings.hear(found)
        return replace(self._endings.judged(self._redaction.reply(found)), from_ledger=True)

    async def _pause(self, seconds: float) -> None:
        """Wait, unless the server is given up meanwhile."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._is_gone.wait()

    async def _watch(self) -> None:
        """Learn from the keeper when the server is to be given up, and tell the calls that wait."""
        while self._server is not None and self._running and self._gone is None:
            await asyncio.sleep(_WATCH_S)
            await self._look()

    async def _look(self) -> None:
        if self._server is None:
            return
        with suppress(Exception):  # of a keeper that is gone the calls themselves are told
            self._gone = await self._keeper.ask(LedgerKeeper.trouble, self._server) or self._gone
        if self._gone is not None:
            self._is_gone.set()
            self._turns.give_up(ServerGoneError(self._gone))

    async def _not_ours(self, key: str, admission: Admission) -> ChatReply | None:
        if admission == "budget":
            raise BudgetReachedError(f"budget reached before a call of {self._settings.model!r}; what is done is kept")
        if admission == "stopped":
            raise StoppedError("the command that asked is over; no call leaves any more")
        if admission == "busy":
            await asyncio.sleep(_BUSY_S)
        return await self._batches.finished(key)

    def _is_hopeless(self, n_refused: int, *, others_let_in: bool) -> bool:
        """Return whether to give up a call that was refused again; if all are refused, the keeper's watch decides."""
        if others_let_in:
            return n_refused >= _ALONE_REFUSALS
        return self._server is None and n_refused >= _MOST_REFUSALS

    async def _make(self, attempt: _Attempt, tokens: float) -> ChatReply:
        # The place is free when the receipt is durable: what a dying worker takes with it is what it had places for,
        # and the few replies that wait for a word on whether texts of this server are whole.
        try:
            async with self._slots:
                sent = time.monotonic()
                self._turns.hear_left(sent, tokens)
                reply = self._redaction.reply(await self._model.complete(attempt.request))
                self._hear(attempt.request, reply, sent, tokens)
                if reply.cost_usd is None:  # a system of one's own may state it
                    reply = replace(reply, cost_usd=cost_usd(reply.usage, self._price))
                self._endings.hear(reply)
                self._let_unsaid_go()
                if reply.is_whole is not None or self._endings.known:
                    return await self._settled(attempt, reply)
        finally:
            self._turns.end()
        await self._until_known()
        return await self._settled(attempt, reply)

    async def _settled(self, attempt: _Attempt, reply: ChatReply) -> ChatReply:
        """Record a reply as it is to be taken, and return it."""
        whole = self._endings.judged(reply, attempt.request)
        await self._batches.settle(*attempt.ids, whole, again=attempt.request.again)
        return whole

    async def _until_known(self) -> None:
        """Wait until the other calls show whether this server says how its replies end."""
        word: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._unsaid.append(word)
        self._let_unsaid_go()
        await asyncio.wait([word], timeout=_UNSAID_S)

    def _let_unsaid_go(self) -> None:
        """Let the replies without a word go if it is known, or if there is no other call to wait for."""
        if self._endings.known or len(self._unsaid) >= len(self._running):
            for word in self._unsaid:
                if not word.done():
                    word.set_result(None)
            self._unsaid.clear()

    def _hear(self, request: ChatRequest, reply: ChatReply, sent: float, tokens: float) -> None:
        signals = reply.signals
        if any(said is not None for said in signals):
            self._turns.hear(sent, signals)
        # a failing server that names a time speaks for all, as one that refuses
        if asks_to_wait(reply):
            self._turns.hear_refused(sent, tokens, signals.retry_after_s)
        elif reply.failure not in UNANSWERED:
            self._n_accepted += 1
            self._turns.hear_accepted(sent, tokens, self._estimates.learn(request, reply.usage))

    # ------------------------------------------------------------ what the turns need

    async def _begin(self, attempts: Sequence[_Attempt]) -> Sequence[Admission]:
        return await self._batches.begin([attempt.intent for attempt in attempts])

    def _attempt(self, key: str, request: ChatRequest) -> _Attempt:
        named = {"attempt_id": uuid.uuid4().hex, "call_id": key, "stage": self._context.stage}
        intent = intent_of(self._settings, request, self._price, deadline_s=self._settings.timeout_s, **named)
        return _Attempt(request, intent)

    def _cancelled(self, attempt: _Attempt) -> None:
        never_sent = replace(failed(CANCELLED), cost_usd=0.0)
        task = asyncio.create_task(self._batches.settle(*attempt.ids, never_sent))
        self._settling.add(task)
        task.add_done_callback(self._settling.discard)
