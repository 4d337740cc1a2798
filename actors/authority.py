"""
The authorities of a command or a cluster, asked alike in this process (`Local`) and in an actor (`Remote`).

Over a connection a message costs a fifth of a call of a Ray actor.

Ray starts the authority as an actor, keeps it alive and tells callers its address, with a secret; messages then go over
a plain TCP connection, on which both ends prove that they know the secret before either unpickles a byte of the
other's.
"""

from __future__ import annotations

import asyncio
import hmac
import os
import pickle
import secrets
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, TypeVarTuple

_NONCE_BYTES = 32
_LENGTH_BYTES = 8
_ANSWER_S = 30.0  # then the other end, or its machine, is taken for gone
_POLL_S = 0.1
_COMPANY_S = 0.001  # a message that may be answered with others waits this long for them

T = TypeVar("T")
Args = TypeVarTuple("Args")
Answer = TypeVar("Answer")

_Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Address(NamedTuple):
    """The address of an authority, and the secret that opens it."""

    host: str
    port: int
    secret: bytes


_Answer = tuple[bool, object]  # whether it is a result, or an error


class _Waiting(NamedTuple):
    args: tuple[object, ...]
    answer: asyncio.Future[_Answer]


class _Told(Protocol):
    def remote(self) -> Awaitable[Address]: ...


class Actor(Protocol):
    """Ray's handle of an `Authority`."""

    address: _Told


class Authority:
    """
    The base of a Ray actor's class: the public methods of *served* answer messages, one after the other.

    An object may have `joins`: it maps a method to the one that takes the arguments of many messages and returns as
    many answers. Messages that wait at one time are then answered together.
    """

    def __init__(self, served: object) -> None:
        self._served = served
        self._joins: Mapping[str, str] = getattr(served, "joins", {})
        self._waiting: dict[str, list[_Waiting]] = {}  # by method
        self._address: Address | None = None
        self._server: asyncio.Server | None = None
        self._opening = asyncio.Lock()

    async def address(self) -> Address:
        """Listen from now on, and return the address."""
        async with self._opening:  # all askers come at once
            if self._address is None:
                self._address = await self._listen()
        return self._address

    async def _listen(self) -> Address:
        from ray.util import get_node_ip_address

        host, secret = get_node_ip_address(), secrets.token_bytes(_NONCE_BYTES)
        self._server = await asyncio.start_server(partial(self._attend, secret), host)
        return Address(host, self._server.sockets[0].getsockname()[1], secret)

    async def ask(self, method: str, *args: object) -> object:
        """Answer as over a connection; for callers that ask seldom."""
        return getattr(self._served, method)(*args)

    async def process_id(self) -> int:
        return os.getpid()

    async def _attend(self, secret: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await _prove(reader, writer, secret, ours=b"authority", theirs=b"asker")
            while True:
                method, args = await _receive(reader)
                await _send(writer, await (self._join if method in self._joins else self._answer)(method, args))
        except (OSError, EOFError):  # the asker left, or is none of ours
            pass
        finally:
            writer.close()

    async def _answer(self, method: str, args: tuple[object, ...]) -> _Answer:
        try:
            return True, getattr(self._served, method)(*args)
        except Exception as error:  # noqa: BLE001  # the asker's to handle
            return False, error

    async def _join(self, method: str, args: tuple[object, ...]) -> _Answer:
        """Answer together with the other messages for *method* that have come by then."""
        loop = asyncio.get_running_loop()
        waiting = self._waiting.setdefault(method, [])
        waiting.append(_Waiting(args, loop.create_future()))
        if len(waiting) == 1:
            loop.call_later(_COMPANY_S, self._answer_waiting, method)
        return await waiting[-1].answer

    def _answer_waiting(self, method: str) -> None:
        waiting = self._waiting.pop(method)
        answers: list[_Answer]
        try:
            found = getattr(self._served, self._joins[method])([message.args for message in waiting])
            answers = [(True, answer) for answer in found]
        except Exception as error:  # noqa: BLE001  # the askers' to handle
            answers = [(False, error)] * len(waiting)
        for message, answer in zip(waiting, answers, strict=True):
            if not message.answer.done():  # its asker is there
                message.answer.set_result(answer)


class Local(Generic[T]):
    """Asks an authority in this process."""

    def __init__(self, served: T) -> None:
        self.served = served

    async def ask(self, method: Callable[[T, *Args], Answer], *args: *Args) -> Answer:
        """Return the result of the authority's *method*, which is named by its class, or raise its error."""
        answer: Answer = getattr(self.served, method.__name__)(*args)
        return answer

    async def close(self) -> None:
        pass


class Remote(Generic[T]):
    """
    Asks an authority in an actor, as `actor_of` makes one: on one event loop, one message at a time.

    *find* gives its handle; an authority that is gone is waited for *patience_s*. All it is asked must bear to be asked
    twice.
    """

    def __init__(self, find: Callable[[], Actor], *, patience_s: float) -> None:
        self._find, self._patience_s = find, patience_s
        self._streams: _Streams | None = None
        self._turn = asyncio.Lock()

    async def ask(self, method: Callable[[T, *Args], Answer], *args: *Args) -> Answer:
        """
        Return the result of the authority's *method*, which is named by its class, or raise its error.

        Raises:
            ray.exceptions.RayActorError, OSError, EOFError, ValueError: It stayed away too long.
        """
        from ray.exceptions import RayActorError

        until = time.monotonic() + self._patience_s
        async with self._turn:
            while True:
                try:
                    told, answer = await self._said(method.__name__, args)
                except (RayActorError, OSError, EOFError, ValueError):
                    if time.monotonic() > until:
                        raise
                    await asyncio.sleep(_POLL_S)
                else:
                    break
        if not told:
            raise answer
        result: Answer = answer
        return result

    async def _said(self, method: str, args: tuple[Any, ...]) -> tuple[bool, Any]:
        try:
            async with asyncio.timeout(_ANSWER_S):
                self._streams = self._streams or await self._connect()
                reader, writer = self._streams
                await _send(writer, (method, args))
                answer: tuple[bool, Any] = await _receive(reader)
                return answer
        except BaseException:  # also a caller that was cancelled: the answer still to come is not the next one's
            self._hang_up()
            raise

    async def _connect(self) -> _Streams:
        host, port, secret = await self._find().address.remote()
        reader, writer = await asyncio.open_connection(host, port)
        await _prove(reader, writer, secret, ours=b"asker", theirs=b"authority")
        return reader, writer

    async def close(self) -> None:
        self._hang_up()

    def _hang_up(self) -> None:
        """Leave; the next message connects again."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


def ray_runs() -> bool:
    """Return whether this process is part of a Ray; one that has not imported it is not."""
    ray = sys.modules.get("ray")
    return ray is not None and bool(ray.is_initialized())


def actor_of(kind: type) -> Any:
    """Return the Ray class of an actor that serves one object of *kind*; the actor's arguments are the object's."""
    import ray

    def start(authority: Authority, *args: object) -> None:
        Authority.__init__(authority, kind(*args))

    return ray.remote(type(kind.__name__, (Authority,), {"__init__": start}))  # a process bears the class's name


async def _prove(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, secret: bytes, *, ours: bytes, theirs: bytes
) -> None:
    """Answer the other end's challenge; `ConnectionError` if it cannot answer ours."""
    challenge = secrets.token_bytes(_NONCE_BYTES)
    writer.write(challenge)
    asked = await reader.readexactly(_NONCE_BYTES)
    writer.write(_proof(secret, ours, asked))
    await writer.drain()
    if not hmac.compare_digest(await reader.readexactly(_NONCE_BYTES), _proof(secret, theirs, challenge)):
        raise ConnectionError("the other end of the connection does not know the secret")


def _proof(secret: bytes, role: bytes, challenge: bytes) -> bytes:
    return hmac.digest(secret, role + challenge, "sha256")


async def _send(writer: asyncio.StreamWriter, message: object) -> None:
    packed = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    writer.write(len(packed).to_bytes(_LENGTH_BYTES) + packed)
    await writer.drain()


async def _receive(reader: asyncio.StreamReader) -> Any:
    length = int.from_bytes(await reader.readexactly(_LENGTH_BYTES))
    return pickle.loads(await reader.readexactly(length))  # noqa: S301  # from one who proved to be ours
