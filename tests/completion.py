"""A reply's body, as a chat server sends it."""

from __future__ import annotations

from typing import Any


def completion(**choice: Any) -> dict[str, Any]:
    message = choice.pop("message", {"role": "assistant", "content": "hi there"})
    return {"model": "m-2026", "choices": [{"index": 0, "finish_reason": "stop", "message": message} | choice]}
