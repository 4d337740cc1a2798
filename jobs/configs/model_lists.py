"""Names for the models of a list on the command line: rows of a report read by them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from longform.errors import UsageError

Content = dict[str, JsonValue]
"""A mapping of a configuration, as YAML."""


def named_models(key: str, value: JsonValue) -> dict[str, JsonValue]:
    """
    Return the entries of a list by names: the `name` of a mapping, else the last part of its model's name.

    Args:
        key: Of `--set`, for messages.
        value: The list.

    Raises:
        UsageError: It is empty, an entry names no model, or two entries would have one name.
    """
    entries = value if isinstance(value, list) else [value]
    if not entries:
        raise UsageError(f"--set {key}: expected one model or more, found an empty list")
    found: dict[str, JsonValue] = {}
    for entry in entries:
        name = _name(key, entry)
        if name in found:
            raise UsageError(
                f"--set {key}: two entries would both be called {name!r}; name each model once, or give the same model "
                f"with other settings a name of its own, as {{name: {name}-2, model: ...}}"
            )
        found[name] = entry
    return found


def _name(key: str, entry: JsonValue) -> str:
    if isinstance(entry, Mapping):
        named = entry.get("name", entry.get("model"))
        if isinstance(named, str) and named.strip() and isinstance(entry.get("model"), str):
            return named if "name" in entry else short_name(named)
    elif isinstance(entry, str) and entry.strip():
        return short_name(entry)
    raise UsageError(
        f"--set {key}: expected names of models, or mappings such as {{model: m, base_url: ...}}, found {entry!r}"
    )


def short_name(model: str) -> str:
    """Return the last part of a model's name or path, without characters that a key on the command line splits at."""
    last = model.rstrip("/").rsplit("/", 1)[-1]
    return re.sub(r"[.\s=]+", "-", last).strip("-") or "model"


def chat_of(entry: JsonValue) -> Content:
    """Return the settings of the chat model that an entry means, without its name."""
    if isinstance(entry, Mapping):
        return {name: value for name, value in entry.items() if name != "name"}
    return {"model": entry}


def crossed(components: Mapping[str, Content], models: Mapping[str, JsonValue]) -> dict[str, dict[str, Content]]:
    """
    Return each chat component of a preset with each of *models* in place of its own, by its old name and by new names.

    A single component takes the models' names; of several, each new name begins with the old one.
    """
    return {
        old: {
            model if len(components) == 1 else f"{old}-{model}": {**one, "chat": {**_chat(one), **chat_of(entry)}}
            for model, entry in models.items()
        }
        for old, one in components.items()
    }


def _chat(component: Content) -> Content:
    chat = component["chat"]
    return dict(chat) if isinstance(chat, Mapping) else {"model": chat}


def replaced(names: JsonValue, by: Mapping[str, Sequence[str]]) -> list[JsonValue]:
    """Return a system's *names* of components with others in place of those that are replaced, each once."""
    old = names if isinstance(names, list) else [names]
    new: list[JsonValue] = [name for one in old for name in (by.get(one, [one]) if isinstance(one, str) else [one])]
    return [name for place, name in enumerate(new) if name not in new[:place]]
