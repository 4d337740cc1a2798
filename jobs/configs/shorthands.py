"""
Short names on the command line for what a preset says at length.

    --set budget=2000                     the budget of every system
    --set retrievers=[bm25,oracle]        only systems with these retrievers
    --set model=gpt-4o                    a chat model writes the summaries, in place of the summarizers named
    --set 'model={model: m, base_url: "http://127.0.0.1:8000/v1"}'
    --set judge=gpt-4o                    a chat model judges, in place of the judges named
    --set support_judge=gpt-4o            a chat model checks sentences, in place of the support judges named
    --set support_judge=checker           the checker that ships does

They change several keys at once, so that only a preset takes them. With a file of one's own they are refused, and the
refusal names the keys to write.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import yaml

from longform.errors import UsageError
from longform.settings.judges import SHIPPED_JUDGES, judges_of

_NAME = "chat"


def _budget(content: dict[str, Any], tokens: Any) -> None:
    for system in content["systems"]:
        system["budget_tokens"] = tokens


def _retrievers(content: dict[str, Any], names: Any) -> None:
    kept = []
    for system in content["systems"]:
        has = system["retriever"] if isinstance(system["retriever"], list) else [system["retriever"]]
        if chosen := [name for name in has if name in names]:
            kept.append(system | {"retriever": chosen})
    found = {name for system in kept for name in system["retriever"]}
    if missing := [name for name in names if name not in found]:
        raise UsageError(f"--set retrievers: no system of the configuration has {missing}")
    content["systems"] = kept


def _model(content: dict[str, Any], model: Any) -> None:
    prompt = {"prompt": "summarize_sentences"} if content.get("units") == "sentences" else {}
    content["summarizers"] = {_NAME: {"kind": "chat", "chat": _chat(model)} | prompt}
    for system in content["systems"]:
        system["summarizer"] = _NAME


def _judge(content: dict[str, Any], model: Any) -> None:
    content["judges"] = {_NAME: {"kind": "chat", "chat": _chat(model)}}
    content.pop("cards", None)
    _give_names_apart(content)


def _support_judge(content: dict[str, Any], model: Any) -> None:
    if isinstance(model, str) and model in judges_of("support", SHIPPED_JUDGES):
        content["support_judges"] = {model: SHIPPED_JUDGES[model].model_dump(mode="json")}
        return
    content["support_judges"] = {_NAME: {"kind": "chat", "chat": _chat(model)}}
    _give_names_apart(content)


def _give_names_apart(content: dict[str, Any]) -> None:
    """Give the chat model that checks sentences a name of its own if another chat model judges coverage."""
    checking = content.get("support_judges") or {}
    if _NAME in checking and _NAME in (content.get("judges") or {}):
        checking[f"{_NAME}-support"] = checking.pop(_NAME)


def _chat(model: Any) -> dict[str, Any]:
    return dict(model) if isinstance(model, dict) else {"model": model}


_SHORTHANDS: Mapping[str, Callable[[dict[str, Any], Any], None]] = {
    "budget": _budget,
    "retrievers": _retrievers,
    "model": _model,
    "judge": _judge,
    "support_judge": _support_judge,
}


def is_shorthand(key: str, value: Any) -> bool:
    """Tell whether *key* with this *value* is a short name; a mapping of retrievers is the key of that name."""
    return key in _SHORTHANDS and (key != "retrievers" or isinstance(value, list))


def apply_shorthand(content: dict[str, Any], key: str, value: Any) -> None:
    """
    Change *content*, an experiment's, as a short name says.

    Raises:
        UsageError: It names what the configuration does not have.
    """
    _SHORTHANDS[key](content, value)


def full_keys(content: Mapping[str, Any], key: str, text: str) -> list[str]:
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
        _retrievers(kept := dict(content), yaml.safe_load(text))
        return [f"systems={json.dumps(kept['systems'])}"]
    if key == "support_judge" and text in SHIPPED_JUDGES:
        chosen = json.dumps(SHIPPED_JUDGES[text].model_dump(mode="json", exclude={"task"}, exclude_defaults=True))
        return [f"support_judges.{text}={chosen}"]
    chat = text if text.lstrip().startswith("{") else f"{{model: {text}}}"
    chosen = f"{{kind: chat, chat: {chat}}}"
    if key == "model":
        return [f"summarizers.{_NAME}={chosen}", *(f"systems.{place}.summarizer={_NAME}" for place in places)]
    return [f"{key}s.{_NAME}={chosen}"]
