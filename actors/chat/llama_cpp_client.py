"""A chat model in a GGUF file, run by llama.cpp in this process."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from pydantic import JsonValue

from actors.chat.model import attempt
from actors.local_models.checkpoints import gguf_path
from longform.chat.call import ChatReply, ChatRequest, capabilities, failed, refusal_reason
from longform.chat.completions import completion_parameters, read_completed
from longform.errors import UsageError
from longform.settings.chat import ChatSettings

PACKAGE = "xllamacpp"


class LlamaServer(Protocol):
    """The server of xllamacpp, in this process."""

    def handle_chat_completions(self, parameters: dict[str, JsonValue], /) -> dict[str, Any]: ...


class LlamaChat:
    """
    One call at a time, each within `timeout_s` once it has its turn.

    More at once would share the same cores and the same memory; for several slots on a GPU, run llama.cpp's own server
    and name it as `base_url`. A call that outlasts its deadline computes on to its end, and the next one waits for it.

    `model` of the settings is the path or `s3://` URL of the file; without a `context_window` it is the one that the
    model was trained with.

    Raises:
        UsageError: The package is not installed, or the file is missing or no model that llama.cpp can load.
    """

    def __init__(self, settings: ChatSettings) -> None:
        self.settings = settings
        self.accepted = capabilities(settings)
        self._server: LlamaServer | None = _load(settings)
        self._thread = ThreadPoolExecutor(max_workers=1)
        self._running: Future[dict[str, Any]] | None = None
        self._turns: tuple[asyncio.AbstractEventLoop, asyncio.Lock] | None = None

    async def complete(self, request: ChatRequest) -> ChatReply:
        if reason := refusal_reason(request, self.accepted):
            return failed(reason)
        async with self._turn():
            asked = self._asked(completion_parameters(self.settings, self.accepted, request))
            return await attempt(asked, self.settings.timeout_s)

    async def body(self, parameters: Mapping[str, JsonValue]) -> dict[str, Any]:
        """
        Return the answer of llama.cpp's server to the body of a request: a completion in OpenAI's form, or its `error`.

        Raises:
            TimeoutError: It outlasted its deadline.
        """
        async with self._turn(), asyncio.timeout(self.settings.timeout_s):
            return await self._run(parameters)

    async def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)  # an interrupted command waits for no long reply
        self._server = None

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        loop = asyncio.get_running_loop()
        if self._turns is None or self._turns[0] is not loop:
            self._turns = loop, asyncio.Lock()
        async with self._turns[1]:
            if self._running is not None:
                await asyncio.wait([asyncio.wrap_future(self._running)])
            yield

    async def _asked(self, parameters: Mapping[str, JsonValue]) -> ChatReply:
        try:
            return read_completed(await self._run(parameters))
        except Exception as error:  # noqa: BLE001  whatever the library raises is this call's failure
            return failed(f"llama_cpp_{type(error).__name__}")

    async def _run(self, parameters: Mapping[str, JsonValue]) -> dict[str, Any]:
        assert self._server is not None, "it is not closed"
        self._running = self._thread.submit(self._server.handle_chat_completions, dict(parameters))
        return await asyncio.wrap_future(self._running)


def _load(settings: ChatSettings) -> LlamaServer:
    try:
        import xllamacpp
    except ImportError as error:
        msg = f"a local model needs the package {PACKAGE}, which is not installed: pip install {PACKAGE}"
        raise UsageError(msg) from error
    params = xllamacpp.CommonParams()
    params.model.path = gguf_path(settings.model)
    params.model_alias = {Path(settings.model).name}  # what a reply names as its model; not where it lies
    params.n_ctx = settings.context_window or 0
    params.n_parallel = 1
    params.use_jinja = True
    params.verbosity = 0
    params.api_keys = [secrets.token_hex()]  # the library listens on loopback too, where nobody is to ask
    try:
        server: LlamaServer = xllamacpp.Server(params)
    except RuntimeError as error:
        msg = f"model {settings.model!r}: llama.cpp cannot load it: {error}"
        raise UsageError(msg) from error
    return server
