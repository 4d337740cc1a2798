"""The changes that `--set` made, in words: one line a key, with the value before and after."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator, Mapping

from pydantic import BaseModel, JsonValue

from actors.secret_values import redacted
from actors.terminal import say

_SHOWN = 60  # characters of a value
_ABSENT = object()


def tell_changes(before: JsonValue, after: JsonValue, model: type[BaseModel]) -> None:
    """Print on standard error how *after* differs from *before*, unless only errors are wanted (`-q`)."""
    if logging.getLogger().isEnabledFor(logging.WARNING):
        for line in changed(before, after, model):
            say(redacted(f"set {line}"), file=sys.stderr)


def changed(before: JsonValue, after: JsonValue, model: type[BaseModel]) -> Iterator[str]:
    """Yield `KEY: BEFORE -> AFTER` for each key that differs; a key that was not there has its default."""
    for key, old, new in _differences("", before, after):
        yield f"{key}: {_shown(old) if old is not _ABSENT else _default(key, model)} -> {_shown(new)}"


def _differences(key: str, before: object, after: object) -> Iterator[tuple[str, object, object]]:
    if before == after and type(before) is type(after):
        return
    match before, after:
        case Mapping(), Mapping() if before or not key:
            for name in dict.fromkeys([*before, *after]):
                place = f"{key}.{name}" if key else str(name)
                yield from _differences(place, before.get(name, _ABSENT), after.get(name, _ABSENT))
        case list(), list() if len(before) == len(after):
            for index, (old, new) in enumerate(zip(before, after, strict=True)):
                yield from _differences(f"{key}.{index}", old, new)
        case _:
            yield key, before, after


def _default(key: str, model: type[BaseModel]) -> str:
    field = model.model_fields.get(key)
    if field is None or field.is_required():
        return "not there"
    value = field.get_default(call_default_factory=True)
    return "its default" if isinstance(value, BaseModel) else f"{_shown(value)} (default)"


def _shown(value: object) -> str:
    if value is _ABSENT:
        return "left out"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
