"""A fake provider that is asked in batches, and commands that ask it."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from actors.authority import Local
from actors.chat.model import CallContext
from actors.chat.prepayment import BatchLimits, Prepayment
from actors.chat.provider_batches import BatchNotes, ProviderBatches
from actors.ledger.keeper import NO_LIMIT, Budget, LedgerKeeper
from actors.ledger.ledger import Ledger
from actors.rehearsal.fake_batches import Batch
from actors.rehearsal.fake_provider import FakeProvider
from longform.chat.call import ChatReply, ChatRequest, Message, call_id
from longform.chat.prices import Price
from longform.rehearsal.settings import FakeSettings
from longform.settings.chat import ChatSettings

PRICE = Price(input=5.0, output=50.0)
MANY = BatchLimits()


def requests(n: int, *, max_tokens: int = 100) -> list[ChatRequest]:
    texts = (f"question {number}: " + "word " * 40 for number in range(n))
    return [ChatRequest(messages=(Message("user", text),), max_tokens=max_tokens) for text in texts]


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Bench:
    """A fake provider, and commands on one ledger that ask it in batches."""

    def __init__(self, folder: Path) -> None:
        self.ledger = str(folder / "ledger")
        self.log = io.StringIO()
        self.clock = Clock()
        self.fake: FakeProvider
        self.keeper: LedgerKeeper

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.fake.__aexit__()

    async def serve(self, **settings: Any) -> None:
        self.fake = await FakeProvider(FakeSettings(**settings)).__aenter__()

    @property
    def settings(self) -> ChatSettings:
        return ChatSettings(model="m", base_url=self.fake.url, batch=True, attempts=4)

    @property
    def batches(self) -> list[Batch]:
        return list(self.fake._batches._batches.values())

    @property
    def sent(self) -> list[set[str]]:
        """The call ids of each batch that the provider has made, in its own record."""
        return [{item["custom_id"] for item in batch.items} for batch in self.batches]

    def ids(self, asked: Iterable[ChatRequest]) -> set[str]:
        return {call_id(self.settings, request) for request in asked}

    async def command(
        self,
        asked: list[ChatRequest],
        *,
        provider: Callable[[ChatSettings], ProviderBatches] = ProviderBatches,
        budget: Budget = NO_LIMIT,
        keeper: LedgerKeeper | None = None,
        limits: BatchLimits = MANY,
    ) -> int:
        """A command of its own."""
        self.keeper = keeper or LedgerKeeper(self.ledger, "job", budget, None, self.clock)
        batches = provider(self.settings)
        prepayment = Prepayment(
            self.settings,
            CallContext(job="job", stage="judge m", ledger=self.ledger),
            keeper=Local(self.keeper),
            batches=batches,
            price=PRICE,
            log=self.log,
            limits=limits,
            first_look_s=0.001,
        )
        try:
            return await prepayment.answer(lambda: one_by_one(self.unanswered(asked)))
        finally:
            await batches.close()

    def calls(self) -> list[dict[str, Any]]:
        return [row for table in Ledger.existing(self.ledger).batches() for row in table.to_pylist()]

    def answers(self, asked: Iterable[ChatRequest]) -> Mapping[str, ChatReply]:
        return Ledger.existing(self.ledger).finished(sorted(self.ids(asked)))

    def unanswered(self, asked: Sequence[ChatRequest]) -> list[ChatRequest]:
        """Return those of *asked* that plans still wait for."""
        answered = self.answers(asked)
        return [request for request in asked if call_id(self.settings, request) not in answered]

    @property
    def notes(self) -> int:
        return len(BatchNotes(self.ledger).all())


async def one_by_one(asked: Iterable[ChatRequest]) -> AsyncIterator[ChatRequest]:
    """Give *asked* as the plans of a stage do."""
    for request in asked:
        yield request
