"""
The names that a configuration and the command line may hold, with one line of meaning each.

    longform list WHAT [--json]

Reads   nothing but the program itself
Writes  nothing
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple, get_args

from jobs.command.parser import VerbParser
from jobs.command.run import Outcome, command
from longform.errors import meant
from longform.settings.meanings import first_sentence, summary_of


def parser() -> VerbParser:
    made = VerbParser("list", __doc__)
    made.add_argument("what", metavar="WHAT", type=_listed, help=f"one of {', '.join(LISTS)}")
    return made


def _listed(name: str) -> str:
    if name not in LISTS:
        raise argparse.ArgumentTypeError(f"no list of {name!r}; expected one of {', '.join(LISTS)}{meant(name, LISTS)}")
    return name


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


class Name(NamedTuple):
    """A name that can stand in a configuration, or behind an option."""

    name: str
    place: str  # the key or the option that it is written at, such as `retrievers.NAME.kind`
    meaning: str | None  # one line; None: nothing is stated


def kinds_of(union: Any, place: str) -> Iterator[Name]:
    """Yield the kinds of a component: *union* is of the classes of its settings, told apart by `kind`."""
    from pydantic import BaseModel

    for model in get_args(get_args(union)[0]):
        assert issubclass(model, BaseModel), "kinds are classes of settings"
        for kind in get_args(model.model_fields["kind"].annotation):
            yield Name(kind, f"{place}.NAME.kind", summary_of(model))


def _judges() -> Iterator[Name]:
    from longform.settings.judges import JudgeSettings
    from longform.settings.named_judges import KNOWN_JUDGES

    yield from kinds_of(JudgeSettings, "judges")
    for name, judge in KNOWN_JUDGES.items():
        model = f", model {judge.asked_model.model}" if judge.asked_model else ""
        yield Name(name, "--judge", f"judges {judge.task}, kind {judge.kind}{model}")


def _methods() -> Iterator[Name]:
    from longform.settings.methods import SHIPPED_METHODS, MethodSettings

    yield from kinds_of(MethodSettings, "methods")
    for name, method in SHIPPED_METHODS.items():
        stated = method.model_dump(exclude_defaults=True)
        yield Name(name, "systems.method", ", ".join(f"{key} {value}" for key, value in stated.items()))


def _measures() -> Iterator[Name]:
    from longform import measures
    from longform.settings.measures import MeasureSettings

    for measure in (*measures.SHIPPED, *measures.RANKING):
        yield Name(measure.name, "measures", first_sentence(measure.told) or measure.title)
    yield from (kind._replace(place="measures.0.kind") for kind in kinds_of(MeasureSettings, "measures"))


def _studies() -> Iterator[Name]:
    from longform.studies import study

    for one in study.SHIPPED:
        doc = import_module(one.result.__module__).__doc__ if one.result.__module__ != study.__name__ else None
        yield Name(one.name, "studies", first_sentence(doc) or f"the table {', '.join(sorted(one.needs))}")


def _presets() -> Iterator[Name]:
    from jobs.configs import preset_names, preset_text

    for name in preset_names():
        comment = re.match(r"(?:#[^\n]*\n)+", preset_text(name))
        lines = [] if comment is None else [line.lstrip("# ") for line in comment[0].splitlines()]
        yield Name(name, "CONFIG", first_sentence(" ".join(lines)))


def _formats() -> Iterator[Name]:
    from longform.formats.names import EXPORTS, FORMATS
    from longform.settings.strict import imported

    for name, path in FORMATS.items():
        yield Name(name, "longform ingest", first_sentence(import_module(path.partition(":")[0]).__doc__))
    for name, path in EXPORTS.items():
        yield Name(name, "longform export --as", imported(path).told)


def _parts(section: str, path: str) -> Iterator[Name]:
    from longform.settings.strict import imported

    yield from kinds_of(imported(f"longform.settings.{path}"), section)


LISTS: Mapping[str, Callable[[], Iterator[Name]]] = {
    "retrievers": partial(_parts, "retrievers", "retrievers:RetrieverSettings"),
    "rerankers": partial(_parts, "rerankers", "retrievers:RerankerSettings"),
    "summarizers": partial(_parts, "summarizers", "chat:SummarizerSettings"),
    "judges": _judges,
    "methods": _methods,
    "measures": _measures,
    "studies": _studies,
    "presets": _presets,
    "formats": _formats,
}
"""A list's name -> its names."""


main = command(parser, _work)

if __name__ == "__main__":
    raise SystemExit(main())
