"""The protocol of every chat model, and what its calls are recorded and bounded by."""

from __future__ import annotations

from dataclasses import dataclass
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


@dataclass(frozen=True, kw_only=True)
class CallContext:
    """The command and stage on whose behalf a model is called."""

    job: str  # the command that calls; its keeper goes by this name
    stage: str
    ledger: str  # URL of the ledger's folder
    prices: str | None = None  # a price list's path or URL; None: the one that ships with `litellm`
