"""A judge's prompt at a chat model: the first request about a pair, and the second if a reply cannot be read."""

from __future__ import annotations

from actors.chat.opening import REPAIR_PROMPT, Asking, asked_again, prompt_request
from longform.chat.call import ChatRequest
from longform.errors import UsageError
from longform.judges.kind import Group, Kind
from longform.settings.judges import ChatJudgeSettings


class JudgePrompt:
    """
    Args:
        kind: Of the judge.
        name: Of the judge, for messages.
        settings: Name the model and the prompt.
        asking: With what is asked.

    Raises:
        UsageError: The prompt cannot be used, or shows other fields than the kind's.
    """

    def __init__(self, kind: Kind, name: str, *, settings: ChatJudgeSettings, asking: Asking) -> None:
        self._kind, self._settings = kind, settings.chat
        self._prompt, self._wish = asking.prompt(settings.prompt), asking.prompt(REPAIR_PROMPT).render()
        if self._prompt.fields != kind.prompt_fields:
            fields = sorted(kind.prompt_fields)
            msg = f"judge {name!r}: prompt {settings.prompt!r} is not one for {kind.task}, with {fields}"
            raise UsageError(msg)
        self._json_schema = kind.schema if asking.chat.accepted.json_schema else None
        self._count_tokens = asking.counter

    def request(self, group: Group, item: str) -> ChatRequest:
        """Ask about one pair."""
        text = self._prompt.render(**self._kind.filled(group, item))
        return prompt_request(self._settings, text, count_tokens=self._count_tokens, json_schema=self._json_schema)

    def again(self, request: ChatRequest, unreadable: str) -> ChatRequest:
        """Ask once more, with what came and the wish for a reply that can be read."""
        return asked_again(request, unreadable, self._wish)
