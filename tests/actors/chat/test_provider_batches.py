"""Batches of a provider: one receipt an item, failed items alone go again, what is refused is said."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from actors.chat.prepayment import BatchLimits
from actors.chat.provider_batches import ProviderBatches
from actors.ledger.keeper import Budget
from actors.ledger.ledger import Ledger
from longform.errors import LongformError
from tests.actors.summarizers.batch_bench import Bench, requests


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    async with Bench(tmp_path) as one:
        yield one


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
    """Items that were never made cost nothing, and are known to."""
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
    monkeypatch.setattr("longform.chat.batch_files.ENDPOINT", "/v1/elsewhere")
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
    monkeypatch.setattr("actors.rehearsal.fake_batches._read_items", lambda *_: ([], full))
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
