"""The names under which systems stand on pages, where scripted writers and twins say so, and the models behind them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import NamedTuple, TypeVar, cast

from longform.repair.twins import MATRIX
from longform.report.parts import main_cells
from longform.report.tables import system_of
from longform.results.cells import systems_in, text_in
from longform.results.evidence import SummaryFacts, Unfolded
from longform.results.results import Results

Value = TypeVar("Value")
_USUAL = "openai"  # the provider that is not worth a word
_JUDGES = ("judge", "support_judge", "by", "second")
_KEPT = frozenset({"run", "title", "benchmark", "benchmark_tables", "synthesis", "audit"})  # parts that name no system


def scripted(results: Results, part: str) -> set[str]:
    """Return the names of a part of the configuration (`summarizers`, ...) behind which a script stands, no model."""
    return {name for name, chat in _chats(results, part) if chat.get("provider") == "scripted"}


def _chats(results: Results, part: str) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield the names of a part of the configuration that have a chat model, with its settings."""
    config = (results.get("run") or {}).get("config")
    settings = config.get(part) if isinstance(config, Mapping) else None
    for name, own in settings.items() if isinstance(settings, Mapping) else ():
        chat = own.get("chat") if isinstance(own, Mapping) else None
        if isinstance(chat, Mapping):
            yield name, chat


def short_systems(results: Results) -> dict[str, str]:
    """Return systems in words -> the half of the name that tells them apart, if the other half is the same for all."""
    cells = [cell for cell in systems_in(results) if not cell.get("twin_of")]
    constant = [name for name in ("summarizer", "setting") if len({text_in(cell, name) for cell in cells}) == 1]
    if len(constant) != 1:
        return {}
    (half,) = {"summarizer", "setting"} - {*constant}
    return {str(system_of(cell)): str(text_in(cell, half)) for cell in cells}


class Names(NamedTuple):
    """Names of the tables -> names on pages, of those that have another."""

    summarizers: Mapping[str, str]
    judges: Mapping[str, str]


def shown_names(results: Results) -> Names:
    """Return the names that pages give to scripted writers and judges, and to repaired twins."""
    parts = ("summarizers", "judges")
    names, judges = ({name: f"{name} (scripted)" for name in scripted(results, part)} for part in parts)
    for row in systems_in(results):
        if original := text_in(row, "twin_of"):
            by = f" by {row['cited_by']}" if row.get("cited_by") not in (None, MATRIX) else ""
            names[str(row["summarizer"])] = f"repaired twin{by} of {names.get(original, original)}"
    return Names(names, judges)


def with_shown_names(results: Results, names: Names) -> Results:
    """Return results with the names of pages in place of those of the tables."""
    if not any(names):
        return results
    of_key = dict.fromkeys(("summarizer", "twin_of"), names.summarizers) | dict.fromkeys(_JUDGES, names.judges)
    longest = sorted(names.summarizers, key=len, reverse=True)  # a twin's name begins with its original's

    def shown(value: Value, key: str | None = None) -> Value:
        found: object = value
        if isinstance(value, str) and key in of_key:
            found = of_key[key].get(value, value)
        elif isinstance(value, str):
            found = _within(value, names) if key == "told" else _beginning(value, names.summarizers, longest)
        elif isinstance(value, Mapping):
            found = {name: one if name in _KEPT else shown(one, name) for name, one in value.items()}
        elif isinstance(value, list):
            found = [shown(one, key) for one in value]
        return cast("Value", found)

    return shown(results)


def _beginning(words: str, names: Mapping[str, str], longest: Iterable[str]) -> str:
    """Return *words* with another name, if they begin with a system."""
    name = next((name for name in longest if words.startswith(f"{name}, ")), None)
    return words if name is None else names[name] + words[len(name) :]


def _within(words: str, names: Names) -> str:
    """Return sentences with other names of systems that begin one or stand in a list, and of judges so called."""
    found = words
    for known, before in ((names.summarizers, r"(^|\n|[:;.] )"), (names.judges, r"([Jj]udge )")):
        any_of = "|".join(re.escape(name) for name in sorted(known, key=len, reverse=True))
        shown = partial(_renamed, known)
        found = re.sub(rf"{before}({any_of}),", shown, found) if known else found
    return found


def _renamed(known: Mapping[str, str], match: re.Match[str]) -> str:
    return f"{match[1]}{known[match[2]]},"


def unfolded_with_shown_names(unfolded: Iterable[Unfolded], names: Names) -> Iterator[Unfolded]:
    """Yield summaries under the names of pages."""
    if not any(names):
        yield from unfolded
        return
    writers, judges = names
    for one in unfolded:
        summary = one.summary
        shown: SummaryFacts = {
            **summary,
            "summarizer": writers.get(summary["summarizer"], summary["summarizer"]),
            "scores": {judges.get(judge, judge): own for judge, own in summary["scores"].items()},
            "verdicts": [{**row, "judge": judges.get(row["judge"], row["judge"])} for row in summary["verdicts"]],
        }
        yield one._replace(summary=shown)


def models_told(results: Results) -> list[str]:
    """
    Say which chat model stands behind each summarizer and judge of the tables, as the configuration names it.

    Names that are the model's own are left out, unless a script stands behind them; none is told if every name is.
    """
    writers = {str(row["summarizer"]) for row in main_cells(results)}
    judges = {str(row["judge"]) for row in results.get("judges") or []}
    shown = {"summarizers": writers, "judges": judges}
    told = [*scripted_told(results), *(one for part, names in shown.items() for one in _told(results, part, names))]
    return [f"Models: {'; '.join(told)}."] if told else []


def scripted_told(results: Results) -> list[str]:
    """Say of each part that a run used behind which no model stands, but a script, that it is a rehearsal."""
    unused = scripted(results, "summarizers") - {str(row["summarizer"]) for row in main_cells(results)}
    return [
        f"{what} {name} is scripted: a rehearsal, no language model"
        for part, what in _PARTS.items()
        for name in sorted(scripted(results, part) - unused)
    ]


_PARTS = {"summarizers": "summarizer", "judges": "judge", "rerankers": "reranker"}


def _told(results: Results, part: str, shown: Collection[str]) -> Iterator[str]:
    for name, chat in _chats(results, part):
        model, provider = chat.get("model"), chat.get("provider", _USUAL)
        if name in shown and isinstance(model, str) and name != model and provider != "scripted":
            yield f"{_PARTS[part]} {name} is {model}{'' if provider == _USUAL else f' ({provider})'}"
