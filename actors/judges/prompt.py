"""A judge's prompt at a chat model: what is asked, and what is asked once more where a reply cannot be read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from actors.chat.opening import REPAIR_PROMPT, Asking, asked_again, prompt_request
from longform.chat.call import ChatReply, ChatRequest
from longform.errors import UsageError
from longform.settings.judges import ChatJudgeSettings, ChatSupportJudgeSettings


class Again(NamedTuple):
    """A second try of a request: how it was worded, and what came."""

    request: ChatRequest
    reply: ChatReply


class JudgePrompt:
    """
    Args:
        name: Of the judge, for messages.
        task: What the prompt is for, for messages.
        fields: What it shows.
        settings: Name the model and the prompt.
        asking: With what is asked.
        json_schema: Of a reply; asked for where the model accepts one.

    Raises:
        UsageError: The prompt cannot be used, or shows other fields.
    """

    def __init__(
        self,
        name: str,
        task: str,
        fields: frozenset[str],
        *,
        settings: ChatJudgeSettings | ChatSupportJudgeSettings,
        asking: Asking,
        json_schema: Mapping[str, Any] | None = None,
    ) -> None:
        self._chat, self._settings = asking.chat, settings.chat
        self._prompt, self._wish = asking.prompt(settings.prompt), asking.prompt(REPAIR_PROMPT).render()
        if self._prompt.fields != fields:
            msg = f"judge {name!r}: prompt {settings.prompt!r} is not one for {task}, with {sorted(fields)}"
            raise UsageError(msg)
        self._json_schema = json_schema if asking.chat.accepted.json_schema else None
        self._count_tokens = asking.counter

    @property
    def version(self) -> str:
        return self._prompt.version

    def request(self, **fields: str) -> ChatRequest:
        """What is asked about these *fields*."""
        text = self._prompt.render(**fields)
        return prompt_request(self._settings, text, count_tokens=self._count_tokens, json_schema=self._json_schema)

    async def again(self, request: ChatRequest, unreadable: str) -> Again:
        """The same asked once more, with what came and the wish for a reply that can be read."""
        longer = asked_again(request, unreadable, self._wish)
        return Again(longer, await self._chat.complete(longer))
