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
from collections.abc import Callable, Mapping
from typing import TypeGuard

import yaml
from pydantic import JsonValue

from jobs.configs.model_lists import chat_of, crossed, named_models, replaced
from longform.errors import UsageError
from longform.settings.judges import judges_of
from longform.settings.named_judges import KNOWN_CHECKERS, KNOWN_JUDGES

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


def _renamed(content: Mapping[str, JsonValue], section: str, model: JsonValue) -> Content:
    """Return the components of a section that ask chat models, with the model in place of theirs."""
    asking = {name: one for name, one in _section(content, section).items() if _asks(one)}
    return {name: {**one, "chat": {**_chat(one["chat"]), **_chat(model)}} for name, one in asking.items()}


def _asks(component: JsonValue) -> TypeGuard[Content]:
    return isinstance(component, dict) and component.get("kind") == "chat" and "chat" in component


def _reranker(content: Content, model: JsonValue) -> None:
    if not (found := _renamed(content, "rerankers", model)):
        raise UsageError("--set reranker: the configuration has no reranker of kind chat")
    content["rerankers"] = {**_section(content, "rerankers"), **found}


def _section(content: Mapping[str, JsonValue], name: str) -> Content:
    entries = content.get(name)
    return entries if isinstance(entries, dict) else {}


def _model(content: Content, model: JsonValue) -> None:
    if isinstance(model, list):
        _models(content, named_models("model", model))
        return
    if found := _renamed(content, "summarizers", model):
        content["summarizers"] = {**_section(content, "summarizers"), **found}
        return
    prompt: Content = {"prompt": "summarize_sentences"} if content.get("units") == "sentences" else {}
    content["summarizers"] = {_NAME: {"kind": "chat", "chat": _chat(model), **prompt}}
    for system in _systems(content):
        system["summarizer"] = _NAME


def _models(content: Content, models: Mapping[str, JsonValue]) -> None:
    """Let each of *models* write the summaries of every system that a chat model writes, or of every system."""
    writers = _section(content, "summarizers")
    asking = {name: one for name, one in writers.items() if _asks(one)}
    prompt: Content = {"prompt": "summarize_sentences"} if content.get("units") == "sentences" else {}
    new = crossed(asking, models) or {
        "": {name: {"kind": "chat", "chat": chat_of(entry), **prompt} for name, entry in models.items()}
    }
    made = {name: one for of_old in new.values() for name, one in of_old.items()}
    kept = {name: one for name, one in writers.items() if name not in asking and asking}
    _refuse_taken("model", made, kept)
    content["summarizers"] = {**kept, **made}
    names = {old: list(of_old) for old, of_old in new.items()}
    for system in _systems(content):
        system["summarizer"] = replaced(system["summarizer"], names) if asking else list(made)


def _refuse_taken(key: str, made: Mapping[str, JsonValue], kept: Mapping[str, JsonValue]) -> None:
    if taken := sorted(made.keys() & kept.keys()):
        raise UsageError(
            f"--set {key}: the configuration has another {taken[0]!r} already; give the model another name, as "
            f"{{name: {taken[0]}-2, model: ...}}"
        )


def _chat_judges(models: Mapping[str, JsonValue], task: str) -> Content:
    """Return a judge of *task* for each of *models*; one that is known by its name, as it is."""
    stated: Content = {"task": task} if task != "coverage" else {}
    return {
        name: KNOWN_JUDGES[name].model_dump(mode="json")
        if _is_known(entry, task)
        else {**stated, "kind": "chat", "chat": chat_of(entry)}
        for name, entry in models.items()
    }


def _is_known(entry: JsonValue, task: str) -> bool:
    """Return whether a name is one of a judge that asks no chat model."""
    return isinstance(entry, str) and entry in judges_of(task, KNOWN_JUDGES) and KNOWN_JUDGES[entry].asked_model is None


def _judges(content: Content, models: Mapping[str, JsonValue]) -> None:
    """Let each of *models* judge in place of each chat judge of a preset, or of all its judges of coverage."""
    judging, checking = _judges_apart(content)
    asking = {name: one for name, one in judging.items() if _asks(one)}
    if asking:
        made: Content = {name: one for of in crossed(asking, models).values() for name, one in of.items()}
        kept: Content = {name: one for name, one in judging.items() if name not in asking}
        _refuse_taken("judge", made, kept)
        content["judges"] = _one_list({**kept, **made}, checking)
    else:
        content["judges"] = _one_list(_chat_judges(models, "coverage"), checking)
    content.pop("cards", None)


def _judge(content: Content, model: JsonValue) -> None:
    if isinstance(model, list):
        _judges(content, named_models("judge", model))
        return
    judging, checking = _judges_apart(content)
    if found := _renamed({"judges": judging}, "judges", model):
        content["judges"] = _one_list({**judging, **found}, checking)
        content.pop("cards", None)
        return
    content["judges"] = _one_list({_NAME: {"kind": "chat", "chat": _chat(model)}}, checking)
    content.pop("cards", None)


def _support_judge(content: Content, model: JsonValue) -> None:
    judging, _ = _judges_apart(content)
    if isinstance(model, list):
        models = named_models("support_judge", model)
        content["judges"] = _one_list(judging, _chat_judges(models, "support"))
        return
    if isinstance(model, str) and model in KNOWN_CHECKERS:
        checking: Content = {model: KNOWN_CHECKERS[model].model_dump(mode="json")}
    else:
        checking = {_NAME: {"task": "support", "kind": "chat", "chat": _chat(model)}}
    content["judges"] = _one_list(judging, checking)


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


def _chat(model: JsonValue) -> Content:
    return dict(model) if isinstance(model, dict) else {"model": model}


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
    if key == "support_judge" and text in KNOWN_CHECKERS:
        judge = KNOWN_CHECKERS[text].model_dump(mode="json", exclude={"task"}, exclude_defaults=True)
        return [f"judges.{text}={json.dumps({'task': 'support'} | judge)}"]
    if isinstance(value := yaml.safe_load(text), list) and key in ("model", "judge", "support_judge"):
        return _full_keys_of_list(key, value, places)
    chat = text if text.lstrip().startswith("{") else f"{{model: {text}}}"
    chosen = f"{{kind: chat, chat: {chat}}}"
    written = {
        "support_judge": [f"judges.{_NAME_OF_SUPPORT}={{task: support, kind: chat, chat: {chat}}}"],
        "reranker": [f"rerankers.{name}.chat={chat}" for name in _renamed(content, "rerankers", {})],
        "judge": [f"judges.{_NAME}={chosen}"],
        "model": [f"summarizers.{_NAME}={chosen}", *(f"systems.{place}.summarizer={_NAME}" for place in places)],
    }
    return written[key]


def _full_keys_of_list(key: str, entries: list[JsonValue], places: range) -> list[str]:
    models = named_models(key, entries)
    if key == "model":
        written = [
            f"summarizers.{name}={json.dumps({'kind': 'chat', 'chat': chat_of(entry)})}"
            for name, entry in models.items()
        ]
        return [*written, *(f"systems.{place}.summarizer={json.dumps(list(models))}" for place in places)]
    judges = _chat_judges(models, "support" if key == "support_judge" else "coverage")
    return [f"judges.{name}={json.dumps(judge)}" for name, judge in judges.items()]
