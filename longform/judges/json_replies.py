"""Reads the verdict in replies that are to hold one JSON object."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from longform.judges.kind import Verdict, unjudged
from longform.text.reasoning import without_reasoning

_MOST_TRIES = 100  # braces that open no object; a reply of more is none


class UnreadableError(Exception):
    """An object that is no verdict."""

    def __init__(self, *, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def read_object(reply: str, field: str, read: Callable[[Mapping[str, Any]], Verdict]) -> Verdict:
    """
    Read the verdict of the one JSON object in *reply*, wherever it stands behind its reasoning: in a fence, or with
    words around it.

    Objects without *field*, or with a schema in it, say no verdict; several that say the same are one.

    Args:
        reply: What the model wrote.
        field: The name, in small letters, of the field that holds the answer.
        read: Reads an object, whose names are in small letters. It may raise UnreadableError.

    Returns:
        An unjudged verdict with the reason of *read*, or `no_json_object`, `missing_field`, `repeated_field` or
        `several_objects` if the reply says no verdict, or different ones.
    """
    try:
        objects = list(_objects(without_reasoning(reply)))
        stated = [found for found in objects if not isinstance(found.get(field, {}), dict)]
    except UnreadableError as unreadable:
        return unjudged(unreadable.reason)
    verdicts = {_verdict(found, read) for found in stated}
    if not verdicts:
        return unjudged("missing_field" if objects else "no_json_object")
    return verdicts.pop() if len(verdicts) == 1 else unjudged("several_objects")


def _verdict(found: Mapping[str, Any], read: Callable[[Mapping[str, Any]], Verdict]) -> Verdict:
    try:
        return read(found)
    except UnreadableError as unreadable:
        return unjudged(unreadable.reason)


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of a text that stand in no other one."""
    decoder = json.JSONDecoder(object_pairs_hook=_distinct)
    at, n_tries = text.find("{"), 0
    while at >= 0 and n_tries < _MOST_TRIES:
        try:
            found, end = decoder.raw_decode(text, at)
        except RecursionError:
            return
        except ValueError:
            end, n_tries = at + 1, n_tries + 1
        else:
            yield found
        at = text.find("{", end)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = {name.strip().lower(): value for name, value in pairs}
    if len(fields) < len(pairs):
        raise UnreadableError(reason="repeated_field")
    return fields


_NUMBER = re.compile(r"\W*(?:bullet(?:[ _](?:id|no|number))?)?\W*(\d{1,9})\W*", re.IGNORECASE)


def whole_number(stated: Any) -> int | None:
    """Return the number of a field as 1, "1", "bullet 1", "1.", 1.0 or [1]; None if it states no one number."""
    if isinstance(stated, list) and len(stated) == 1:
        (stated,) = stated
    if isinstance(stated, float):
        return int(stated) if stated.is_integer() else None
    if isinstance(stated, str):
        found = _NUMBER.fullmatch(stated)
        return int(found[1]) if found and "-" not in stated else None
    return stated if isinstance(stated, int) and not isinstance(stated, bool) else None
