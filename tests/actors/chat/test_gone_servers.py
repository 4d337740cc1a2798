"""Servers that are not there, refuse everything or send no end of bytes: what the calls of a command come to."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from actors.authority import Local
from actors.chat.model import CallContext
from actors.chat.opening import open_pool
from actors.chat.pool import ChatPool
from actors.ledger.keeper import open_keeper
from actors.ledger.ledger import Ledger
from actors.rehearsal.fake_provider import FakeProvider
from longform.chat.call import ChatReply, ChatRequest, Message
from longform.errors import ServerGoneError
from longform.rehearsal.settings import BODY_FAULTS, FakeSettings
from longform.settings.chat import ChatSettings
from tests.actors.rehearsal.replies import with_odd_logprobs


@pytest.fixture(autouse=True)
def without_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within a Ray that another test has started, the keeper of a job's calls is one that a driver has opened."""
    monkeypatch.setattr("ray.is_initialized", lambda: False)


QUICK: dict[str, Any] = {"delay_s": 0.0, "slow_share": 0.0}
LONG_S = 300.0


def pool(url: str, folder: Path, job: str, **settings: Any) -> ChatPool:
    context = CallContext(job=f"{job}-{folder.name}", stage="test", ledger=str(folder / "ledger"))
    return open_pool(ChatSettings(model="m", base_url=url, **settings), context)


async def ask(*pools: ChatPool, n: int) -> list[ChatReply | BaseException]:
    """Ask each pool *n* questions of its own at once."""
    requests = [
        (one, ChatRequest(messages=(Message("user", f"{at} {number}"),), max_tokens=20))
        for at, one in enumerate(pools)
        for number in range(n)
    ]
    found = await asyncio.gather(*(one.complete(request) for one, request in requests), return_exceptions=True)
    await asyncio.gather(*(one.close() for one in pools))
    return found


async def test_a_server_that_is_not_there_ends_all_workers_of_a_command_and_the_next_one_goes_on(
    tmp_path: Path, unused_tcp_port: int
) -> None:
    """After the first attempts; nobody waits for the rest of forty calls, and of six attempts each."""
    url = f"http://127.0.0.1:{unused_tcp_port}/v1"
    found = await ask(*(pool(url, tmp_path, "first", attempts=1000) for _ in range(2)), n=20)
    assert {type(one) for one in found} == {ServerGoneError}
    assert f"{url} could not be reached: connection refused; 0 of " in str(found[0])

    async with FakeProvider(FakeSettings(**QUICK), port=unused_tcp_port):
        again = await ask(*(pool(url, tmp_path, "second") for _ in range(2)), n=20)
    assert {reply.failure for reply in again if isinstance(reply, ChatReply)} == {None}
    assert len(again) == 40


async def test_a_key_that_is_wrong_from_the_first_call_is_named_and_soon_asked_with_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WRONG_KEY", "sk-not-the-right-one")
    async with FakeProvider(FakeSettings(key="sk-the-right-one", **QUICK)) as fake:
        found = await ask(pool(fake.url, tmp_path, "wrong", api_key_env="WRONG_KEY", concurrency=2), n=2000)
        asked = fake.counters()["unauthorized"]
    gone = [one for one in found if isinstance(one, ServerGoneError)]
    assert gone
    assert "refuses the key in WRONG_KEY (http_401); 0 of " in str(gone[0])
    assert asked < 100
    assert asked + len(gone) >= 2000
    assert {one.failure for one in found if isinstance(one, ChatReply)} <= {"http_401"}


async def test_a_key_that_expires_in_the_middle_leaves_reasons_and_keeps_what_was_answered(tmp_path: Path) -> None:
    async with FakeProvider(FakeSettings(unauthorized_after=5, **QUICK)) as fake:
        found = await ask(pool(fake.url, tmp_path, "expired", concurrency=1), n=30)
    failures = [one.failure for one in found if isinstance(one, ChatReply)]
    assert sorted(map(str, failures)) == ["None"] * 5 + ["http_401"] * 25


async def test_a_provider_that_refuses_everything_ends_the_command_in_time(tmp_path: Path) -> None:
    """The provider refuses with 429 and does not state a wait; earlier answers are kept."""
    async with FakeProvider(FakeSettings(refused_after=3, retry_after="missing", **QUICK)) as fake:
        one = pool(fake.url, tmp_path, "refused", patience_s=1.0, concurrency=1)
        found = await ask(one, n=20)
    gone = [said for said in found if isinstance(said, ServerGoneError)]
    assert len(gone) == 17
    assert f"{fake.url} has refused every call of model 'm' for" in str(gone[0])
    assert "`patience_s`" in str(gone[0])

    keeper = open_keeper(str(tmp_path / "ledger"), f"refused-{tmp_path.name}")
    assert isinstance(keeper, Local)
    (standing,) = keeper.served.standings()
    assert (standing.n_succeeded, standing.unusable) == (3, None)
    assert standing.n_refused_lately > 0
    totals = Ledger.existing(str(tmp_path / "ledger")).totals()
    assert (totals.answered, totals.open) == (3, 0)


@pytest.mark.parametrize(("fault", "failure"), BODY_FAULTS.items())
async def test_a_body_that_strains_a_client_is_a_reason_after_all_attempts(
    fault: str, failure: str, tmp_path: Path
) -> None:
    deadline_s = 0.3 if failure == "timeout" else LONG_S
    async with FakeProvider(FakeSettings(faults={fault: 1.0}, **QUICK)) as fake:
        (reply,) = await ask(pool(fake.url, tmp_path, fault, attempts=2, timeout_s=deadline_s), n=1)
        counters = fake.counters()
    assert isinstance(reply, ChatReply)
    assert reply.failure == failure
    assert counters["accepted"] == 2


@pytest.mark.parametrize("odd", ["above_zero", "nan", "infinite", "null"])
async def test_odd_log_probabilities_cost_no_reply(odd: Any, tmp_path: Path) -> None:
    request = ChatRequest(messages=(Message("user", "hello"),), max_tokens=50, top_logprobs=2)
    async with FakeProvider(FakeSettings(**QUICK), reply=partial(with_odd_logprobs, odd)) as fake:
        one = pool(fake.url, tmp_path, odd)
        reply = await one.complete(request)
        await one.close()
    assert (reply.text, reply.failure, reply.logprobs) == ("This is the reply of a fake model.", None, None)
