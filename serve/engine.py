"""A loaded model that many ask at once: its answers kept by their content, its work put together in batches."""

from __future__ import annotations

import asyncio
import hashlib
import json
import uuid
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypedDict, TypeVar

from pydantic import JsonValue

from actors.ledger.ledger import Ledger
from actors.serving.messages import About, Answered, Replies, answers_to_each
from longform.chat.call import ChatReply, Usage
from longform.chat.ledger_rows import Intent, Receipt
from longform.errors import LongformError
from longform.keys import content_key
from serve.batching import TokenBatcher
from serve.settings import Batching

_BYTES_A_TOKEN = 4


class TextsItem(TypedDict):
    """Texts of which each gets a vector."""

    texts: list[str]


class PairsItem(TypedDict):
    """A query and texts, of which each gets a score."""

    query: str
    texts: list[str]


JudgeItem = Mapping[str, str | Sequence[str]]
"""An item of a judge's type, by the names of its fields."""

JudgeUnit = JudgeItem | tuple[str | Sequence[str], str] | tuple[str | Sequence[str], str, str]
"""An item of a judge that reads it whole; of another one the shared text, one thing that is looked for, and the query
if the judge is shown it."""

ChatItem = dict[str, Any]
"""The part of a request for a completion that the model reads, in OpenAI's words; what is not stated is left out."""

Item = TypeVar("Item")
Item_contra = TypeVar("Item_contra", contravariant=True)
Unit = TypeVar("Unit")

Value = TypeVar("Value")  # of JSON, with tuples for lists if its reader made them


class Work(NamedTuple):
    """A worker's answer to one unit."""

    content: Any  # a vector, a score, a list of verdicts, or a completion
    tokens: int  # that it read
    truncated: bool = False  # its window cut the unit's text
    lasting: bool = True  # another try would say the same; others, such as a service's failure, are not kept
    from_ledger: bool = False  # of a mean of judges, if the ledger had every call of its members
    output_tokens: int = 0  # that it wrote
    settled: bool = False  # no model had to be asked, as about a sentence without text
    each: bool = False  # the content is a reranker's order, with a place, a score and a failure of each text of an item


class Worker(Protocol[Item_contra, Unit]):
    """A loaded model. It is never called from two threads at once."""

    about: About

    def split(self, item: Item_contra) -> list[Unit]:
        """Return the units of work that one item of a request consists of, as JSON values."""

    def run(self, units: list[Unit]) -> list[Work]:
        """Return the answer to each unit, in order; it does not depend on the units beside it."""


class Backend(Protocol[Item_contra]):
    """The application's way to a model: an `Engine` in the same process, or one behind a deployment handle."""

    async def about(self) -> About:
        """Return the model's description of itself."""

    async def problem(self) -> str | None:
        """Return why it does not work; None if it does."""

    async def ask(self, items: Sequence[Item_contra], *, within_s: float | None = None) -> Replies:
        """
        Return the answers to the units of each item.

        Raises:
            QueueFullError: Too much is waiting; nothing of this was run.
            TooLargeError: This is more than may ever wait.
            DeadlineError: *within_s* passed.
            UnavailableError: The model cannot be reached now.
        """


class InMemory:
    """Keeps so many of the answers that were used last."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[str, Work] = OrderedDict()

    async def find(self, keys: Sequence[str]) -> dict[str, Work]:
        return {key: self._kept[key] for key in keys if key in self._kept}

    async def keep(self, found: Mapping[str, Work]) -> None:
        for key, work in found.items():
            self._kept[key] = work
            self._kept.move_to_end(key)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)


class Engine(Generic[Item, Unit]):
    """
    A `Backend` around a `Worker` of this process.

    *kept* stores answers; None: memory does, as *batching* says.
    """

    def __init__(self, worker: Worker[Item, Unit], batching: Batching, kept: InLedger | None = None) -> None:
        self._worker = worker
        self._batcher = TokenBatcher(
            worker.run,
            batch_tokens=batching.batch_tokens,
            queue_tokens=batching.queue_tokens,
            max_wait_s=batching.max_wait_s,
            wait_s=batching.wait_s,
        )
        self._kept: InLedger | InMemory = kept or InMemory(batching.cache_entries)

    async def about(self) -> About:
        return self._worker.about

    async def problem(self) -> str | None:
        return self._batcher.problem()

    def check_health(self) -> None:
        """Raise LongformError if the replica should be replaced; the message says why."""
        if problem := self._batcher.problem():
            raise LongformError(f"{self._worker.about.name}: {problem}")

    async def ask(self, items: Sequence[Item], *, within_s: float | None = None) -> Replies:
        split = [self._worker.split(item) for item in items]
        texts = Texts()
        keys = [[content_key(self._worker.about.version, texts.digests(unit)) for unit in units] for units in split]
        wanted = {key: unit for of, units in zip(keys, split, strict=True) for key, unit in zip(of, units, strict=True)}
        known = await self._kept.find(list(wanted))
        new = {key: unit for key, unit in wanted.items() if key not in known}
        units = list(new.values())
        answers_of_new = await self._batcher.ask(units, self._costs(units, texts), within_s=within_s)
        found = dict(zip(new, answers_of_new, strict=True))
        work = {**known, **found}
        await self._kept.keep({key: one for key, one in work.items() if one.lasting and not one.from_ledger})
        answers = [[one for key in of for one in _answered(work[key], key, known=key in known)] for of in keys]
        return Replies(self._worker.about, answers)

    def _costs(self, units: Sequence[Unit], texts: Texts) -> list[int]:
        """
        Tokens of each unit, no more than the window; a text that the unit before shares is counted there.

        They are estimated, since a tokenizer must not be read from two threads.
        """
        window = self._worker.about.window
        costs, before = [], None
        for unit in units:
            parts = unit if isinstance(unit, list | tuple) else ()
            first = parts[0] if parts else None
            n_bytes = texts.n_bytes(parts[1:] if first is not None and first is before else unit)
            estimate = tokens_of(n_bytes)
            costs.append(estimate if window is None else min(estimate, window))
            before = first
        return costs


def tokens_of(n_bytes: int) -> int:
    """Estimate the tokens of texts by their bytes."""
    return 1 + n_bytes // _BYTES_A_TOKEN


def _answered(work: Work, key: str, *, known: bool) -> list[Answered]:
    answer = Answered(
        work.content,
        work.tokens,
        work.truncated,
        from_cache=known or work.from_ledger,
        key=key,
        from_ledger=work.from_ledger,
        output_tokens=work.output_tokens,
        settled=work.settled,
    )
    return answers_to_each(answer) if work.each else [answer]


class Texts:
    """Digests and sizes of a request's texts, each text read once however many units share it."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, int]] = {}

    def digests(self, value: Value) -> JsonValue | Value:
        """Return a JSON value with a digest in place of each text."""
        if isinstance(value, str):
            return self._of(value)[0]
        if isinstance(value, dict):
            return {name: self.digests(part) for name, part in value.items()}
        return [self.digests(part) for part in value] if isinstance(value, list | tuple) else value

    def n_bytes(self, value: Value) -> int:
        """Return the bytes of all texts in a JSON value."""
        if isinstance(value, str):
            return self._of(value)[1]
        parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
        return sum(self.n_bytes(part) for part in parts)

    def _of(self, text: str) -> tuple[str, int]:
        if text not in self._known:
            encoded = text.encode()
            self._known[text] = (hashlib.sha256(encoded).hexdigest(), len(encoded))
        return self._known[text]


JOB = "serve"
"""Under which name replicas write."""

PROVIDER = "served"
_DEADLINE_S = 60.0  # of the step between intent and receipt, in which nothing is computed


class InLedger:
    """
    Keeps the answers of one judge that computes them itself; the calls of one that asks a chat model are there anyway.

    Nothing is paid while an answer is computed, so that intent and receipt are written when it is known: an answer that
    a dying replica takes with it is computed again.
    """

    def __init__(self, url: str, name: str) -> None:
        self._ledger = Ledger(url, job=JOB)
        self._name = name

    async def find(self, keys: Sequence[str]) -> dict[str, Work]:
        """The answers that are there, of those keys."""
        replies = await asyncio.to_thread(self._ledger.finished, list(keys))
        return {key: _read(reply.text or "") for key, reply in replies.items()}

    async def keep(self, found: Mapping[str, Work]) -> None:
        """Durable when this returns."""
        if found:
            await asyncio.to_thread(self._write, found)

    def _write(self, found: Mapping[str, Work]) -> None:
        intents = [self._intent(key) for key in found]
        verdicts = self._ledger.exchange(intents, ())
        # the others are written, or being written, by another replica
        going = [intent for intent, verdict in zip(intents, verdicts, strict=True) if verdict == "go"]
        receipts = [Receipt(one.attempt_id, one.call_id, _reply(self._name, found[one.call_id])) for one in going]
        self._ledger.exchange((), receipts)

    def _intent(self, key: str) -> Intent:
        return Intent(
            attempt_id=uuid.uuid4().hex,
            call_id=key,
            stage="judge",
            provider=PROVIDER,
            model=self._name,
            repeat=0,
            reserved_usd=0.0,
            deadline_s=_DEADLINE_S,
        )


def _reply(name: str, work: Work) -> ChatReply:
    kept = {"content": work.content, "tokens": work.tokens, "truncated": work.truncated}
    return ChatReply(
        text=json.dumps(kept, allow_nan=False),
        failure=None,
        model=name,
        usage=Usage(input_tokens=work.tokens),
        cost_usd=0.0,
    )


def _read(text: str) -> Work:
    return Work(**json.loads(text), from_ledger=True)
