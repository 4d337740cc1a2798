"""
Short names on the command line for what a preset says at length.

    --set budget=2000                     the budget of every system
    --set retrievers=[bm25,oracle]        only systems with these retrievers
    --set model=gpt-4o                    a chat model writes the summaries, in place of the summarizers named
    --set 'model={model: m, base_url: "http://127.0.0.1:8000/v1"}'
    --set judge=gpt-4o                    a chat model judges, in place of the judges named
    --set reranker=gpt-4o                 a chat model scores documents, in place of those named
    --set support_judge=gpt-4o            a chat model checks sentences, in place of the support judges named
    --set support_judge=checker           the checker that ships does
    --set support_judge=minicheck-flan-t5 a checkpoint of MiniCheck does
    --set 'model=[gpt-4o, {model: m, base_url: "http://127.0.0.1:8000/v1"}]'
                                          each of them writes summaries, in rows of its own; judges likewise

The models of a list have rows by their own names, or by the `name` of a mapping.

Where a preset has chat models in these places, they keep their prompts and settings, and the model is another one.

They change several keys at once, so that only a preset takes them. With a file of one's own they are refused, and the
refusal names the keys to write.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeGuard

import yaml
from pydantic import JsonValue

from longform.errors import UsageError
from longform.settings.named_judges import known_judge

Content = dict[str, JsonValue]
"""A mapping of a configuration, as YAML."""

_NAME = "chat"
_CHECKS = "-support"  # behind the name of a model that checks if a judge of another task has it
_NAME_OF_SUPPORT = f"{_NAME}{_CHECKS}"


def _systems(content: Mapping[str, JsonValue]) -> list[Content]:
    return [system for system in _as_list(content["systems"]) if isinstance(system, dict)]


def _as_list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else [value]


def _budget(content: Content, tokens: JsonValue) -> None:
    for system in _systems(content):
        system["budget_tokens"] = tokens


def _retrievers(content: Content, names: JsonValue) -> None:
    content["systems"] = _with_retrievers(content, _as_list(names))


def _with_retrievers(content: Mapping[str, JsonValue], names: list[JsonValue]) -> list[JsonValue]:
    kept: list[JsonValue] = []
    found: list[JsonValue] = []
    for system in _systems(content):
        if chosen := [name for name in _as_list(system["retriever"]) if name in names]:
            kept.append(system | {"retriever": chosen})
            found += chosen
    if missing := [name for name in names if name not in found]:
        raise UsageError(f"--set retrievers: no system of the configuration has {missing}")
    return kept


def _section(content: Mapping[str, JsonValue], name: str) -> Content:
    entries = content.get(name)
    return entries if isinstance(entries, dict) else {}


# ---------------------------------------------------------------- chat models


def _chat(model: JsonValue) -> Content:
    return dict(model) if isinstance(model, dict) else {"model": model}


def _asks(component: JsonValue) -> TypeGuard[Content]:
    return isinstance(component, dict) and component.get("kind") == "chat" and "chat" in component


def _models(key: str, value: JsonValue) -> dict[str, Content]:
    """
    Return chat models by the names of their rows: the `name` of a mapping, else the last part of a model's name.

    A single model is called "": it stands under the names of what it replaces.

    Raises:
        UsageError: A list is empty, an entry names no model, or two entries would have one name.
    """
    if not isinstance(value, list):
        return {"": _chat(value)}
    if not value:
        raise UsageError(f"--set {key}: expected one model or more, found an empty list")
    found: dict[str, Content] = {}
    for entry in value:
        name = _name(key, entry)
        if name in found:
            raise UsageError(
                f"--set {key}: two entries would both be called {name!r}; name each model once, or give the same model "
                f"with other settings a name of its own, as {{name: {name}-2, model: ...}}"
            )
        found[name] = {field: stated for field, stated in _chat(entry).items() if field != "name"}
    return found


def _name(key: str, entry: JsonValue) -> str:
    if isinstance(entry, Mapping):
        named = entry.get("name", entry.get("model"))
        if isinstance(named, str) and named.strip() and isinstance(entry.get("model"), str):
            return named if "name" in entry else _short_name(named)
    elif isinstance(entry, str) and entry.strip():
        return _short_name(entry)
    raise UsageError(
        f"--set {key}: expected names of models, or mappings such as {{model: m, base_url: ...}}, found {entry!r}"
    )


def _short_name(model: str) -> str:
    """Return the last part of a model's name or path, without characters that a key on the command line splits at."""
    last = model.rstrip("/").rsplit("/", 1)[-1]
    return re.sub(r"[.\s=]+", "-", last).strip("-") or "model"


def _taken_over(
    key: str, components: Content, models: Mapping[str, Content]
) -> tuple[Content, dict[str, Sequence[JsonValue]]]:
    """
    Return *components* with each of *models* in place of each one's own, and the new names by the old ones.

    A single component takes the models' names; of several, each new name begins with the old one.
    """
    asking = {name: one for name, one in components.items() if _asks(one)}
    made: Content = {}
    names: dict[str, Sequence[JsonValue]] = {}
    for old, one in asking.items():
        new = {name: (name if len(asking) == 1 else f"{old}-{name}") if name else old for name in models}
        made |= {new[name]: {**one, "chat": {**_chat(one["chat"]), **chat}} for name, chat in models.items()}
        names[old] = list(new.values())
    if taken := sorted(made.keys() & components.keys() - asking.keys()):
        raise UsageError(
            f"--set {key}: the configuration has another {taken[0]!r} already; give the model another name, as "
            f"{{name: {taken[0]}-2, model: ...}}"
        )
    kept = {name: one for name, one in components.items() if name not in asking or name in made}
    return {**kept, **made}, names


def _reranker(content: Content, model: JsonValue) -> None:
    content["rerankers"], names = _taken_over("reranker", _section(content, "rerankers"), {"": _chat(model)})
    if not names:
        raise UsageError("--set reranker: the configuration has no reranker of kind chat")


def _model(content: Content, value: JsonValue) -> None:
    """Let each model write the summaries of every system that a chat model writes, or of every system."""
    models = _models("model", value)
    writers, names = _taken_over("model", _section(content, "summarizers"), models)
    if not names:
        prompt: Content = {"prompt": "summarize_sentences"} if content.get("units") == "sentences" else {}
        writers = {name or _NAME: {"kind": "chat", "chat": chat, **prompt} for name, chat in models.items()}
    content["summarizers"] = writers
    for system in _systems(content):
        if not names:
            system["summarizer"] = list(writers) if isinstance(value, list) else _NAME
        elif isinstance(value, list):
            old = _as_list(system["summarizer"])
            new = [name for one in old for name in (names.get(one, [one]) if isinstance(one, str) else [one])]
            system["summarizer"] = [name for place, name in enumerate(new) if name not in new[:place]]


def _judge(content: Content, value: JsonValue) -> None:
    """Let each model judge in place of each chat judge of a preset, or of all its judges of coverage."""
    judging, checking = _judges_apart(content)
    models = _models("judge", value)
    judges, names = _taken_over("judge", judging, models)
    content["judges"] = _one_list(judges if names else _judges(models, "coverage"), checking)
    content.pop("cards", None)


def _support_judge(content: Content, value: JsonValue) -> None:
    judging, _ = _judges_apart(content)
    content["judges"] = _one_list(judging, _judges(_models("support_judge", value), "support"))


def _judges(models: Mapping[str, Content], task: str) -> Content:
    """Return a judge of *task* for each of *models*; one that is known by its name, as it is."""
    stated: Content = {"task": task} if task != "coverage" else {}
    found: Content = {}
    for name, chat in models.items():
        known = known_judge(chat.get("model"), task) if len(chat) == 1 else None
        if known is not None:
            found[name or str(chat["model"])] = known.model_dump(mode="json")
        else:
            found[name or _NAME] = {**stated, "kind": "chat", "chat": chat}
    return found


def _judges_apart(content: Mapping[str, JsonValue]) -> tuple[Content, Content]:
    """Return the judges of other tasks, and those of support."""
    judges = content.get("judges")
    judging: Content = dict(judges) if isinstance(judges, dict) else {}
    support = [name for name, judge in judging.items() if isinstance(judge, dict) and judge.get("task") == "support"]
    return judging, {name: judging.pop(name) for name in support}


def _one_list(judging: Content, checking: Content) -> Content:
    """Return all judges; one that checks has a name of its own if another one of its name judges."""
    return judging | {f"{name}{_CHECKS}" if name in judging else name: judge for name, judge in checking.items()}


def with_support_apart(content: Content) -> None:
    """List the judges of support under `support_judges`, as older files do, for changes of that key."""
    judging, checking = _judges_apart(content)
    if checking:
        content["judges"], content["support_judges"] = judging, checking


_SHORTHANDS: Mapping[str, Callable[[Content, JsonValue], None]] = {
    "budget": _budget,
    "retrievers": _retrievers,
    "model": _model,
    "judge": _judge,
    "support_judge": _support_judge,
    "reranker": _reranker,
}


SHORT_NAMES = tuple(_SHORTHANDS)
"""Names that `--set` takes for a preset."""


def is_shorthand(key: str, value: JsonValue) -> bool:
    """Tell whether *key* with this *value* is a short name; a mapping of retrievers is the key of that name."""
    return key in _SHORTHANDS and (key != "retrievers" or isinstance(value, list))


def apply_shorthand(content: Content, key: str, value: JsonValue) -> None:
    """
    Change *content*, an experiment's, as a short name says.

    Raises:
        UsageError: It names what the configuration does not have.
    """
    _SHORTHANDS[key](content, value)


def full_keys(content: Mapping[str, JsonValue], key: str, text: str) -> list[str]:
    """
    Return what to write after `--set` in place of the short name *key* with the value *text*.

    Raises:
        UsageError: It names what the configuration does not have.
    """
    systems = content["systems"]
    places = range(len(systems) if isinstance(systems, list) else 1)
    if key == "budget":
        return [f"systems.{place}.budget_tokens={text}" for place in places]
    if key == "retrievers":
        return [f"systems={json.dumps(_with_retrievers(content, _as_list(yaml.safe_load(text))))}"]
    task = {"judge": "coverage", "support_judge": "support"}.get(key, "")
    if (known := known_judge(text, task)) is not None:
        judge = known.model_dump(mode="json", exclude={"task"}, exclude_defaults=True)
        return [f"judges.{text}={json.dumps({'task': task} | judge)}"]
    if isinstance(value := yaml.safe_load(text), list) and key != "reranker":
        models = _models(key, value)
        if task:
            return [f"judges.{name}={json.dumps(judge)}" for name, judge in _judges(models, task).items()]
        written = [f"summarizers.{name}={json.dumps({'kind': 'chat', 'chat': chat})}" for name, chat in models.items()]
        return [*written, *(f"systems.{place}.summarizer={json.dumps(list(models))}" for place in places)]
    chat = text if text.lstrip().startswith("{") else f"{{model: {text}}}"
    chosen = f"{{kind: chat, chat: {chat}}}"
    rerankers = _section(content, "rerankers")
    return {
        "support_judge": [f"judges.{_NAME_OF_SUPPORT}={{task: support, kind: chat, chat: {chat}}}"],
        "reranker": [f"rerankers.{name}.chat={chat}" for name, one in rerankers.items() if _asks(one)],
        "judge": [f"judges.{_NAME}={chosen}"],
        "model": [f"summarizers.{_NAME}={chosen}", *(f"systems.{place}.summarizer={_NAME}" for place in places)],
    }[key]
