"""
Configurations as people read them: the key that an error speaks of, what `--set` changed, and YAML in full.

The YAML has every key with its value, and behind it, its default and its meaning. It reads back to the same
configuration. A key that a component leaves out of what it stores stands in a comment.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml
from pydantic import BaseModel, JsonValue
from pydantic.fields import FieldInfo

from actors.secret_values import redacted
from actors.terminal import say
from longform.settings.meanings import meanings, summary_of

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


# ---------------------------------------------------------------- in full

_STEP = "  "
_WIDE = 10**9  # so that a value stays on its line


def shown_in_full(settings: BaseModel) -> str:
    """Return *settings* as YAML with comments."""
    return "\n".join(_of_model(settings, settings.model_dump(mode="json"), "")) + "\n"


def _of_model(settings: BaseModel, stored: Mapping[str, Any], indent: str) -> Iterator[str]:
    model = type(settings)
    for name, field in sorted(model.model_fields.items(), key=lambda one: one[0] != "kind"):
        key = field.alias or name
        comment = "; ".join(filter(None, [_stated_default(field), _meaning(model, name)]))
        if key in stored:
            yield from _entry(f"{indent}{key}:", getattr(settings, name), stored[key], indent, f"  # {comment}")
        else:
            yield f"{indent}# {key}: {_flow(getattr(settings, name))}  # {comment}"


def _entry(head: str, value: Any, stored: Any, indent: str, comment: str) -> Iterator[str]:
    """Yield the lines of a key and of what stands under it."""
    under = indent + _STEP
    if isinstance(value, BaseModel):
        yield f"{head}{comment}"
        yield from _of_model(value, stored, under)
    elif isinstance(value, Mapping) and any(isinstance(one, BaseModel) for one in value.values()):
        yield f"{head}{comment}"
        for name, one in value.items():
            yield from _entry(f"{under}{_flow(name)}:", one, stored[name], under, "")
    elif isinstance(value, list | tuple) and any(isinstance(one, BaseModel) for one in value):
        yield f"{head}{comment}"
        yield from _listed(value, stored, under)
    else:
        yield f"{head} {_flow(stored)}{comment}"


def _listed(values: Sequence[Any], stored: Sequence[Any], indent: str) -> Iterator[str]:
    for one, as_stored in zip(values, stored, strict=True):
        if isinstance(one, BaseModel):
            yield f"{indent}-"
            yield from _of_model(one, as_stored, indent + _STEP)
        else:
            yield f"{indent}- {_flow(as_stored)}"


def _flow(value: JsonValue) -> str:
    """Return a value on one line."""
    text = yaml.safe_dump(value, default_flow_style=True, width=_WIDE, allow_unicode=True, sort_keys=False)
    text = text.removesuffix("\n").removesuffix("\n...")
    return json.dumps(value) if "\n" in text else text


def _stated_default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    return f"default {_flow(_plain(value))}"


def _plain(value: Any) -> JsonValue:
    if isinstance(value, BaseModel):
        plain: JsonValue = value.model_dump(mode="json", exclude_defaults=True)
        return plain
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


def _meaning(model: type[BaseModel], name: str) -> str | None:
    return summary_of(model) if name == "kind" else meanings(model).get(name)
