"""The protocol of every chat model."""

from __future__ import annotations

from typing import Protocol

from longform.chat.call import Capabilities, ChatReply, ChatRequest


class ChatModel(Protocol):
    """Answers requests. A plain one makes one attempt a request; a `ChatPool` owns limits, money and retries."""

    @property
    def accepted(self) -> Capabilities:
        """The known capabilities of the model."""
        ...

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Return the model's reply, or a reply with the reason why there is none; a plain model does not raise."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...
