"""Chat models in local files: one that answers completions, and a judge that prompts one."""

from __future__ import annotations

import asyncio
import threading
import uuid
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import Any, TypeVar

from actors.call_context import CallContext
from actors.chat import REPAIR_PROMPT, load_prompt, open_chat
from actors.chat_model import ChatModel
from actors.chat_pool import ChatPool
from actors.chat_support_judge import ChatSupportJudge
from actors.governor import OpenDesk
from actors.ledger_keeper import LedgerKeeper, LocalKeeper
from actors.llama_chat import LlamaChat
from actors.served import About
from longform.chat import Capabilities, ChatReply, ChatRequest, Usage, call_id
from longform.completions import http_failure
from longform.judge_settings import ChatSupportJudge as ChatSupportSettings
from longform.keys import content_key
from longform.model_settings import ChatSettings
from longform.prices import FREE
from longform.strict import Strict
from longform.support_judging import SupportVerdict
from serve.engine import Work
from serve.judge_workers import SupportItem, card_fields, support_card, support_groups
from serve.settings import ServedChat, ServedSupport

_T = TypeVar("_T")

_CANNOT_TAKE = "the model cannot take this: roles in an order, or a schema, that it does not know"
_SENT = ("temperature", "top_p", "seed", "stop")


class ChatWorker:
    """
    Items are the parts of a `CompletionRequest` that a model reads; a unit is an item, its content `{choices, usage}`
    in OpenAI's form, or `{error: {status, message}}`.

    Raises:
        UsageError: The file is missing, or is no model that llama.cpp can load.
    """

    def __init__(self, name: str, settings: ServedChat) -> None:
        asked = ChatSettings(
            provider="llama_cpp",
            model=settings.model,
            context_window=settings.context_window,
            max_tokens=settings.max_tokens,
            timeout_s=settings.timeout_s,
        )
        self._chat = LlamaChat(asked)
        self._max_tokens = settings.max_tokens
        self._loop = LoopThread()
        file = Path(settings.model).stat()
        version = content_key("llama_cpp", Path(settings.model).name, file.st_size, file.st_mtime_ns)
        self.about = About(name, "chat", version, estimated=False)

    def split(self, item: Mapping[str, Any]) -> list[Any]:
        return [dict(item)]

    def run(self, units: list[Any]) -> list[Work]:
        return [self._loop.run(self._work(unit)) for unit in units]

    async def _work(self, unit: Mapping[str, Any]) -> Work:
        try:
            body = await self._chat.body(sent(unit, self._max_tokens))
        except TimeoutError:
            return _failed(504, "the reply took longer than this model may take; ask for fewer tokens")
        except ValueError:  # from the library, of a schema it cannot read
            return _failed(400, _CANNOT_TAKE)
        if "error" in body:
            return _refused(body["error"])
        usage = body["usage"]
        content = {"choices": [_choice(one, unit) for one in body["choices"]], "usage": usage}
        # one that is drawn by chance would be drawn otherwise
        drawn = unit["temperature"] != 0
        return Work(content, usage["prompt_tokens"], lasting=not drawn, output_tokens=usage["completion_tokens"])


def sent(unit: Mapping[str, Any], max_tokens: int) -> dict[str, Any]:
    """What llama.cpp's server is asked."""
    body = {name: unit[name] for name in _SENT if unit[name] is not None}
    body |= {"messages": unit["messages"], "max_tokens": unit["max_tokens"] or max_tokens}
    if unit["logprobs"]:
        body |= {"logprobs": True, "top_logprobs": max(1, unit["top_logprobs"] or 0)}  # it reads 0 as none at all
    if unit["response_format"] is not None:
        body["response_format"] = unit["response_format"]
    return body


def _choice(choice: Mapping[str, Any], unit: Mapping[str, Any]) -> dict[str, Any]:
    logprobs = choice.get("logprobs") if unit["logprobs"] else None
    most = unit["top_logprobs"] or 0
    return {
        "index": 0,
        "message": {"role": "assistant", "content": choice["message"].get("content") or "", "refusal": None},
        "finish_reason": choice["finish_reason"],
        "logprobs": logprobs and {"content": [_token(one, most) for one in logprobs["content"]], "refusal": None},
    }


def _token(token: Mapping[str, Any], most: int) -> dict[str, Any]:
    likely = [{name: one[name] for name in ("token", "logprob", "bytes")} for one in token["top_logprobs"][:most]]
    return {**{name: token[name] for name in ("token", "logprob", "bytes")}, "top_logprobs": likely}


def _refused(error: Mapping[str, Any]) -> Work:
    code = error.get("code")
    status = code if isinstance(code, int) and 400 <= code < 500 else 500
    if http_failure(status, error) == "context_exceeds_window":
        return _failed(400, "the messages and the reply are longer than the model's context window; shorten them")
    if status == 500:
        return _failed(500, "the model failed on this request")
    return _failed(400, _CANNOT_TAKE)


def _failed(status: int, message: str) -> Work:
    return Work({"error": {"status": status, "message": message}}, 0, lasting=False)


# ---------------------------------------------------------------- a judge


class ChatSupportWorker:
    """
    Items as of `SupportWorker`; a unit is a cell, (document, sentence). Every call stands in the ledger, and is looked
    for there first.

    Raises:
        UsageError: The model cannot be loaded, the prompt cannot be used, or the card is another's.
    """

    item: type[Strict] = SupportItem

    def __init__(self, name: str, settings: ServedSupport, judge: ChatSupportSettings, *, ledger: str) -> None:
        prompts = [load_prompt(prompt, None).version for prompt in (judge.prompt, REPAIR_PROMPT)]
        self._loop = LoopThread()
        self._made = Calls(judge.chat, open_chat(judge.chat))
        self._calls = Calls(judge.chat, local_pool(self._made, judge.chat, name, ledger))
        self._judge = ChatSupportJudge(name, judge, chat=self._calls)
        self.about = About(
            name,
            "judge",
            version=content_key(judge.model_dump(mode="json"), prompts),
            task="support",
            score_kind="probability",
            **card_fields(support_card(settings, content_key(prompts))),
            estimated=False,
        )

    def split(self, item: Mapping[str, Any]) -> list[Any]:
        return [(item["document"], sentence) for sentence in item["sentences"]]

    def run(self, units: list[Any]) -> list[Work]:
        asked = support_groups(units)
        judged = self._loop.run(self._judge.judge(asked))
        calls, made = self._calls.taken(), self._made.taken()
        found = {
            (group.text, sentence): _judged(verdict, calls.get(verdict.call_id or ""), made=verdict.call_id in made)
            for group, row in zip(asked, judged, strict=True)
            for sentence, verdict in zip(group.sentences, row, strict=True)
        }
        return [found[document, sentence] for document, sentence in units]


def _judged(verdict: SupportVerdict, reply: ChatReply | None, *, made: bool) -> Work:
    """The work of a cell; *reply* is the call's that it was read from, None where nothing was asked."""
    usage = Usage() if reply is None else reply.usage
    return Work(
        [verdict._asdict()],
        (usage.input_tokens or 0) + (usage.cached_tokens or 0),
        output_tokens=(usage.output_tokens or 0) + (usage.reasoning_tokens or 0),
        from_ledger=reply is not None and reply.text is not None and not made,
        lasting=False,  # the ledger has the calls
    )


class Calls:
    """A `ChatModel` that notes the replies that pass through it, by call id."""

    def __init__(self, settings: ChatSettings, chat: ChatModel) -> None:
        self._settings, self._chat = settings, chat
        self._replies: dict[str, ChatReply] = {}

    @property
    def accepted(self) -> Capabilities:
        return self._chat.accepted

    async def complete(self, request: ChatRequest) -> ChatReply:
        reply = await self._chat.complete(request)
        self._replies[call_id(self._settings, request)] = reply
        return reply

    async def close(self) -> None:
        await self._chat.close()

    def taken(self) -> dict[str, ChatReply]:
        """Those since the last time."""
        found, self._replies = self._replies, {}
        return found


def local_pool(model: ChatModel, settings: ChatSettings, name: str, ledger: str) -> ChatPool:
    """A model of this process behind the pool, with a keeper of its own: each replica is a writer of the ledger."""
    job = f"serve-{name}-{uuid.uuid4().hex[:8]}"
    return ChatPool(
        model,
        settings,
        CallContext(job=job, stage=f"judge {name}", ledger=ledger),
        desk=OpenDesk(),
        keeper=LocalKeeper(LedgerKeeper(ledger, job)),
        price=FREE,
    )


class LoopThread:
    """An event loop in a thread of its own: pools and models live on one loop, batches come from threads."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="chat", daemon=True).start()

    def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """What *work* returns, or raises; blocks."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()
