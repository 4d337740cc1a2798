"""
Write docs/configuration.md from the settings of the code: every key with its type, its default and its meaning.

    python -m tests.configuration_page
"""

from __future__ import annotations

import json
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from longform.settings.chat import CallSettings, ChatSettings, SummarizerSettings
from longform.settings.experiment import Experiment
from longform.settings.judges import JudgeSettings
from longform.settings.meanings import meanings, summary_of
from longform.settings.measures import Faithfulness, MeasureSettings
from longform.settings.methods import SHIPPED_METHODS, MethodSettings
from longform.settings.python_class import PythonClassSettings
from longform.settings.retrievers import RerankerSettings, RetrieverSettings
from longform.settings.strict import ResourcesSettings
from longform.settings.systems import ImportanceSettings, Permutations, SystemGrid
from tests.places import ROOT

PAGE = ROOT / "docs" / "configuration.md"


class Part(NamedTuple):
    """
    A section of the page.

    Attributes:
        title: The head.
        about: A sentence or two.
        settings: One class, or the union of a component's kinds.
    """

    title: str
    about: str
    settings: Any


PARTS = (
    Part("The file", "The keys of a configuration file.", Experiment),
    Part(
        "systems",
        "A list of these. A value may be a list, and lists multiply: two retrievers and three orders are six.",
        SystemGrid,
    ),
    Part("retrievers", "A name, and what ranks documents for a query.", RetrieverSettings),
    Part("rerankers", "A name, and what ranks the first documents of a ranking again.", RerankerSettings),
    Part("summarizers", "A name, and what writes.", SummarizerSettings),
    Part("judges", "A name, and what judges. `task` says what is judged ([judges.md](judges.md)).", JudgeSettings),
    Part(
        "methods",
        "A name, and a way from a context to a summary. These ship: "
        + ", ".join(f"`{name}`" for name in SHIPPED_METHODS)
        + ".",
        MethodSettings,
    ),
    Part("measures", "Names ([measures.md](measures.md)), or one of these.", MeasureSettings),
    Part(
        "studies",
        "Names ([measures.md](measures.md#choosing-measures-and-studies)), or a class of your own.",
        PythonClassSettings,
    ),
    Part("importance", "How documents are sorted for the orders `top`, `middle` and `bottom`.", ImportanceSettings),
    Part("faithfulness", "", Faithfulness),
    Part("permutations", "", Permutations),
    Part("chat", "A chat model, wherever a component has the key `chat` ([models.md](models.md)).", ChatSettings),
    Part(
        "calls",
        "Limits of a class of your own whose calls are in the ledger ([extending.md](extending.md)).",
        CallSettings,
    ),
    Part("resources", "What each worker that holds a local model asks of a cluster.", ResourcesSettings),
)

_HEAD = """# Configuration

A configuration is a YAML file with the keys below, or the name of a preset (`longform list presets`). An unknown key is
an error, with the key that is most like it. `longform config NAME` prints a preset or file in full. `--set KEY=VALUE`
changes one key: `--set resamples=500`, `--set systems.0.order=[given,top]`; `--set judges.lexical=null` leaves one out.

- A key without a default must be stated.
- A key marked *may change* says only how something is asked. A run goes on with another value, and makes nothing anew.

This page is made from the code by `python -m tests.configuration_page`; a test holds it against the code.
Configurations of `synthesize` and `synthesize-models` are described in [synthesis.md](synthesis.md),
[synthesis-models.md](synthesis-models.md) and [key-points.md](key-points.md).
"""

_WORDS: Mapping[Any, str] = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
    type(None): "null",
    Any: "anything",
}
_BOUNDS = {"gt": "above", "ge": "at least", "lt": "below", "le": "at most"}


def page() -> str:
    """Return the whole page."""
    return "\n".join([_HEAD, *(line for part in PARTS for line in _part(part))]).rstrip() + "\n"


def keys() -> set[tuple[str, str]]:
    """Return every class and key that the page has a row for."""
    return {(model.__name__, name) for part in PARTS for model in kinds(part.settings) for name in model.model_fields}


def kinds(settings: Any) -> Sequence[type[BaseModel]]:
    """Return the classes of a union of kinds, or the one class."""
    return (settings,) if isinstance(settings, type) else get_args(get_args(settings)[0])


_NAMED = {frozenset(kinds(part.settings)): part.title for part in PARTS}


def _part(part: Part) -> Iterator[str]:
    yield f"## {part.title}\n"
    if part.about:
        yield f"{part.about}\n"
    models = kinds(part.settings)
    for model in models:
        if len(models) > 1:
            names = get_args(model.model_fields["kind"].annotation)
            yield f"### {part.title}: {' or '.join(names)}\n"
            yield f"{summary_of(model)}. `kind: {names[0]}`" + "".join(f", or `{name}`" for name in names[1:]) + ".\n"
        elif part.title != "The file" and (told := summary_of(model)):
            yield f"{told}.\n"
        rows = list(_rows(model))
        if rows:
            yield "| key | type | default | meaning |\n| --- | --- | --- | --- |"
            yield from rows
            yield ""


def _rows(model: type[BaseModel]) -> Iterator[str]:
    told = meanings(model)
    for name, field in model.model_fields.items():
        if name == "kind":
            continue
        mark = "*may change*" if name in model.how_it_is_asked else ""
        meaning = ". ".join(filter(None, [told.get(name, "").rstrip("."), mark]))
        cells = [f"`{field.alias or name}`", type_of(field), _default(field), meaning]
        yield "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def type_of(field: FieldInfo) -> str:
    """Return the type of a key in words, with its bounds."""
    bounds = [
        f"{words} {getattr(one, sign)}"
        for one in field.metadata
        for sign, words in _BOUNDS.items()
        if hasattr(one, sign)
    ]
    bounds += [
        f"at least {one.min_length} of them" for one in field.metadata if _is_list(field) and hasattr(one, "min_length")
    ]
    return ", ".join([_in_words(field.annotation), *bounds])


def _is_list(field: FieldInfo) -> bool:
    return get_origin(field.annotation) is tuple


def _in_words(kind: Any) -> str:
    arguments = get_args(kind)
    if title := _NAMED.get(frozenset(one for one in arguments or (kind,) if one is not type(None))):
        return " or ".join([f"[{title}](#{title})", *(["null"] if type(None) in arguments else [])])
    match get_origin(kind):
        case None:
            words = _WORDS.get(kind, getattr(kind, "__name__", "anything"))
        case origin if origin is Literal:
            words = ", ".join(f"`{one}`" for one in arguments)
        case origin if origin in (Union, types.UnionType):
            words = " or ".join(dict.fromkeys(map(_in_words, arguments)))
        case origin if origin is tuple and arguments[-1] is not ...:
            words = f"list of {len(arguments)}: {_in_words(arguments[0])}"
        case origin if origin is tuple:
            words = f"list: {_in_words(arguments[0])}"
        case origin if origin in (dict, Mapping):
            words = f"name: {_in_words(arguments[1])}"
        case _:  # Annotated
            words = _in_words(arguments[0])
    return words


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "must be stated"
    value = field.get_default(call_default_factory=True)
    if isinstance(value, BaseModel):
        shown = value.model_dump(mode="json", exclude_defaults=True)
        return f"`{json.dumps(shown)}`" if shown else "its defaults"
    return f"`{json.dumps(value)}`"


if __name__ == "__main__":
    PAGE.write_text(page())
