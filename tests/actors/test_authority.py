"""The connection of workers to an authority, over real sockets; the actor's handle alone is stood in for."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import AsyncIterator, Sequence
from typing import Any, ClassVar

import pytest
import pytest_asyncio

from actors import authority as line
from actors.authority import Address, Authority, Local, Remote


class Counter:
    """Counts what it is told, and fails on request."""

    def __init__(self, start: int) -> None:
        self.total = start

    def add(self, n: int) -> int:
        if n < 0:
            raise KeyError(n)
        self.total += n
        return self.total


class Handle:
    """An actor's handle, as far as a line uses one."""

    def __init__(self, authority: Authority) -> None:
        self.authority = authority
        self.n_asked = 0
        self.address = self

    async def remote(self) -> Address:
        self.n_asked += 1
        return await self.authority.address()


@pytest_asyncio.fixture
async def handle(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Handle]:
    monkeypatch.setattr("ray.util.get_node_ip_address", lambda: "127.0.0.1")
    handle = Handle(Authority(Counter(10)))
    yield handle
    await stop(handle.authority)


async def stop(authority: Authority) -> None:
    """Stop *authority* as the end of its process would."""
    assert authority._server is not None
    authority._server.close()


def line_to(handle: Handle, patience_s: float = 30.0) -> Remote[Counter]:
    return Remote(lambda: handle, patience_s=patience_s)


async def test_messages_of_many_askers_are_answered_and_add_up(handle: Handle) -> None:
    lines = [line_to(handle) for _ in range(3)]
    answers = await asyncio.gather(*(asker.ask(Counter.add, n) for asker in lines for n in range(1, 21)))
    assert max(answers) == 10 + 3 * 210
    assert len(set(answers)) == 60
    assert handle.n_asked == 3  # each connected once
    for asker in lines:
        await asker.close()


async def test_what_the_authority_raises_is_raised_here_and_the_line_stays(handle: Handle) -> None:
    asker = line_to(handle)
    with pytest.raises(KeyError, match="-1"):
        await asker.ask(Counter.add, -1)
    assert await asker.ask(Counter.add, 1) == 11
    assert handle.n_asked == 1
    await asker.close()


async def test_cancelled_asker_does_not_leave_its_answer_to_the_next(handle: Handle) -> None:
    asker = line_to(handle)
    await asker.ask(Counter.add, 0)
    cancelled = asyncio.create_task(asker.ask(Counter.add, 5))
    await asyncio.sleep(0)  # it has written, and waits
    cancelled.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cancelled
    assert await asker.ask(Counter.add, 100) in {110, 115}
    await asker.close()


async def test_line_finds_an_authority_that_started_again(handle: Handle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line, "_POLL_S", 0.001)
    asker = line_to(handle)
    assert await asker.ask(Counter.add, 1) == 11
    await stop(handle.authority)
    assert asker._streams is not None
    asker._streams[1].transport.abort()
    handle.authority = Authority(Counter(20))
    assert await asker.ask(Counter.add, 1) == 21
    await asker.close()


async def test_authority_that_stays_away_is_an_error_in_the_end(
    handle: Handle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(line, "_POLL_S", 0.001)
    asker = line_to(handle, patience_s=0.05)
    await asker.ask(Counter.add, 1)
    await stop(handle.authority)
    await asker.close()
    with pytest.raises(ConnectionError):
        await asker.ask(Counter.add, 1)


@pytest.mark.parametrize("where", ["local", "remote"])
async def test_authority_is_asked_alike_wherever_it_is(where: str, handle: Handle) -> None:
    await handle.authority.address()
    counter: Local[Counter] | Remote[Counter] = (
        Local(Counter(10)) if where == "local" else Remote(lambda: handle, patience_s=30.0)
    )

    assert await counter.ask(Counter.add, 5) == 15
    with pytest.raises(KeyError, match="-1"):
        await counter.ask(Counter.add, -1)
    await counter.close()


class Trap:
    """Whoever unpickles it has been had."""

    sprung: ClassVar[list[str]] = []

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return Trap.sprung.append, ("authority",)


async def test_a_stranger_gets_nothing_unpickled(handle: Handle) -> None:
    host, port, _ = await handle.authority.address()
    reader, writer = await asyncio.open_connection(host, port)
    packed = pickle.dumps(Trap())
    writer.write(bytes(64) + len(packed).to_bytes(8) + packed)
    assert len(await reader.read()) == 64  # a challenge and an answer to ours; then it hung up
    assert Trap.sprung == []
    writer.close()


async def test_an_authority_that_does_not_know_the_secret_is_not_listened_to(handle: Handle) -> None:
    async def pretend(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        packed = pickle.dumps(Trap())
        writer.write(bytes(64) + len(packed).to_bytes(8) + packed)
        await reader.read()
        writer.close()

    server = await asyncio.start_server(pretend, "127.0.0.1")
    await handle.authority.address()
    port = server.sockets[0].getsockname()[1]

    class Misled(Handle):
        async def remote(self) -> Address:
            return Address("127.0.0.1", port, b"secret")

    asker = line_to(Misled(handle.authority), patience_s=0.0)
    with pytest.raises(ConnectionError, match="does not know the secret"):
        await asker.ask(Counter.add, 1)
    assert Trap.sprung == []
    server.close()


class Joiner(Counter):
    """Adds what many askers tell it at once."""

    joins: ClassVar = {"add": "add_all"}

    def __init__(self, start: int) -> None:
        super().__init__(start)
        self.at_once: list[int] = []

    def add_all(self, messages: Sequence[tuple[int]]) -> list[int]:
        self.at_once.append(len(messages))
        return [self.add(n) for (n,) in messages]


@pytest_asyncio.fixture
async def joined(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Handle, Joiner]]:
    monkeypatch.setattr("ray.util.get_node_ip_address", lambda: "127.0.0.1")
    joiner = Joiner(10)
    handle = Handle(Authority(joiner))
    yield handle, joiner
    await stop(handle.authority)


async def test_messages_that_wait_together_are_answered_together(joined: tuple[Handle, Joiner]) -> None:
    handle, joiner = joined
    lines = [line_to(handle) for _ in range(3)]
    # a wait that has begun, and that nobody ends but the test
    handle.authority._waiting["add"] = [line._Waiting((5,), asyncio.get_running_loop().create_future())]
    asked = [asyncio.create_task(asker.ask(Counter.add, 1)) for asker in lines]
    while len(handle.authority._waiting["add"]) < 4:  # noqa: ASYNC110 - nothing tells that a message has come
        await asyncio.sleep(0)
    handle.authority._answer_waiting("add")
    assert sorted(await asyncio.gather(*asked)) == [16, 17, 18]
    assert joiner.at_once == [4]
    assert await lines[0].ask(Counter.add, 1) == 19
    assert joiner.at_once == [4, 1]
    for asker in lines:
        await asker.close()


async def test_an_error_of_messages_answered_together_is_raised_to_each(joined: tuple[Handle, Joiner]) -> None:
    handle, _ = joined
    lines = [line_to(handle) for _ in range(2)]
    found = await asyncio.gather(*(asker.ask(Counter.add, -1) for asker in lines), return_exceptions=True)
    assert [type(error) for error in found] == [KeyError, KeyError]
    assert await lines[0].ask(Counter.add, 1) == 11
    for asker in lines:
        await asker.close()
