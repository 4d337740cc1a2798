"""Systems of one's own as chat models: a server that speaks our protocol, and a class that is asked in this process."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread

from actors.chat.model import attempt
from actors.chat.openai_client import OpenAIChat
from actors.python_class import UserCodeError, user_code
from longform.chat.answers import HttpAnswer
from longform.chat.call import Capabilities, ChatReply, ChatRequest, failed
from longform.chat.failures import RAISED
from longform.chat.own_systems import read_answer
from longform.errors import LongformError
from longform.settings.chat import ChatSettings
from longform.settings.python_class import PythonClassSettings

_MOST_CHARS = 300  # of an error in a row
_PLACE = re.compile(r"([^/\\\s]+\.py, line \d+)")


class HttpChat(OpenAIChat):
    """Posts a request of our protocol to the URL that the settings name, one attempt each."""

    path = ""
    of_openai = False

    def encoded(self, request: ChatRequest) -> bytes:
        """Return the body of a request."""
        return request.messages[0].text.encode(errors="replace")

    def read(self, request: ChatRequest, answer: HttpAnswer) -> ChatReply:
        """Read the answer to a request."""
        return read_answer(request, answer.body)


class ClassChat:
    """
    Asks a method of a user's class, one request at a time unless it is a coroutine function.

    An error of the class is the failure `raised: ...` of the attempt, and a deadline that passed is `timeout`. A thread
    cannot be ended: a method that never returns keeps one until the command is over.
    """

    accepted = Capabilities()

    def __init__(
        self,
        settings: ChatSettings,  # those of the pool
        code: PythonClassSettings,  # the class, for messages
        method: Callable[..., object],  # one of an object of the class
        *,
        given: Callable[[ChatRequest], tuple[object, ...]],  # makes the arguments of a request
        read: Callable[[ChatRequest, object], ChatReply],  # makes the reply of what the method returned for a request
    ) -> None:
        self._settings, self._code, self._method = settings, code, method
        self._given, self._read = given, read
        self._alone = asyncio.Lock()

    async def complete(self, request: ChatRequest) -> ChatReply:
        return await attempt(self._asked(request), self._settings.timeout_s)

    async def close(self) -> None:
        """Do nothing: no connection is held."""

    async def _asked(self, request: ChatRequest) -> ChatReply:
        try:
            return self._read(request, await self._returned(self._given(request)))
        except UserCodeError as error:
            return failed(f"{RAISED}: {self._told(str(error))}")

    async def _returned(self, given: tuple[object, ...]) -> object:
        doing = self._method.__name__

        def call() -> object:
            with user_code(self._code, doing):
                return self._method(*given)

        if inspect.iscoroutinefunction(self._method):
            found = call()
        else:
            async with self._alone:
                found = await _in_thread(call)
        with user_code(self._code, doing):
            return await found if inspect.isawaitable(found) else found

    def _told(self, error: str) -> str:
        """Return an error in one line, with the last place in the user's file."""
        first = error.removeprefix(f"{self._code.class_}: ").partition("\n")[0]
        places = _PLACE.findall(error)
        return f"{first[:_MOST_CHARS]}{f' ({places[-1]})' if places else ''}"


async def _in_thread(call: Callable[[], object]) -> object:
    """Return what *call* returns in a thread that no end of a loop or of the process waits for."""
    done: Future[object] = Future()

    def run() -> None:
        done.set_running_or_notify_cancel()
        try:
            done.set_result(call())
        except (LongformError, KeyboardInterrupt) as error:
            done.set_exception(error)

    Thread(target=run, daemon=True).start()
    return await asyncio.wrap_future(done)
