"""A chat model of the replica. Every call stands in the ledger, and is looked for there first."""

from __future__ import annotations

import uuid
from collections.abc import Coroutine, Mapping
from typing import NamedTuple, TypeVar

from pydantic import JsonValue

from actors.authority import Local
from actors.chat.governor import Unlimited
from actors.chat.model import CallContext, ChatModel
from actors.chat.opening import first_asked, open_chat
from actors.chat.pool import ChatPool
from actors.ledger.keeper import LedgerKeeper
from longform.chat.call import Capabilities, ChatReply, ChatRequest, call_id
from longform.chat.prices import FREE
from longform.settings.chat import ChatSettings
from serve.chat_workers import LoopThread
from serve.engine import Work

_T = TypeVar("_T")


class CallsOfBatch(NamedTuple):
    """The calls that a batch made."""

    # call -> the replies to all calls of its question, by their ids: a second one if the first could not be read
    replies: Mapping[str, Mapping[str, ChatReply]]

    def work(self, verdict: Mapping[str, JsonValue]) -> Work:
        """The work of a *verdict*, whose `call_id` names the call that it was read from; null: nothing was asked."""
        called = verdict["call_id"]
        replies = self.replies.get(called, {}) if isinstance(called, str) else {}
        used = [reply.usage for reply in replies.values()]
        return Work(
            [verdict],
            sum((usage.input_tokens or 0) + (usage.cached_tokens or 0) for usage in used),
            output_tokens=sum((usage.output_tokens or 0) + (usage.reasoning_tokens or 0) for usage in used),
            from_ledger=bool(replies) and all(reply.from_ledger for reply in replies.values()),
            lasting=False,  # the ledger has the calls
            settled=called is None,
        )


class LedgeredModel:
    """
    A model of this process behind the pool.

    Raises:
        UsageError: It cannot be loaded.
    """

    def __init__(self, settings: ChatSettings, name: str, ledger: str) -> None:
        self._loop = LoopThread()
        self._calls = NotedCalls(settings, local_pool(open_chat(settings), settings, name, ledger))

    @property
    def chat(self) -> ChatModel:
        """Return the chat model of the judge."""
        return self._calls

    def run(self, work: Coroutine[None, None, _T]) -> tuple[_T, CallsOfBatch]:
        """Return the result of *work*, and the calls it made; blocks."""
        found = self._loop.run(work)
        return found, CallsOfBatch(self._calls.taken())


class NotedCalls:
    """A `ChatModel` that notes the replies that pass through it, as `CallsOfBatch` has them."""

    def __init__(self, settings: ChatSettings, chat: ChatModel) -> None:
        self._settings, self._chat = settings, chat
        self._replies: dict[str, dict[str, ChatReply]] = {}

    @property
    def accepted(self) -> Capabilities:
        return self._chat.accepted

    async def complete(self, request: ChatRequest) -> ChatReply:
        reply = await self._chat.complete(request)
        called = call_id(self._settings, request)
        of_question = self._replies.setdefault(call_id(self._settings, first_asked(request)), {})
        of_question[called] = reply
        self._replies[called] = of_question
        return reply

    async def close(self) -> None:
        await self._chat.close()

    def taken(self) -> dict[str, dict[str, ChatReply]]:
        """Return the calls since the last time."""
        found, self._replies = self._replies, {}
        return found


def local_pool(model: ChatModel, settings: ChatSettings, name: str, ledger: str) -> ChatPool:
    """A model of this process behind the pool, with a keeper of its own: each replica is a writer of the ledger."""
    job = f"serve-{name}-{uuid.uuid4().hex[:8]}"
    return ChatPool(
        model,
        settings,
        CallContext(job=job, stage=f"judge {name}", ledger=ledger),
        leases=Unlimited(),
        keeper=Local(LedgerKeeper(ledger, job)),
        price=FREE,
    )
