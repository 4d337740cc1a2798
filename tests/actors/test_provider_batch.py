"""Batches of a provider: one receipt an item, failed items alone go again, no batch is made twice."""

from __future__ import annotations

import io
import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from actors.call_context import CallContext
from actors.fake_batches import Batch
from actors.fake_provider import FakeProvider
from actors.ledger import Ledger
from actors.ledger_keeper import NO_LIMIT, Budget, LedgerKeeper, LocalKeeper
from actors.prepayment import BatchLimits, Prepayment
from actors.provider_batch import BatchNotes, ProviderBatches, batch_note
from longform.batch_files import read_replies, request_line
from longform.chat import ChatReply, ChatRequest, Message, call_id
from longform.errors import LongformError
from longform.fake_settings import FakeSettings
from longform.model_settings import ChatSettings
from longform.prices import Price

pytest_plugins = ["tests.s3_server"]

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
            ledger=Ledger.existing(self.ledger),
            keeper=LocalKeeper(self.keeper),
            batches=batches,
            price=PRICE,
            log=self.log,
            limits=limits,
            first_look_s=0.001,
        )
        try:
            return await prepayment.answer(lambda: asked)
        finally:
            await batches.close()

    def calls(self) -> list[dict[str, Any]]:
        return [row for table in Ledger.existing(self.ledger).batches() for row in table.to_pylist()]

    def answers(self, asked: Iterable[ChatRequest]) -> Mapping[str, ChatReply]:
        return Ledger.existing(self.ledger).finished(sorted(self.ids(asked)))

    @property
    def notes(self) -> int:
        return len(BatchNotes(self.ledger).all())


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    one = Bench(tmp_path)
    yield one
    await one.fake.__aexit__()


# ---------------------------------------------------------------- what is sent


async def test_a_half_failed_batch_sends_its_failed_items_again_and_no_others(bench: Bench) -> None:
    await bench.serve(batch_failed_share=0.5)
    asked = requests(24)
    answered = await bench.command(asked)

    failed = [{line["custom_id"] for line in batch.errors} for batch in bench.batches]
    assert 4 < len(failed[0]) < 20
    assert bench.sent[0] == bench.ids(asked)
    assert bench.sent[1:] == failed[: len(bench.sent) - 1]
    assert len(bench.answers(asked)) == answered == 24 - len(failed[-1] if len(failed) == 4 else set())


async def test_of_an_expired_batch_only_the_rest_is_sent_again(bench: Bench) -> None:
    """What was never made costs nothing, and is known to."""
    await bench.serve(batch_done_share=0.5)
    asked = requests(8)
    await bench.command(asked)

    assert [len(sent) for sent in bench.sent] == [8, 4, 2, 1]
    assert all(later < sent for sent, later in zip(bench.sent, bench.sent[1:], strict=False))
    assert bench.fake.counters()["batch"]["made_again"] == 0
    unmade = [row for row in bench.calls() if row["failure"] == "batch_expired"]
    assert len(unmade) == 4 + 2 + 1 + 1
    assert {row["cost_usd"] for row in unmade} == {0.0}


async def test_an_item_that_keeps_failing_is_sent_as_often_as_the_settings_say(bench: Bench) -> None:
    await bench.serve(batch_failed_share=1.0)
    assert await bench.command(requests(3)) == 0
    assert [len(sent) for sent in bench.sent] == [3] * bench.settings.attempts
    assert "3 failed" in bench.log.getvalue()


async def test_a_rerun_after_success_makes_no_batch(bench: Bench) -> None:
    await bench.serve()
    asked = requests(5)
    assert await bench.command(asked) == 5
    assert await bench.command(asked) == 0
    assert len(bench.sent) == 1
    assert bench.notes == 0


async def test_only_what_is_new_is_sent_later(bench: Bench) -> None:
    await bench.serve()
    await bench.command(requests(3))
    await bench.command([*requests(5), *requests(5)])
    assert bench.sent[1] == bench.ids(requests(5)) - bench.ids(requests(3))


async def test_files_hold_no_more_lines_and_bytes_than_they_may(bench: Bench) -> None:
    await bench.serve()
    asked = requests(7)
    await bench.command(asked[:5], limits=BatchLimits(lines=2))
    await bench.command(asked, limits=BatchLimits(bytes=10))
    size = max(len(content) for file, content in bench.fake._batches._files.values() if file["purpose"] == "batch")
    await bench.command(asked, limits=BatchLimits(bytes=size))
    assert [len(sent) for sent in bench.sent] == [2, 2, 1, 2]


async def test_no_more_calls_leave_than_the_budget_allows(bench: Bench) -> None:
    await bench.serve()
    assert await bench.command(requests(9), budget=Budget(max_calls=4)) == 4
    assert [len(sent) for sent in bench.sent] == [4]


async def test_dollars_reserved_and_not_spent_go_into_a_next_batch(bench: Bench) -> None:
    await bench.serve()
    reserved = 100 * 50 / 1e6
    assert await bench.command(requests(9), budget=Budget(max_usd=7 * reserved)) == 9
    assert len(bench.sent) > 1
    assert sum(row["cost_usd"] for row in bench.calls()) <= 7 * reserved


# ---------------------------------------------------------------- what is recorded


async def test_receipts_carry_usage_and_the_price_of_the_batch_api(bench: Bench) -> None:
    await bench.serve()
    await bench.command(requests(2))
    for row in bench.calls():
        assert (row["state"], row["stage"], row["answered_model"]) == ("answered", "judge m", "m")
        assert row["cost_usd"] == pytest.approx((row["input_tokens"] * 5.0 + row["output_tokens"] * 50.0) / 1e6)
        assert row["cost_usd"] <= row["reserved_usd"]


async def test_a_cut_reply_is_a_failure_with_its_cost_and_is_not_sent_again(bench: Bench) -> None:
    await bench.serve()
    await bench.command(requests(2, max_tokens=1))
    assert [len(sent) for sent in bench.sent] == [2]
    assert [(row["state"], row["failure"], row["cost_usd"] > 0) for row in bench.calls()] == [
        ("failed", "length", True)
    ] * 2


def line(
    call: str, *, status: int = 200, content: str | None = "yes", error: object = None, body: object = None
) -> str:
    completion = {
        "choices": [{"message": {"content": content}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3},
    }
    response = None if error else {"status_code": status, "body": body or completion}
    return json.dumps({"custom_id": call, "response": response, "error": error})


def test_every_line_is_an_answer_or_a_failure_with_its_reason() -> None:
    content = "\n".join(
        [
            line("fine"),
            line("empty", content=" "),
            line("refused", status=429, body={"error": {"code": "rate_limit_exceeded"}}),
            line("long", status=400, body={"error": {"code": "context_length_exceeded"}}),
            line("odd", body={"choices": []}),
            line("late", error={"code": "batch_expired"}),
            line("strange", error={"code": "sk-secret"}),
            "{half a li",
            '{"custom_id": "no body", "response": {"status_code": 200}}',
            "[]",
        ]
    )
    replies = read_replies(content.encode())
    assert {call: reply.failure for call, reply in replies.items()} == {
        "fine": None,
        "empty": "empty_reply",
        "refused": "http_429",
        "long": "context_exceeds_window",
        "odd": "bad_body",
        "no body": "bad_body",
        "late": "batch_expired",
        "strange": "batch_error",
    }
    assert replies["empty"].usage.input_tokens == 3


def test_half_a_character_does_not_spoil_a_file() -> None:
    content = request_line("call", {"messages": [{"content": "\ud83d"}]}).decode()
    assert json.loads(content)["body"]["messages"][0]["content"] == "\ud83d"


# ---------------------------------------------------------------- interrupted


class KilledError(Exception):
    """The process ends here."""


class KilledAfterCreation(ProviderBatches):
    async def create(self, name: str, file_id: str) -> str:
        await super().create(name, file_id)
        raise KilledError


class KilledBeforeCreation(ProviderBatches):
    async def create(self, name: str, file_id: str) -> str:
        raise KilledError


class KilledWhileWaiting(ProviderBatches):
    async def progress(self, batch_id: str) -> Any:
        raise KilledError


@pytest.mark.parametrize("killed", [KilledAfterCreation, KilledWhileWaiting])
async def test_a_batch_under_way_is_found_again_and_nothing_is_sent_twice(
    bench: Bench, killed: type[ProviderBatches]
) -> None:
    """Also where it was made and the process died before it could write that down."""
    await bench.serve()
    asked = requests(6)
    with pytest.raises(KilledError):
        await bench.command(asked, provider=killed)
    assert await bench.command(asked[:2]) == 6

    assert len(bench.sent) == 1
    assert [row["state"] for row in bench.calls()] == ["answered"] * 6
    assert bench.notes == 0


async def test_another_command_s_batch_is_left_alone(bench: Bench) -> None:
    """Where it makes no call that is wanted, nobody waits for it."""
    await bench.serve()
    with pytest.raises(KilledError):
        await bench.command(requests(4), provider=KilledWhileWaiting)
    other = requests(6)[4:]
    assert await bench.command(other) == 2
    assert bench.sent[1] == bench.ids(other)
    assert bench.notes == 1


async def test_calls_that_never_left_are_sent_by_the_next_command_and_cost_nothing_before(bench: Bench) -> None:
    await bench.serve()
    asked = requests(3)
    with pytest.raises(KilledError):
        await bench.command(asked, provider=KilledBeforeCreation)
    bench.clock.now = 60.0  # its worker has been silent, and is given up
    assert await bench.command(asked, keeper=bench.keeper) == 3

    assert bench.sent == [bench.ids(asked)]
    assert (
        sorted((row["state"], row["failure"]) for row in bench.calls() if row["state"] == "failed")
        == [("failed", "batch_cancelled")] * 3
    )
    totals = Ledger.existing(bench.ledger).totals()
    assert (totals.calls, totals.open, totals.unsettled_usd) == (6, 0, 0.0)
    assert bench.notes == 0


async def test_a_batch_that_a_living_command_is_about_to_make_is_not_made_by_another(bench: Bench) -> None:
    await bench.serve()
    asked = requests(3)
    with pytest.raises(KilledError):
        await bench.command(asked, provider=KilledBeforeCreation)
    assert await bench.command(asked) == 0  # the same process: it lives
    assert (bench.sent, bench.notes) == ([], 1)


async def test_one_batch_is_made_however_often_the_answer_gets_lost(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.provider_batch.backoff_s", lambda *_, **__: 0.0)
    await bench.serve()
    handle = bench.fake._batches.handle

    async def lost(request: web.BaseRequest) -> web.Response:
        answer = await handle(request)
        return web.Response(status=503) if (request.method, request.path) == ("POST", "/v1/batches") else answer

    monkeypatch.setattr(bench.fake._batches, "handle", lost)
    assert await bench.command(requests(3)) == 3
    assert len(bench.sent) == 1


# ---------------------------------------------------------------- refused


class CancelledAtOnce(ProviderBatches):
    async def create(self, name: str, file_id: str) -> str:
        batch_id = await super().create(name, file_id)
        await self._client.batches.cancel(batch_id)
        return batch_id


async def test_a_batch_that_somebody_cancelled_ends_the_command(bench: Bench) -> None:
    """Its calls are not made again at once, singly and at the full price; a later command sends them again."""
    await bench.serve(batch_s=3600.0)
    asked = requests(3)
    with pytest.raises(LongformError, match=r"3 calls was cancelled"):
        await bench.command(asked, provider=CancelledAtOnce)
    assert {(row["failure"], row["cost_usd"]) for row in bench.calls()} == {("batch_cancelled", 0.0)}
    assert bench.notes == 0


async def test_a_file_that_the_provider_refuses_ends_the_command_with_its_codes(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("longform.batch_files.ENDPOINT", "/v1/elsewhere")
    await bench.serve()
    with pytest.raises(LongformError, match="mismatched_url"):
        await bench.command(requests(3))
    assert {(row["failure"], row["cost_usd"]) for row in bench.calls()} == {("batch_rejected", 0.0)}


async def test_a_full_queue_is_tried_again_when_other_batches_have_ended(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    await bench.serve()
    create = bench.fake._batches._create

    def one_at_a_time(asked: Mapping[str, Any]) -> web.Response:
        made = create(asked)
        if len(bench.batches) == 2:
            bench.batches[1].status = "failed"
            bench.batches[1].faults = [{"code": "token_limit_exceeded", "message": "Enqueued token limit reached."}]
        return made

    monkeypatch.setattr(bench.fake._batches, "_create", one_at_a_time)
    assert await bench.command(requests(4), limits=BatchLimits(lines=2)) == 4
    assert bench.sent[2] == bench.sent[1] != bench.sent[0]


async def test_a_queue_that_stays_full_is_said(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    await bench.serve()
    full = [{"code": "token_limit_exceeded", "message": "Enqueued token limit reached."}]
    monkeypatch.setattr("actors.fake_batches._read_items", lambda _: ([], full))
    with pytest.raises(LongformError, match="no room for 2 calls"):
        await bench.command(requests(2))


async def test_a_wrong_key_is_an_error_that_names_no_key_and_leaves_nothing_behind(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong")
    await bench.serve(key="sk-right")
    with pytest.raises(LongformError, match="http_401") as caught:
        await bench.command(requests(2))
    assert "sk-" not in str(caught.value)
    totals = Ledger.existing(bench.ledger).totals()
    assert (totals.open, bench.notes) == (0, 0)


# ---------------------------------------------------------------- notes


def check_notes(url: str) -> None:
    notes, later = BatchNotes(url), BatchNotes(url)
    assert notes.all() == []
    note = batch_note({"call": "attempt"})
    notes.add(note)
    assert later.all() == [note]
    notes.set_made(note._replace(batch_id="batch_1"))
    assert [found.batch_id for found in later.all()] == ["batch_1"]
    notes.remove(note)
    later.remove(note)
    assert later.all() == []


def test_a_note_is_seen_by_all_until_it_is_removed(tmp_path: Path) -> None:
    check_notes(str(tmp_path / "ledger"))


def test_the_same_on_s3(s3_url: str) -> None:
    check_notes(s3_url)


def test_a_second_batch_of_the_same_calls_has_another_name() -> None:
    """Else it would be taken for the first, whose failed items it holds."""
    assert batch_note({"call": "first"}).name != batch_note({"call": "second"}).name
    assert batch_note({"a": "1", "b": "2"}).name == batch_note({"b": "2", "a": "1"}).name
