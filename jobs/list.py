"""List the names that a configuration can hold."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple, get_args

from pydantic import BaseModel

from jobs.command.run import Outcome, run_verb
from jobs.configs import preset_names, preset_text
from jobs.parsers.list import parser
from longform import measures
from longform.formats.names import EXPORTED
from longform.formats.shipped import FORMATS
from longform.settings.chat import SummarizerSettings
from longform.settings.judges import JudgeSettings
from longform.settings.meanings import first_sentence, summary_of
from longform.settings.measures import MeasureSettings
from longform.settings.methods import SHIPPED_METHODS, MethodSettings
from longform.settings.named_judges import KNOWN_JUDGES
from longform.settings.retrievers import RerankerSettings, RetrieverSettings
from longform.studies import study


class Name(NamedTuple):
    """
    A name that can stand in a configuration, or behind an option.

    Attributes:
        name: As it is written.
        place: The key or the option that it is written at, such as `retrievers.NAME.kind`.
        meaning: In one line; None: nothing is stated.
    """

    name: str
    place: str
    meaning: str | None


def kinds_of(union: Any, place: str) -> Iterator[Name]:
    """Yield the kinds of a component: *union* is of the classes of its settings, told apart by `kind`."""
    for model in get_args(get_args(union)[0]):
        assert issubclass(model, BaseModel), "kinds are classes of settings"
        for kind in get_args(model.model_fields["kind"].annotation):
            yield Name(kind, f"{place}.NAME.kind", summary_of(model))


def _judges() -> Iterator[Name]:
    yield from kinds_of(JudgeSettings, "judges")
    for name, judge in KNOWN_JUDGES.items():
        model = f", model {judge.asked_model.model}" if judge.asked_model else ""
        yield Name(name, "--judge", f"judges {judge.task}, kind {judge.kind}{model}")


def _methods() -> Iterator[Name]:
    yield from kinds_of(MethodSettings, "methods")
    for name, method in SHIPPED_METHODS.items():
        stated = method.model_dump(exclude_defaults=True)
        yield Name(name, "systems.method", ", ".join(f"{key} {value}" for key, value in stated.items()))


def _measures() -> Iterator[Name]:
    for measure in (*measures.SHIPPED, *measures.RANKING):
        yield Name(measure.name, "measures", first_sentence(measure.told) or measure.title)
    for kind in kinds_of(MeasureSettings, "measures"):
        yield kind._replace(place="measures.0.kind")


def _studies() -> Iterator[Name]:
    for one in study.SHIPPED:
        own = one.result.__module__ != study.__name__
        doc = import_module(one.result.__module__).__doc__ if own else None
        yield Name(one.name, "studies", first_sentence(doc) or f"the table {', '.join(sorted(one.needs))}")


def _presets() -> Iterator[Name]:
    for name in preset_names():
        comment = re.match(r"(?:#[^\n]*\n)+", preset_text(name))
        lines = [] if comment is None else [line.lstrip("# ") for line in comment[0].splitlines()]
        yield Name(name, "CONFIG", first_sentence(" ".join(lines)))


def _formats() -> Iterator[Name]:
    for name, reader in FORMATS.items():
        yield Name(name, "longform ingest", first_sentence(import_module(reader.__module__).__doc__))
    for name, meaning in EXPORTED.items():
        yield Name(name, "longform export --as", meaning)


LISTS: Mapping[str, Callable[[], Iterator[Name]]] = {
    "retrievers": lambda: kinds_of(RetrieverSettings, "retrievers"),
    "rerankers": lambda: kinds_of(RerankerSettings, "rerankers"),
    "summarizers": lambda: kinds_of(SummarizerSettings, "summarizers"),
    "judges": _judges,
    "methods": _methods,
    "measures": _measures,
    "studies": _studies,
    "presets": _presets,
    "formats": _formats,
}
"""A list's name -> its names; `jobs.parsers.list.LISTED` repeats the keys."""


def main(argv: Sequence[str] | None = None) -> int:
    return run_verb(parser(), _work, argv)


def _work(arguments: argparse.Namespace) -> Outcome:
    names = list(LISTS[arguments.what]())
    return Outcome({arguments.what: [name._asdict() for name in names]}, _words(names))


def _words(names: Sequence[Name]) -> str:
    """Return the names by their places, each place above its names."""
    width = max(len(name.name) for name in names)
    lines: list[str] = []
    for place in dict.fromkeys(name.place for name in names):
        lines.append(f"{place}:")
        lines += [f"  {one.name:<{width}}  {one.meaning or ''}".rstrip() for one in names if one.place == place]
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
