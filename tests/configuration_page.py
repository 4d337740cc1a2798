# ruff: noqa: E501 (rows of a page)
"""
Write docs/configuration.md from the settings of the code.

    python -m tests.configuration_page
"""

from __future__ import annotations

import re
import types
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import yaml
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from typing_extensions import TypeAliasType

from longform.settings.experiment import Experiment
from longform.settings.meanings import meanings, summary_of
from tests.places import ROOT

PAGE = ROOT / "docs/configuration.md"
HEAD = """# Configuration

Every key that a configuration of `longform evaluate` may have. **This page is made from the code** by `python -m tests.configuration_page`; a
test holds it up to date. `longform config FILE` shows one configuration with all its keys, and [commands](commands.md) how `--set` changes one.
An unknown key is an error.
"""


def page() -> str:
    parts = [HEAD]
    for model in models():
        kinds = kinds_of(model)
        title = "The file" if model is Experiment else model.__name__
        parts.append(f"## {title}\n")
        parts.append("".join(f"`kind: {kind}`. " for kind in kinds) + f"{summary_of(model) or ''}".strip() + "\n")
        parts.append("| key | values | default | meaning |\n| --- | --- | --- | --- |")
        parts.append("\n".join(rows(model)) + "\n")
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts)).replace(" \n", "\n")


def models() -> list[type[BaseModel]]:
    """Return the settings that an experiment reaches, each once, in the order in which it reaches them."""
    found: list[type[BaseModel]] = [Experiment]
    for model in found:
        for field in model.model_fields.values():
            found += [one for one in dict.fromkeys(models_in(field.annotation)) if one not in found]
    return found


def models_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, TypeAliasType):
        yield from models_in(annotation.__value__)
    elif isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    else:
        for one in get_args(annotation):
            yield from models_in(one)


def kinds_of(model: type[BaseModel]) -> list[str]:
    field = model.model_fields.get("kind")
    return [str(one) for one in get_args(field.annotation)] if field else []


def rows(model: type[BaseModel]) -> Iterator[str]:
    for name, field in model.model_fields.items():
        if name != "kind":
            cells = [
                f"`{field.alias or name}`",
                values(field.annotation),
                default(field),
                meanings(model).get(name) or "",
            ]
            yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def values(annotation: Any) -> str:  # noqa: PLR0911 (a branch for each kind of type)
    """Return what may stand behind a key, in words."""
    origin, inside = get_origin(annotation), get_args(annotation)
    if isinstance(annotation, TypeAliasType):
        return values(annotation.__value__)
    if annotation is type(None):
        return "null"
    if origin is Annotated:
        return values(inside[0])
    if origin is Literal:
        return ", ".join(f"`{one}`" for one in inside)
    if origin in {Union, types.UnionType}:
        return " or ".join(dict.fromkeys(values(one) for one in inside))
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return f"[{annotation.__name__}](#{annotation.__name__.lower()})"
    if origin in {list, tuple, set, frozenset}:
        return f"list of {values(inside[0])}"
    if origin is not None and len(inside) == 2:
        return f"names: {values(inside[1])}"
    plain = {"str": "text", "int": "whole number", "float": "number", "bool": "true or false"}
    return plain.get(getattr(annotation, "__name__", ""), "any")


def default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if isinstance(value, BaseModel):
        return "its own defaults"
    value = list(value) if isinstance(value, tuple | set | frozenset) else value
    shown = yaml.safe_dump(value, default_flow_style=True, width=10**9).removesuffix("\n").removesuffix("\n...")
    return f"`{shown}`"


if __name__ == "__main__":
    PAGE.write_text(page())
