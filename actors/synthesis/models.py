"""
The planner, writer and verifier of a synthesis: they carry its plans out over the chat pool.

A call that failed for a passing reason, or because the model or its key is wrong, ends the plan with an error: it is no
fault of the request, and must not decide the content of a benchmark. The same command again goes on from the ledger.
Any other failure (a refusal, an empty or cut reply) is an attempt that was rejected.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from actors.chat.model import CallContext, ChatModel
from actors.chat.opening import load_prompt, open_pool, prompt_request, token_counter
from actors.local_models.encoder import Encoder
from actors.serving.endpoint import SearchEndpoints
from longform.chat.call import ChatRequest, call_id
from longform.chat.failures import may_pass
from longform.errors import LongformError
from longform.settings.chat import ChatSettings
from longform.synthesis.asking import Ask, Form, Plan, Reply, Role, schema_of
from longform.synthesis.grammar.passages import PROMPT as PASSAGE
from longform.synthesis.recipe import SynthesisSettings
from longform.synthesis.written.replies import FORMS

Value = TypeVar("Value")

_OF_THE_CONFIGURATION = re.compile(r"http_40[134]$|insufficient_quota$|unsupported_|context_exceeds_window|script_")


class SynthesisModels:
    """
    Many plans at once, on one event loop.

    A model in several roles is opened once. *forms* maps each prompt that plans name to the form of its reply; None:
    plain text, as a passage is.
    """

    def __init__(
        self,
        config: SynthesisSettings,
        open_model: Callable[[ChatSettings], ChatModel],
        forms: Mapping[str, type[Form] | None] = FORMS,
    ) -> None:
        self._config, self._forms = config, forms
        opened: dict[str, ChatModel] = {}
        for settings in config.chats.values():
            if (key := settings.model_dump_json()) not in opened:
                opened[key] = open_model(settings)
        self._chats: Mapping[Role, ChatModel] = {
            role: opened[settings.model_dump_json()] for role, settings in config.chats.items()
        }
        self._endpoints = SearchEndpoints()
        self._counters = {role: token_counter(chat.accepted, None) for role, chat in self._chats.items()}
        self._prompts = {name: load_prompt(name, config.prompts) for name in (*forms, PASSAGE)}

    async def carry_out(self, plan: Plan[Value]) -> Value:
        """
        Return the result of *plan*.

        Raises:
            LongformError: A call failed for a reason that may pass, or that lies in the configuration.
            BudgetReachedError: The command may not spend more.
        """
        try:
            asks = next(plan)
            while True:
                asks = plan.send(await asyncio.gather(*(self._reply(ask) for ask in asks)))
        except StopIteration as ended:
            value: Value = ended.value
            return value

    def request(self, ask: Ask) -> ChatRequest:
        """Return the request that is sent for *ask*."""
        settings, chat = self._config.chats[ask.role], self._chats[ask.role]
        form = self._forms.get(ask.prompt)  # a passage is plain text
        schema = schema_of(form) if form and chat.accepted.json_schema else None
        text = self._prompts[ask.prompt].render(**ask.fields)
        request = prompt_request(settings, text, count_tokens=self._counters[ask.role], json_schema=schema)
        temperature = settings.temperature if ask.temperature is None else ask.temperature
        return replace(request, temperature=temperature, repeat=self._config.seed, top_logprobs=ask.top_logprobs)

    async def _reply(self, ask: Ask) -> Reply:
        if ask.role == "search":
            return Reply(await self._endpoints.search(ask.prompt, ask.fields), None)
        settings, request = self._config.chats[ask.role], self.request(ask)
        reply = await self._chats[ask.role].complete(request)
        if reply.failure is not None and (may_pass(reply.failure) or _OF_THE_CONFIGURATION.match(reply.failure)):
            raise LongformError(
                f"a call of model {settings.model!r} failed ({reply.failure}), which says nothing of what was asked: "
                "once that is mended, the same command goes on from here"
            )
        return Reply(reply.text, reply.failure, call_id(settings, request), reply.logprobs)


def open_models(
    config: SynthesisSettings, context: CallContext, forms: Mapping[str, type[Form] | None] = FORMS
) -> SynthesisModels:
    """Open the models behind the pool: within their limits, recorded, never paid twice."""
    return SynthesisModels(config, lambda settings: open_pool(settings, context), forms)


def embed(model: str, texts: Sequence[str]) -> NDArray[np.float32]:
    """
    Embed *texts*, as plans that compare texts ask for: unit vectors, shape (texts, dimensions).

    Raises:
        UsageError: The model cannot be loaded.
    """
    return _encoder(model).embed(texts)


@cache
def _encoder(model: str) -> Encoder:
    return Encoder(model, threads=1)
