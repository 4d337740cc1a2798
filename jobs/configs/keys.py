"""Keys in messages: the one that an error of pydantic speaks of, and those that `--set` changed."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, JsonValue

from actors.secret_values import redacted
from actors.terminal import say

_SHOWN = 60  # characters of a value
_ABSENT = object()

_OLDER = {"judges": "support_judges"}
"""Key -> the key of older files whose content is read as its."""


def place_in_file(place: Sequence[int | str], content: Any) -> str:
    """
    Return the key as it stands in *content*, with dots between its parts.

    Pydantic's places hold more than keys: after a component of several kinds comes its kind, and names of functions
    and types may stand between. The last part stays, since a missing key stands nowhere.
    """
    parts: list[str] = []
    here, told_kind = content, False
    for depth, part in enumerate(place):
        last = depth == len(place) - 1
        if isinstance(here, Mapping) and here.get("kind") == part and not told_kind:
            told_kind = True
            continue
        key = _key(place[depth:], here)
        if key is not None:
            parts.append(str(key))
            here, told_kind = here[key], False
        elif last:
            parts.append(str(part))
    return ".".join(parts) or "(top)"


def _key(rest: Sequence[int | str], here: Any) -> int | str | None:
    """Return the key of *here* that the first of *rest* speaks of; None if there is none."""
    part = rest[0]
    match here:
        case Mapping():
            older = here.get(_OLDER.get(str(part), ""))
            if isinstance(older, Mapping) and len(rest) > 1 and rest[1] in older:
                return _OLDER[str(part)]
            return part if part in here else None
        case list() if isinstance(part, int) and part < len(here):
            return part
        case _:
            return None


# ---------------------------------------------------------------- changes


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
