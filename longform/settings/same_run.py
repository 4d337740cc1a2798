"""
Bind a run folder to one configuration: say which keys a later call may add or change.

    may be added    names of retrievers, rerankers, summarizers, methods and judges; systems
    may be changed  what is only read from stored rows (FREE), and how a model is asked (limits, deadlines, keys)
    is refused      all else: it would change the meaning of stored rows and results
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import JsonValue

from longform.settings.experiment import Experiment
from longform.settings.systems import System

COMPONENTS = ("retrievers", "rerankers", "summarizers", "methods", "judges")
KEPT = ("judges",)
"""Components that each have rows of their own; of the others, only those that a system names."""

FREE = (
    "name",
    "benchmark",  # a benchmark may move: its content is compared apart
    "synthesize",
    "units",  # texts are split and judged again, and it is said
    "cards",
    "cutoffs",
    "measures",
    "studies",
    "permutations",  # how many orders are read; each has rows of its own
    "partial_score",
    "aggregate",
    "datasets",
    "sensitivity",
    "compare_with",
    "resamples",
    "unjudged_threshold",
    "citations",  # twins follow from what is stored, and nothing is asked for them
    "prompts",  # the folder; what stands in it is compared apart
)
_FREE_OF_FAITHFULNESS = ("documents", "sentences", "attribution", "second_aligner", "mode")
"""Keys by which stored verdicts are merged, and which there are: each mode has verdicts of its own."""
_MOST_SYSTEMS_TOLD = 3


def other_configuration(before: Experiment, now: Experiment) -> list[str]:
    """Return what *now* changes of *before* that a run in the same folder may not change, a line each."""
    return [*_changes_of_keys(before, now), *_changes_of_components(before, now), *_missing_systems(before, now)]


def changes_of_results(before: Experiment, now: Experiment) -> list[str]:
    """Return what *now* changes of how results are made from stored rows, a line each."""
    names = {*FREE} - {"benchmark", "synthesize", "permutations"}  # the last is drawn by the run itself
    old, new = (one.model_dump(mode="json", include=names) for one in (before, now))
    return [line for key in FREE if key in names for line in changes(old[key], new[key], key)]


def _changes_of_keys(before: Experiment, now: Experiment) -> Iterator[str]:
    exclude = {*FREE, *COMPONENTS, "systems"}
    old, new = (
        experiment.model_dump(mode="json", exclude=exclude) | {"importance": experiment.importance.identity}
        for experiment in (before, now)
    )
    for content in (old, new):
        content["faithfulness"] = {k: v for k, v in content["faithfulness"].items() if k not in _FREE_OF_FAITHFULNESS}
    for key in old:
        yield from changes(old[key], new[key], key)


def _changes_of_components(before: Experiment, now: Experiment) -> Iterator[str]:
    for kind in COMPONENTS:
        old, new = getattr(before, kind), getattr(now, kind)
        for name, settings in old.items():
            if name in new:
                yield from changes(settings.identity, new[name].identity, f"{kind}.{name}")
            elif kind in KEPT:
                yield f"{kind}.{name} is left out"


def changes(before: JsonValue, now: JsonValue, place: str) -> Iterator[str]:
    """Yield a line for each value that differs, by its place; of another kind of thing only the kind."""
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        if before.get("kind") != now.get("kind"):
            before, now, place = before.get("kind"), now.get("kind"), f"{place}.kind"
        else:
            for key in dict.fromkeys([*before, *now]):
                yield from changes(before.get(key), now.get(key), f"{place}.{key}")
            return
    if before != now:
        yield f"{place} was {_shown(before)}, is {_shown(now)}"


def _shown(value: JsonValue) -> str:
    return "not set" if value is None else str(value)


def _missing_systems(before: Experiment, now: Experiment) -> Iterator[str]:
    old, new = _repeats(before), _repeats(now)
    yield from (f"systems: the shipped {name!r} is left out" for name in before.shipped if name not in now.shipped)
    yield from (
        f"systems: repeats of {_told(system)} were {n}, are {new[system]}"
        for system, n in old.items()
        if n > new.get(system, n)
    )
    missing = [system for system in old if system not in new]
    for system in missing[:_MOST_SYSTEMS_TOLD]:
        yield f"systems: {_told(system)} is left out"
    if len(missing) > _MOST_SYSTEMS_TOLD:
        yield f"systems: {len(missing) - _MOST_SYSTEMS_TOLD} more are left out"


def _repeats(experiment: Experiment) -> dict[System, int]:
    return {_axes(system): repeats for system, repeats in experiment.repeats.items()}


def _axes(system: System) -> System:
    """Return a system without what depends on the others of its grid, and without the order drawn."""
    return system._replace(permutation=None, several_budgets=False)


def _told(system: System) -> str:
    budget = f"{system.budget_tokens:,} tokens" if system.budget_tokens else "no budget"
    length = f"first {system.n_documents}" if system.n_documents else ""
    within = f"within {system.length_tokens} tokens" if system.length_tokens else ""
    cut = f"{system.document_tokens} tokens a document" if system.document_tokens else ""
    parts = [system.ranking, budget, length, within, cut, f"order {system.order}", f"method {system.method}"]
    return f"{', '.join(part for part in parts if part)}, by {system.summarizer}"
