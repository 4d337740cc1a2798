"""The pool: every call within its turn, recorded before it leaves and before its reply is used, bounded retries."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from actors.authority import Local
from actors.chat.lease_queue import LeaseQueue
from actors.chat.model import CallContext
from actors.chat.pool import ChatPool
from actors.ledger.keeper import NO_LIMIT, Budget, LedgerKeeper
from actors.ledger.ledger import Ledger
from longform.chat.call import Capabilities, ChatReply, ChatRequest, Message, Signals, Usage, failed
from longform.chat.ledger_rows import Admission, Intent, Receipt
from longform.chat.prices import Price
from longform.errors import BudgetReachedError, StoppedError
from longform.quota.leases import Lease, LeaseAsk, QuotaLimits
from longform.settings.chat import ChatSettings

SETTINGS = ChatSettings(model="m", base_url="http://127.0.0.1:1", attempts=3, concurrency=8)
PRICE = Price(input=10.0, cached_input=1.0, output=100.0, reasoning=100.0)
USAGE = Usage(100, 0, 10, 0)
Answer = Callable[[ChatRequest, int], ChatReply]


def answered(text: str = "yes") -> ChatReply:
    return ChatReply(text=text, failure=None, finish_reason="stop", usage=USAGE, seconds=0.1)


class Model:
    """Answers by a function of the request and how often it was asked; counts."""

    accepted = Capabilities()

    def __init__(self, answer: Answer = lambda request, _: answered(request.messages[-1].text)) -> None:
        self._answer = answer
        self.asked: list[str] = []
        self.open = self.most_open = 0

    async def complete(self, request: ChatRequest) -> ChatReply:
        text = request.messages[-1].text
        self.asked.append(text)
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        await asyncio.sleep(0)
        self.open -= 1
        return self._answer(request, self.asked.count(text))

    async def close(self) -> None: ...


class Granting:
    """Grants all that is asked; keeps the asks."""

    def __init__(self) -> None:
        self.asks: list[LeaseAsk] = []

    async def lease(self, ask: LeaseAsk) -> Lease:
        self.asks.append(ask)
        return Lease(len(ask.sizes), again_s=0.01, limits=QuotaLimits())

    async def close(self) -> None: ...


class WatchedKeeper(LedgerKeeper):
    """Keeps what was recorded, in order."""

    def __init__(self, url: str, job: str, budget: Budget) -> None:
        super().__init__(url, job, budget)
        self.log: list[str] = []
        self.third_intent = asyncio.Event()

    def exchange(self, worker: str, intents: Sequence[Intent], receipts: Sequence[Receipt]) -> list[Admission]:
        self.log += [f"receipt {receipt.reply.failure or receipt.reply.text}" for receipt in receipts]
        self.log += ["intent" for _ in intents]
        if self.log.count("intent") == 3:
            self.third_intent.set()
        return super().exchange(worker, intents, receipts)


def ask(text: str, **more: int) -> ChatRequest:
    return ChatRequest(messages=(Message("user", text),), max_tokens=10, input_tokens=100, **more)


class Pools:
    """Makes pools on one ledger."""

    def __init__(self, folder: Path) -> None:
        self.url = str(folder / "ledger")
        self.leases = Granting()

    def keeper(self, budget: Budget = NO_LIMIT, job: str = "job") -> WatchedKeeper:
        return WatchedKeeper(self.url, job, budget)

    def pool(self, model: Model, keeper: LedgerKeeper | None = None, settings: ChatSettings = SETTINGS) -> ChatPool:
        context = CallContext(job="job", stage="test", ledger=self.url)
        return ChatPool(
            model, settings, context, leases=self.leases, keeper=Local(keeper or self.keeper()), price=PRICE
        )


@pytest.fixture
def pools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pools:
    monkeypatch.setattr("actors.chat.pool.backoff_s", lambda *_, **__: 0.0)
    return Pools(tmp_path)


async def test_a_finished_call_is_never_made_again(pools: Pools) -> None:
    model = Model()
    first = await pools.pool(model).complete(ask("a"))
    again = await pools.pool(model, pools.keeper(job="later")).complete(ask("a"))
    assert model.asked == ["a"]
    assert (first.text, again.text, again.usage) == ("a", "a", USAGE)
    assert first.cost_usd == pytest.approx((100 * 10 + 10 * 100) / 1e6)
    assert (again.cost_usd, again.seconds) == (first.cost_usd, None)


async def test_a_repeat_on_purpose_is_another_call(pools: Pools) -> None:
    model = Model()
    pool = pools.pool(model)
    await asyncio.gather(*(pool.complete(ask("a", repeat=repeat)) for repeat in (0, 1, 1)))
    assert model.asked == ["a", "a"]


async def test_intent_stands_before_the_call_and_receipt_before_the_reply_is_used(pools: Pools) -> None:
    keeper = pools.keeper()

    def answer(request: ChatRequest, _: int) -> ChatReply:
        keeper.log.append("call")
        return answered()

    await pools.pool(Model(answer), keeper).complete(ask("a"))
    keeper.log.append("used")
    assert keeper.log == ["intent", "call", "receipt yes", "used"]


async def test_what_may_pass_is_tried_again_and_each_attempt_is_recorded(pools: Pools) -> None:
    fails = ["http_500", "timeout"]
    model = Model(lambda _, nth: failed(fails[nth - 1]) if nth <= len(fails) else answered())
    assert (await pools.pool(model).complete(ask("a"))).text == "yes"
    totals = Ledger(pools.url, job="reader").totals()
    assert (totals.calls, totals.answered, totals.failed, totals.open) == (3, 1, 2, 0)


async def test_attempts_are_bounded_and_the_reason_stays(pools: Pools) -> None:
    model = Model(lambda *_: failed("http_503"))
    assert (await pools.pool(model).complete(ask("a"))).failure == "http_503"
    assert len(model.asked) == SETTINGS.attempts


@pytest.mark.parametrize("failure", ["http_400", "http_401", "length", "empty_reply"])
async def test_what_may_not_pass_is_asked_once(pools: Pools, failure: str) -> None:
    model = Model(lambda *_: failed(failure))
    assert (await pools.pool(model).complete(ask("a"))).failure == failure
    assert model.asked == ["a"]


@pytest.mark.parametrize(("usage", "n_asked"), [(USAGE, 1), (Usage(), SETTINGS.attempts)])
async def test_a_reply_that_cannot_be_read_and_was_paid_for_is_not_paid_for_again(
    pools: Pools, usage: Usage, n_asked: int
) -> None:
    model = Model(lambda *_: ChatReply(text=None, failure="bad_body", usage=usage))
    assert (await pools.pool(model).complete(ask("a"))).failure == "bad_body"
    assert len(model.asked) == n_asked
    assert Ledger(pools.url, job="reader").totals().output_tokens == usage.output_tokens


@pytest.mark.parametrize("others_say", [True, False])
async def test_texts_without_a_word_are_whole_only_if_the_server_gives_no_word(
    pools: Pools, *, others_say: bool
) -> None:
    """Wherever they stand among the replies, and each is asked for once."""

    def answer(request: ChatRequest, _: int) -> ChatReply:
        is_silent = not others_say or request.messages[0].text < "4"
        silent = replace(answered(), finish_reason=None, is_whole=None, usage=Usage())
        return silent if is_silent else answered()

    model = Model(answer)
    pool = pools.pool(model)
    replies = await asyncio.gather(*(pool.complete(ask(str(n))) for n in range(8)))
    assert [reply.failure for reply in replies] == (
        ["not_finished_null"] * 4 + [None] * 4 if others_say else [None] * 8
    )
    assert sorted(model.asked) == [str(n) for n in range(8)]
    assert Ledger(pools.url, job="reader").totals().answered == (4 if others_say else 8)


async def test_failures_are_no_answers_for_a_later_job(pools: Pools) -> None:
    model = Model(lambda _, nth: failed("length") if nth == 1 else answered())
    await pools.pool(model).complete(ask("a"))
    assert (await pools.pool(model, pools.keeper(job="later")).complete(ask("a"))).text == "yes"


async def test_refusals_are_not_counted_as_attempts_and_are_told_to_the_governor(pools: Pools) -> None:
    n = SETTINGS.attempts + 4
    refused = ChatReply(text=None, failure="http_429", signals=Signals(retry_after_s=0.5))
    model = Model(lambda _, nth: refused if nth <= n else answered())
    assert (await pools.pool(model).complete(ask("a"))).text == "yes"
    heard = [refusal.retry_after_s for one in pools.leases.asks for refusal in one.refused]
    assert heard == [0.5] * n


@pytest.mark.parametrize(("failure", "n_told"), [("connection", 1), ("timeout", 1), ("http_500", 2)])
async def test_a_call_that_never_arrived_is_not_told_as_let_in(pools: Pools, failure: str, n_told: int) -> None:
    """It would end a hold before its time."""
    model = Model(lambda _, nth: failed(failure) if nth == 1 else answered())
    pool = pools.pool(model)
    assert (await pool.complete(ask("a"))).text is not None
    await pool.close()
    assert sum(len(one.accepted) for one in pools.leases.asks) + len(pool._turns._accepted) == n_told


async def test_a_call_that_alone_is_refused_is_given_up(pools: Pools) -> None:
    """One call is larger than a whole limit: the provider lets all others in."""
    model = Model(lambda request, _: failed("http_429") if request.messages[0].text == "large" else answered())
    pool = pools.pool(model)
    replies = await asyncio.gather(*(pool.complete(ask(text)) for text in ("large", "small")))
    assert [reply.failure for reply in replies] == ["http_429", None]
    assert model.asked.count("large") == 8


async def test_a_refused_call_goes_before_those_that_wait(pools: Pools) -> None:
    """First come, first served: a refusal does not cost a call its place."""
    model = Model(
        lambda request, nth: failed("http_429") if request.messages[0].text == "0" and nth == 1 else answered()
    )
    pool = pools.pool(model, settings=SETTINGS.model_copy(update={"concurrency": 1}))
    await asyncio.gather(*(pool.complete(ask(str(i))) for i in range(12)))
    assert model.asked.index("0", 1) < 6
    assert sorted(set(model.asked)) == sorted(str(i) for i in range(12))


async def test_one_slow_call_holds_nobody_back(pools: Pools) -> None:
    gate = asyncio.Event()

    class Slow(Model):
        async def complete(self, request: ChatRequest) -> ChatReply:
            if request.messages[0].text == "slow":
                await gate.wait()
            return await super().complete(request)

    pool = pools.pool(Slow(), settings=SETTINGS.model_copy(update={"concurrency": 2}))
    slow = asyncio.create_task(pool.complete(ask("slow")))
    others = await asyncio.gather(*(pool.complete(ask(str(i))) for i in range(50)))
    assert [reply.text for reply in others] == [str(i) for i in range(50)]
    assert not slow.done()
    gate.set()
    assert (await slow).text == "slow"


async def test_calls_in_flight_stay_within_the_worker_s_bound(pools: Pools) -> None:
    model = Model()
    pool = pools.pool(model)
    await asyncio.gather(*(pool.complete(ask(str(i))) for i in range(100)))
    assert 1 < model.most_open <= SETTINGS.concurrency
    leased_ahead = SETTINGS.concurrency // 2 + 1
    assert max(one.in_flight for one in pools.leases.asks) <= SETTINGS.concurrency + leased_ahead


@pytest.mark.parametrize("n", [1, 7])
async def test_max_calls_is_never_passed_and_what_is_done_is_kept(pools: Pools, n: int) -> None:
    model = Model()
    pool = pools.pool(model, pools.keeper(Budget(max_calls=n)))
    replies = await asyncio.gather(*(pool.complete(ask(str(i))) for i in range(20)), return_exceptions=True)
    assert sum(isinstance(reply, BudgetReachedError) for reply in replies) == 20 - n
    assert len(model.asked) == n == Ledger(pools.url, job="reader").totals().answered


async def test_max_cost_holds_reservations_included(pools: Pools) -> None:
    """A call is reserved at its most (184 input tokens at 10 $, 10 output at 100 $ a million) and costs 0.002."""
    model = Model()
    pool = pools.pool(model, pools.keeper(Budget(max_usd=0.0211)))
    replies = await asyncio.gather(*(pool.complete(ask(str(i))) for i in range(40)), return_exceptions=True)
    spent = Ledger(pools.url, job="reader").totals().known_usd
    assert 0.018 <= spent <= 0.0211
    assert sum(isinstance(reply, BudgetReachedError) for reply in replies) == 40 - len(model.asked)


async def test_after_stop_no_call_leaves(pools: Pools) -> None:
    keeper, model = pools.keeper(), Model()
    keeper.stop()
    with pytest.raises(StoppedError):
        await pools.pool(model, keeper).complete(ask("a"))
    assert model.asked == []


async def test_a_call_that_another_worker_makes_is_waited_for(pools: Pools, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("actors.chat.pool._BUSY_S", 0.01)
    gate, asked = asyncio.Event(), []

    class Gated(Model):
        async def complete(self, request: ChatRequest) -> ChatReply:
            asked.append(request)
            await gate.wait()
            return answered()

    keeper = pools.keeper()
    first, second = pools.pool(Gated(), keeper), pools.pool(Gated(), keeper)
    tasks = [asyncio.create_task(pool.complete(ask("a"))) for pool in (first, second)]
    await keeper.third_intent.wait()  # the second asked in vain
    gate.set()
    assert [reply.text for reply in await asyncio.gather(*tasks)] == ["yes", "yes"]
    assert len(asked) == 1


async def test_a_ledger_that_fails_lets_no_call_leave(pools: Pools) -> None:
    class Broken(LedgerKeeper):
        def exchange(self, *_: object) -> list[Admission]:
            raise OSError("disk full")

    model = Model()
    with pytest.raises(OSError, match="disk full"):
        await pools.pool(model, Broken(pools.url, "job")).complete(ask("a"))
    assert model.asked == []


async def test_a_call_cancelled_under_way_stays_unsettled(pools: Pools) -> None:
    """It left, so it may be billed."""
    left = asyncio.Event()

    class Endless(Model):
        async def complete(self, request: ChatRequest) -> ChatReply:
            left.set()
            await asyncio.Event().wait()
            raise AssertionError

    pool = pools.pool(Endless())
    task = asyncio.create_task(pool.complete(ask("a")))
    await left.wait()
    await pool.close()
    with pytest.raises(asyncio.CancelledError):
        await task
    totals = Ledger(pools.url, job="reader").totals()
    assert (totals.open, totals.unsettled_usd) == (1, pytest.approx((184 * 10 + 10 * 100) / 1e6))


async def test_a_call_cancelled_while_it_is_recorded_is_told_as_not_made() -> None:
    recording, go_on, not_made = asyncio.Event(), asyncio.Event(), []

    async def begin(calls: Sequence[str]) -> list[Admission]:
        recording.set()
        await go_on.wait()
        return ["go" for _ in calls]

    leases = Granting()
    queue = LeaseQueue[str](leases, worker="w", job="j", most=9, begin=begin, not_made=not_made.append)
    kept, cancelled = (asyncio.create_task(queue.take(call, 5.0, first=False)) for call in ("kept", "cancelled"))
    await recording.wait()
    cancelled.cancel()
    await asyncio.gather(cancelled, return_exceptions=True)
    go_on.set()
    assert (await kept, not_made) == ("go", ["cancelled"])
    await queue.take("next", 7.0, first=False)
    await queue.close()
    assert [tokens for ask in leases.asks for tokens in ask.returned] == [5.0]
