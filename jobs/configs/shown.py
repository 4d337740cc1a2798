"""
A configuration as YAML in full: every key with its value, and behind it, its default and its meaning.

The text reads back to the same configuration. A key that a component leaves out of what it stores stands in a comment.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml
from pydantic import BaseModel, JsonValue
from pydantic.fields import FieldInfo

from longform.settings.meanings import meanings, summary_of

_STEP = "  "
_WIDE = 10**9  # so that a value stays on its line


def shown_in_full(settings: BaseModel) -> str:
    """Return *settings* as YAML with comments."""
    return "\n".join(_of_model(settings, settings.model_dump(mode="json"), "")) + "\n"


def _of_model(settings: BaseModel, stored: Mapping[str, Any], indent: str) -> Iterator[str]:
    model = type(settings)
    for name, field in sorted(model.model_fields.items(), key=lambda one: one[0] != "kind"):
        key = field.alias or name
        comment = "; ".join(filter(None, [_default(field), _meaning(model, name)]))
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


def _default(field: FieldInfo) -> str:
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
