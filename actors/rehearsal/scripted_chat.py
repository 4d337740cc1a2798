"""
A chat model without a model, for dry runs and tests: its reply follows from the content of the request alone.

    obedient      quotes a statement a bullet and cites the documents that hold it; judges coverage by shared words
    wavering      obedient, but one answer in five is another one when the same is asked again: for repeats
    misbehaving   fails in one of the ways that real models and servers do, a different one for different requests
    profile-u     obedient, but its sentences are faithful by their document's place: most at both ends
    profile-lead  the same, falling from the first document to the last
    profile-flat  the same everywhere
    synthesis     the writer or the verifier of a synthesis, by the model's name (`say`)

It reads the project's own prompts (`scripted_tasks`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from importlib import import_module
from typing import NamedTuple

from actors.rehearsal.scripted_summaries import LABEL, PROFILES, Profile, faithful
from actors.rehearsal.scripted_tasks import Logprobs, read_task
from longform.chat.call import ChatReply, ChatRequest, Usage, capabilities, failed, refusal_reason
from longform.keys import stable_seed
from longform.settings.chat import ChatSettings

_SYNTHESIS = "actors.synthesis.scripted"
_MODULES = dict.fromkeys(("scripted-writer", "scripted-verifier", "scripted-extractor"), _SYNTHESIS)
"""Name of a model up to its options -> the module whose `say` speaks for it."""

UNKNOWN_TASK = "script_knows_no_such_task"
"""The failure of a request that is no task it knows."""

_SLOW_S = 0.05
_CHARS_A_TOKEN = 4  # its own tokenizer, so that rehearsals have tokens to count
_WAVERS = 5  # one in so many requests is answered otherwise


class ScriptedChat:
    """A scripted model as a client; `timeout_s` holds as for a real one."""

    def __init__(self, settings: ChatSettings) -> None:
        assert settings.script is not None, "check_chat comes first"
        self.settings = settings
        self.accepted = capabilities(settings)
        self._script = SCRIPTS[settings.script]

    async def complete(self, request: ChatRequest) -> ChatReply:
        reason = refusal_reason(request, self.accepted)
        if reason is not None:
            return failed(reason)
        try:
            async with asyncio.timeout(self.settings.timeout_s):
                await asyncio.sleep(0)  # others get their turn, as they do while a real call is under way
                return await self._script(request, self.settings.model)
        except TimeoutError:
            return failed("timeout")

    async def close(self) -> None:
        """Do nothing: no connection is held."""


# ---------------------------------------------------------------- scripts


async def _follow(request: ChatRequest, model: str, profile: Profile | None = None) -> ChatReply:
    """Obey, with the faithfulness of *profile*; None: faithfully."""
    seed = stable_seed("profile", request.content) if profile else 0
    task = read_task(request.messages[-1].text, profile or faithful, seed)
    if task is None:
        return failed(UNKNOWN_TASK)
    logprobs = None if task.logprobs is None or request.top_logprobs is None else task.logprobs()
    return _said(Said(task.reply, logprobs=logprobs), request, model)


async def _wavering(request: ChatRequest, model: str) -> ChatReply:
    task = read_task(request.messages[-1].text)
    is_weighed = request.top_logprobs is not None and task is not None and task.logprobs is not None
    if task is None or task.waver is None or is_weighed or stable_seed("wavering", request.content) % _WAVERS:
        return await _follow(request, model)
    return _said(Said(task.waver), request, model)


async def _misbehaving(request: ChatRequest, model: str) -> ChatReply:
    misdeed = MISDEEDS[stable_seed("misbehaving", request.content) % len(MISDEEDS)]
    task = read_task(request.messages[-1].text)
    if misdeed.startswith("http_") or misdeed == "connection":
        return failed(misdeed)
    if misdeed in ("length", "empty_reply", "refusal"):
        finish = "length" if misdeed == "length" else "stop"
        return ChatReply(text=None, failure=misdeed, finish_reason=finish, model=model)
    if misdeed == "garbage" or task is None:
        return _said(Said('Certainly! Here {is} what "I" think [of it'), request, model)
    if misdeed == "slow":
        await asyncio.sleep(_SLOW_S)
        return _said(Said(task.reply), request, model)
    out_of_form = task.out_of_form or task.reply.removeprefix(LABEL).strip()
    return _said(Said(task.out_of_range if misdeed == "out_of_range" else out_of_form), request, model)


async def _synthesis(request: ChatRequest, model: str) -> ChatReply:
    said = say(request.messages[-1].text, model)
    return failed(UNKNOWN_TASK) if said is None else _said(said, request, model)


MISDEEDS = (
    "garbage",
    "empty_reply",
    "length",
    "out_of_range",
    "list_of_ids",
    "slow",
    "refusal",
    "http_400",
    "http_429",
    "http_500",
    "connection",
)

SCRIPTS: dict[str, Callable[[ChatRequest, str], Awaitable[ChatReply]]] = {
    "obedient": _follow,
    "misbehaving": _misbehaving,
    "wavering": _wavering,
    "synthesis": _synthesis,
    **{name: partial(_follow, profile=profile) for name, profile in PROFILES.items()},
}


class Said(NamedTuple):
    """The reply of a scripted model."""

    text: str
    is_refusal: bool = False
    logprobs: Logprobs | None = None


def _said(said: Said, request: ChatRequest, model: str) -> ChatReply:
    if said.is_refusal or not said.text:
        failure = "refusal" if said.is_refusal else "empty_reply"
        return ChatReply(text=None, failure=failure, finish_reason="stop", model=model)
    sent = request.input_tokens or sum(len(message.text) for message in request.messages) // _CHARS_A_TOKEN
    usage = Usage(input_tokens=sent, output_tokens=max(1, len(said.text) // _CHARS_A_TOKEN))
    logprobs = None if request.top_logprobs is None else said.logprobs
    return ChatReply(text=said.text, failure=None, finish_reason="stop", model=model, usage=usage, logprobs=logprobs)


def say(prompt: str, model: str) -> Said | None:
    """
    Return the reply of *model* to *prompt*; None if no annex brings it, or it is asked for another task.

    Raises:
        UsageError: The name has options that the model does not know.
    """
    module = _MODULES.get(model.partition(":")[0])
    said: Said | None = None if module is None else import_module(module).say(prompt, model)
    return said
