"""Experiments as YAML files, and how they are read."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from copy import deepcopy
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, JsonValue, ValidationError
from pydantic_core import ErrorDetails

from actors.storage.folder import file_place
from jobs.configs.shorthands import SHORT_NAMES, Content, apply_shorthand, full_keys, is_shorthand, with_support_apart
from jobs.configs.shown import place_in_file, tell_changes
from longform.errors import UsageError, meant
from longform.settings.endpoints import secrets
from longform.settings.experiment import Experiment
from longform.settings.python_class import FOLDER
from longform.settings.yaml_text import yaml_value

Model = TypeVar("Model", bound=BaseModel)

_LEVELS = 20  # of a key
_SHOWN = 100  # characters of a change in an error


def read_experiment(name: str, changes: Sequence[str] = ()) -> Experiment:
    """
    Read the experiment of a file, or of a preset by its name, with `key=value` changes applied.

    A preset takes short names, too. A configuration with the key `base` begins with the preset of that name: its own
    keys at the top stand in place of the preset's.

    Raises:
        UsageError: The configuration is wrong, or a change is, or a file of one's own was given a short name.
    """
    content = _on_its_base(read_yaml(name, folder="configs"), name)
    if not isinstance(content, dict):
        return validated(Experiment, content, changes, where=name)
    stated = deepcopy(content)
    changes = _with_short_names(content, changes, name)
    return _validated(Experiment, content, changes, where=name, stated=stated)


def _on_its_base(content: JsonValue, name: str) -> JsonValue:
    """
    Return a configuration whose keys stand in place of those of the preset that its key `base` names.

    Raises:
        UsageError: There is no such preset.
    """
    if not isinstance(content, dict) or "base" not in content:
        return content
    base = content.pop("base")
    if not isinstance(base, str) or is_file(base):
        raise UsageError(f"{name}: base: expected the name of a preset, found {base!r}")
    under = _on_its_base(read_yaml(base, folder="configs"), base)
    return {**under, **content} if isinstance(under, dict) else content


def _with_short_names(content: Content, changes: Sequence[str], name: str) -> list[str]:
    """Change *content* as the short names among *changes* say, and return the rest of them."""
    short = [change for change in changes if _is_short(content, change)]
    if short and is_file(name):
        raise UsageError("\n".join(_refusal(name, content, change) for change in short))
    for change in short:
        apply_shorthand(content, *_key_and_value(change))
    if any(change.startswith("support_judges") for change in changes):
        with_support_apart(content)
    return [change for change in changes if change not in short]


def _is_short(content: Mapping[str, JsonValue], change: str) -> bool:
    return "=" in change and "systems" in content and is_shorthand(*_key_and_value(change))


def _refusal(name: str, content: Mapping[str, JsonValue], change: str) -> str:
    key, _, text = change.partition("=")
    instead = " ".join(f"--set {shlex.quote(full)}" for full in full_keys(content, key, text))
    several = "; leave out the systems that shall stay as they are" if "--set systems.1." in instead else ""
    return f"--set {change}: {key} is a short name for presets, and {name} is a file; write {instead}{several}"


def read_yaml(name: str, *, folder: str) -> JsonValue:
    """
    The content of a YAML file, here or on `s3://`, or of the preset *name* in `jobs/<folder>`.

    Raises:
        UsageError: There is no such file or preset, or it is not YAML.
    """
    content: JsonValue = yaml_value(_content(name, files("jobs").joinpath(*folder.split("/"))), name)
    return content


def is_file(name: str) -> bool:
    """Tell whether *name* is a file, and not the name of a preset."""
    return name.endswith((".yaml", ".yml"))


def _folder_of(name: str) -> str | None:
    """Return the folder of the file *name* on this machine; None if it is none."""
    return str(Path(name).absolute().parent) if is_file(name) and "://" not in name else None


def _content(name: str, presets: Traversable) -> str | bytes:
    if is_file(name):
        place, file = file_place(name)
        if place.has(file):
            return place.read_bytes(file)
    elif (preset := presets.joinpath(f"{name}.yaml")).is_file():
        return preset.read_text(encoding="utf-8")
    known = _names(presets)
    raise UsageError(
        f"no configuration {name!r}: expected a .yaml file, here or on s3://, or one of {known}{meant(name, known)}"
    )


def preset_names() -> list[str]:
    """Return the names of the presets."""
    return _names(files("jobs") / "configs")


def _names(presets: Traversable) -> list[str]:
    return sorted(entry.name.removesuffix(".yaml") for entry in presets.iterdir() if entry.name.endswith(".yaml"))


def preset_text(name: str) -> str:
    """Return the file of a preset, with its comments."""
    return files("jobs").joinpath("configs", f"{name}.yaml").read_text(encoding="utf-8")


def validated(model: type[Model], content: JsonValue, changes: Sequence[str], *, where: str) -> Model:
    """
    *content* as a *model*, with `a.b=value` changes applied first; values are read as YAML.

    Raises:
        UsageError: One line for each thing wrong: its place, what was expected, what was found.
    """
    if not isinstance(content, dict):
        raise UsageError(f"{where}: expected a mapping at the top, found {type(content).__name__}")
    return _validated(model, content, changes, where=where, stated=deepcopy(content))


def _validated(model: type[Model], content: Content, changes: Sequence[str], *, where: str, stated: Content) -> Model:
    """Return the same; *stated* is the content before any change, from which changes are told."""
    for change in changes:
        _apply(content, change)
    try:
        found = model.model_validate(content, context={FOLDER: _folder_of(where)})
    except ValidationError as error:
        short = () if is_file(where) else SHORT_NAMES
        lines = [_describe(problem, model, content, short) for problem in _own_problems(error.errors())]
        raise UsageError(f"{where}: {len(lines)} wrong\n" + "\n".join(f"  {line}" for line in lines)) from error
    tell_changes(stated, content, model)  # those that are refused may hold a secret
    return found


def _own_problems(problems: Sequence[ErrorDetails]) -> list[ErrorDetails]:
    """Return the problems without those of a list that is too short only because its members are wrong."""
    within = {problem["loc"][:depth] for problem in problems for depth in range(1, len(problem["loc"]))}
    return [problem for problem in problems if problem["type"] != "too_short" or problem["loc"] not in within]


def _apply(content: Content, change: str) -> None:
    key, parsed = _key_and_value(change)
    *parents, last = key.split(".")
    place: JsonValue = content
    for parent in parents:
        place = _step(place, parent, change)
    if isinstance(place, list):
        place[_index(place, last, change)] = parsed
    elif isinstance(place, dict):
        before, place[last] = place.get(last), parsed
        if parsed is None and isinstance(before, dict) and "kind" in before:
            del place[last]  # a part of this name is left out
    else:
        _step(place, last, change)  # which is refused


def _key_and_value(change: str) -> tuple[str, JsonValue]:
    key, separator, value = change.partition("=")
    if not separator:
        raise UsageError(f"--set {change[:_SHOWN]!r}: expected key=value")
    if key.count(".") > _LEVELS:
        raise UsageError(f"--set {key[:_SHOWN]}...: expected a key of at most {_LEVELS} levels")
    return key, yaml_value(value, f"--set {_key(change)}")


def _key(change: str) -> str:
    """Return the key of a change for a message; its value may be a secret."""
    return change.partition("=")[0][:_SHOWN]


def _step(place: JsonValue, name: str, change: str) -> JsonValue:
    if isinstance(place, list):
        return place[_index(place, name, change)]
    if isinstance(place, dict):
        return place.setdefault(name, {})
    raise UsageError(
        f"--set {_key(change)}: {name!r} stands below {type(place).__name__}, expected a mapping or a list"
    )


def _index(place: list[JsonValue], name: str, change: str) -> int:
    if not name.isdecimal() or int(name) >= len(place):
        raise UsageError(f"--set {_key(change)}: expected an index below {len(place)}, found {name!r}")
    return int(name)


def _describe(problem: ErrorDetails, model: type[BaseModel], content: Content, short: Sequence[str]) -> str:
    """Return a problem in one line; *short* are names that may stand at the top besides keys."""
    place = place_in_file(problem["loc"], content)
    if problem["type"] == "extra_forbidden":
        return f"{place}: no such key{_meant(problem['loc'], model, short)}"
    if problem["type"] == "union_tag_not_found":
        section, *below = problem["loc"]
        kinds = _kinds(model.model_json_schema()["properties"].get(section)) if len(below) == 1 else ()
        return f"{place}: has no kind{'; expected one of ' if kinds else ''}{', '.join(kinds)}"
    if problem["type"] == "union_tag_invalid":
        kinds = [kind.strip("' ") for kind in problem["ctx"]["expected_tags"].split(",")]
        tag = str(problem["ctx"]["tag"])
        return f"{place}.kind: no kind {tag!r}; expected one of {', '.join(kinds)}{meant(tag, kinds)}"
    if problem["type"] == "value_error":
        return f"{place}: {problem['msg'].removeprefix('Value error, ')}"
    secret = next(secrets(problem["input"]), None) is not None
    found = "" if problem["type"] == "missing" or secret else f", found {str(problem['input'])[:60]!r}"
    return f"{place}: {problem['msg']}{found}{_meant_value(problem)}"


def _meant_value(problem: ErrorDetails) -> str:
    """Name the value that is most like one that is none of those expected."""
    if problem["type"] != "literal_error":
        return ""
    return meant(str(problem["input"]), re.findall(r"'([^']*)'", str(problem["ctx"]["expected"])))


def _kinds(schema: Any) -> Sequence[str]:
    """Return the kinds that a section of a schema tells its parts apart by; none if it has no such parts."""
    if isinstance(schema, list):
        return next(filter(None, map(_kinds, schema)), ())
    if not isinstance(schema, dict):
        return ()
    told = schema.get("discriminator")
    return list(told["mapping"]) if isinstance(told, dict) else _kinds(list(schema.values()))


def _meant(loc: tuple[int | str, ...], model: type[BaseModel], short: Sequence[str]) -> str:
    """The key that is most like the last of *loc*, of all that the model has anywhere and, at the top, of *short*."""
    key, is_top = str(loc[-1]), len(loc) == 1
    schema = model.model_json_schema()
    parts = [schema, *schema.get("$defs", {}).values()]
    names = sorted({name for part in parts for name in part.get("properties", {})})
    if key in names:
        near = meant(key, model.model_fields) if is_top else ""
        return f" here; keys of this name stand elsewhere in a configuration{near}"
    return meant(key, [*(short if is_top else ()), *names])
