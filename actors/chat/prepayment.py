"""
Has the calls of a stage answered through the provider's batch API, so that the stage finds them in the ledger.

Calls that a batch is making already, of this command or of one that died, are waited for; calls that are answered are
left out; an item that failed goes into a next batch alone. What no batch has answered the stage asks for singly.
"""

from __future__ import annotations

import asyncio
import uuid
from collections import Counter
from collections.abc import AsyncIterable, AsyncIterator, Callable, Sequence
from typing import NamedTuple, TextIO

from actors.chat.model import CallContext
from actors.chat.provider_batches import (
    BatchNote,
    BatchNotes,
    BatchProgress,
    FoundBatches,
    ProviderBatches,
    batch_note,
)
from actors.ledger.keeper import Keeper, LedgerKeeper
from actors.terminal import say
from longform.chat.batch_files import (
    CANCELLED,
    EXPIRED,
    ITEM_ERROR,
    MAX_BYTES,
    MAX_LINES,
    REJECTED,
    BatchItem,
    goes_again,
    priced,
    request_line,
)
from longform.chat.call import ChatRequest, call_id, capabilities, failed, refusal_reason
from longform.chat.completions import completion_parameters
from longform.chat.ledger_rows import Receipt, intent_of
from longform.chat.prices import Price
from longform.errors import LongformError
from longform.settings.chat import ChatSettings

_A_MESSAGE = 1000  # intents or receipts
_DEADLINE_S = 25 * 3600.0  # a batch ends within 24 hours
_LONGEST_LOOK_S = 60.0
_HEARTBEAT_S = 3.0  # the ledger's keeper gives up a worker's calls after 10 s of silence
_QUEUE_IS_FULL = ("token_limit_exceeded",)  # of the account's batches together: it passes as they end
_MEANS = {"expired": EXPIRED, "cancelled": CANCELLED, "failed": REJECTED}


class BatchLimits(NamedTuple):
    """Limits of one file of requests."""

    lines: int = MAX_LINES
    bytes: int = MAX_BYTES


_OF_OPENAI = BatchLimits()

Walk = Callable[[], AsyncIterable[ChatRequest]]
"""Gives the requests of a stage that wait for a reply, one after the other; asked again for each round of batches."""


class Prepayment:
    """The batches of one model for one stage."""

    def __init__(
        self,
        settings: ChatSettings,
        context: CallContext,
        *,
        keeper: Keeper,
        batches: ProviderBatches,
        price: Price | None,  # through the batch API; None: unknown
        log: TextIO,  # where progress goes
        limits: BatchLimits = _OF_OPENAI,  # those of one file
        # seconds until a batch is looked at; the time between two looks then grows to a minute
        first_look_s: float = 2.0,
    ) -> None:
        self._settings, self._context, self._price, self._log = settings, context, price, log
        self._keeper, self._batches = keeper, batches
        self._notes = BatchNotes(context.ledger)
        self._limits, self._first_look_s = limits, first_look_s
        self._accepted = capabilities(settings)
        self._worker = uuid.uuid4().hex
        self._failures: Counter[str] = Counter()
        self._answered = 0
        self._crowded_out = 0  # calls of this round for which the account's queue had no room

    async def answer(self, walk: Walk) -> int:
        """
        Send the unanswered calls, wait, and send passing failures again, until nothing is left to send.

        Returns:
            How many calls were answered.

        Raises:
            LongformError: The provider refused a batch, or it was cancelled; finished answers are kept.
        """
        while under_way := await self._send(walk()):
            self._crowded_out = 0
            self._say(f"{len(under_way)} under way with {sum(len(note.attempts) for note in under_way):,} calls")
            answered = self._answered
            await self._wait_for(under_way)
            if self._crowded_out and self._answered == answered:
                raise LongformError(
                    f"the account's queue of batches has no room for {self._crowded_out:,} calls of "
                    f"{self._settings.model!r}; what is answered is kept. Go on with the same command when other "
                    "batches have ended, or leave `batch` out"
                )
        if self._answered or self._failures:
            gave_up = sum(n >= self._settings.attempts for n in self._failures.values())
            self._say(f"{self._answered:,} calls answered; {gave_up:,} failed, and are asked for singly")
        return self._answered

    # ------------------------------------------------------------ sending

    async def _send(self, requests: AsyncIterable[ChatRequest]) -> list[BatchNote]:
        """Return the batches that make these calls: those found under way, and new ones for the rest."""
        found = FoundBatches(self._notes.all(), self._batches, self._notes)
        new = [note async for file in self._files(requests, found) if (note := await self._batch(file, found))]
        return [*found.under_way.values(), *new]

    async def _files(self, requests: AsyncIterable[ChatRequest], found: FoundBatches) -> AsyncIterator[list[BatchItem]]:
        held: list[BatchItem] = []
        size = 0
        async for item in self._items(requests, found):
            if held and (len(held) >= self._limits.lines or size + len(item.line) > self._limits.bytes):
                yield held
                held, size = [], 0
            held.append(item)
            size += len(item.line)
        if held:
            yield held

    async def _items(self, requests: AsyncIterable[ChatRequest], found: FoundBatches) -> AsyncIterator[BatchItem]:
        """Yield the calls that are not under way, nor have failed for good, each once."""
        seen: set[str] = set()
        async for request in requests:
            key = call_id(self._settings, request)
            may_be_asked = refusal_reason(request, self._accepted) is None
            if not may_be_asked or key in seen or self._failures[key] >= self._settings.attempts:
                continue
            seen.add(key)
            if not await found.attach(key) and len((item := self._item(key, request)).line) <= self._limits.bytes:
                yield item

    def _item(self, key: str, request: ChatRequest) -> BatchItem:
        named = {"attempt_id": uuid.uuid4().hex, "call_id": key, "stage": self._context.stage}
        intent = intent_of(self._settings, request, self._price, deadline_s=_DEADLINE_S, **named)
        return BatchItem(intent, request_line(key, completion_parameters(self._settings, self._accepted, request)))

    async def _batch(self, items: Sequence[BatchItem], found: FoundBatches) -> BatchNote | None:
        """Make a batch of those items that may go; return None if none may."""
        admissions = [
            admission
            for start in range(0, len(items), _A_MESSAGE)
            for admission in await self._keeper.ask(
                LedgerKeeper.exchange, self._worker, [item.intent for item in items[start : start + _A_MESSAGE]], []
            )
        ]
        going = [item for item, admission in zip(items, admissions, strict=True) if admission == "go"]
        if not going:
            return None
        for note in found.never_made([item.intent.call_id for item in going]):
            await self._take_back(note)
        note = batch_note({item.intent.call_id: item.intent.attempt_id for item in going})
        self._notes.add(note)
        try:
            file_id = await self._batches.upload(note.name, [item.line for item in going])
        except LongformError:
            await self._take_back(note)
            raise
        note = note._replace(batch_id=await self._batches.create(note.name, file_id))
        self._notes.set_made(note)
        return note

    async def _take_back(self, note: BatchNote) -> None:
        """Remove a note of which no batch was made: its calls never left."""
        nothing = priced(failed(CANCELLED), self._price)
        await self._record([Receipt(attempt, key, nothing) for key, attempt in note.attempts.items()])
        self._notes.remove(note)

    # ------------------------------------------------------------ waiting

    async def _wait_for(self, notes: Sequence[BatchNote]) -> None:
        left, look_s = list(notes), self._first_look_s
        while left:
            progress = [await self._progress(note) for note in left]
            for note, state in zip(left, progress, strict=True):
                if state.has_ended:
                    await self._settle(note, state)
            left = [note for note, state in zip(left, progress, strict=True) if not state.has_ended]
            if left:
                n_done, n_failed = sum(s.n_done for s in progress), sum(s.n_failed for s in progress)
                self._say(f"{len(left)} under way; of their calls {n_done:,} are answered, {n_failed:,} failed")
                await self._rest(look_s)
                look_s = min(look_s * 1.5, _LONGEST_LOOK_S)

    async def _progress(self, note: BatchNote) -> BatchProgress:
        assert note.batch_id is not None
        return await self._batches.progress(note.batch_id)

    async def _rest(self, seconds: float) -> None:
        while seconds > 0:
            await self._keeper.ask(LedgerKeeper.exchange, self._worker, [], [])
            await asyncio.sleep(min(seconds, _HEARTBEAT_S))
            seconds -= _HEARTBEAT_S

    async def _settle(self, note: BatchNote, progress: BatchProgress) -> None:
        """Record what each item came to; the batch is then forgotten."""
        replies = await self._batches.replies(progress)
        unsaid = failed(_MEANS.get(progress.status, ITEM_ERROR))
        receipts = [
            Receipt(attempt, key, priced(replies.get(key, unsaid), self._price))
            for key, attempt in note.attempts.items()
        ]
        await self._record(receipts)
        self._notes.remove(note)
        for receipt in receipts:
            self._count(receipt.call_id, receipt.reply.failure)
        _check_end(note, progress)

    def _count(self, key: str, failure: str | None) -> None:
        if failure is None:
            self._answered += 1
        elif failure == REJECTED:  # by no fault of the call
            self._crowded_out += 1
        else:
            self._failures[key] += 1 if goes_again(failure) else self._settings.attempts

    async def _record(self, receipts: Sequence[Receipt]) -> None:
        for start in range(0, len(receipts), _A_MESSAGE):
            await self._keeper.ask(LedgerKeeper.exchange, self._worker, [], receipts[start : start + _A_MESSAGE])

    def _say(self, words: str) -> None:
        say(f"{self._context.stage:<18} batches: {words}", file=self._log, flush=True)


def _check_end(note: BatchNote, progress: BatchProgress) -> None:
    if progress.status == "cancelled":
        raise LongformError(
            f"batch {note.batch_id} with {len(note.attempts):,} calls was cancelled at the provider; what it had "
            "answered is kept. The same command sends the rest again; leave `batch` out to have it asked for singly"
        )
    if progress.status == "failed" and not set(progress.faults) <= set(_QUEUE_IS_FULL):
        raise LongformError(
            f"batch {note.batch_id} with {len(note.attempts):,} calls was not taken on by the provider: "
            f"{', '.join(progress.faults)}; nothing of it was made. Leave `batch` out, or see the provider's pages"
        )
