"""No batch is made twice, wherever a command ends; its notes are how a later one knows."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from actors.chat.provider_batches import BatchNotes, ProviderBatches, batch_note
from actors.ledger.ledger import Ledger
from tests.actors.summarizers.batch_bench import Bench, requests

pytest_plugins = ["tests.s3_server"]


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    async with Bench(tmp_path) as one:
        yield one


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
    """A batch without a wanted call is not waited for."""
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
    monkeypatch.setattr("actors.chat.provider_batches.backoff_s", lambda *_, **__: 0.0)
    await bench.serve()
    handle = bench.fake._batches.handle

    async def lost(request: web.BaseRequest) -> web.Response:
        answer = await handle(request)
        return web.Response(status=503) if (request.method, request.path) == ("POST", "/v1/batches") else answer

    monkeypatch.setattr(bench.fake._batches, "handle", lost)
    assert await bench.command(requests(3)) == 3
    assert len(bench.sent) == 1


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
