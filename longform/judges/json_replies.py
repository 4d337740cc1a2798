"""Reads replies that are to be one JSON object."""

from __future__ import annotations

import json
import re
from typing import Any

_FENCE = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL)


class UnreadableError(Exception):
    """A reply that is no verdict."""

    def __init__(self, *, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def only_object(reply: str) -> dict[str, Any]:
    """
    Read the one JSON object that *reply* consists of, in a ```json fence or bare.

    Raises:
        UnreadableError: The reply is anything else: `no_json_object`, `not_an_object`, `extra_prose`,
            `several_objects`, `repeated_field`.
    """
    text = reply.strip()
    if fenced := _FENCE.fullmatch(text):
        text = fenced[1]
    value, rest = _leading_value(text)
    if rest:
        raise UnreadableError(reason="several_objects" if rest.startswith("{") else "extra_prose")
    if not isinstance(value, dict):
        raise UnreadableError(reason="not_an_object")
    return value


def _leading_value(text: str) -> tuple[Any, str]:
    try:
        value, end = json.JSONDecoder(object_pairs_hook=_distinct).raw_decode(text)
    except (ValueError, RecursionError) as error:
        reason = "extra_prose" if "{" in text and not text.startswith("{") else "no_json_object"
        raise UnreadableError(reason=reason) from error
    return value, text[end:].strip()


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise UnreadableError(reason="repeated_field")
    return fields
