"""
Readings of a paper on which it, its release and this project differ, and what a configuration chooses among them.

A configuration says `fidelity`: `ours` takes what we hold for better, `release` what the released code does, `paper`
what the paper's text says (and what the release does where the text says nothing). A component that is described in
full keeps its description: fidelity fills only what is left open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

Fidelity = Literal["ours", "release", "paper"]
FIDELITIES: tuple[Fidelity, ...] = get_args(Fidelity)


class Reading(NamedTuple):
    """
    A thing that is read in several ways.

    Attributes:
        section: Of a configuration: components by their names, or a list of names.
        name: The kind of those components, or the name in the list, as the configuration writes it.
        instead: Fidelity -> what stands in its place; one that is left out changes nothing.
        told: Fidelity -> the reading in words.
        decided_by: Keys that decide the reading; a component that has one of them keeps it.
    """

    section: str
    name: str
    instead: Mapping[Fidelity, str]
    told: Mapping[Fidelity, str]
    decided_by: frozenset[str] = frozenset()


_AS_RANK_BM25 = (
    "BM25Okapi of rank_bm25: split at single spaces, case and punctuation kept, idf floored at 0.25 times its mean"
)
_WITH_NUMBERS = "a number in square brackets is a word, as any other"


def _rouge(name: str) -> Reading:
    released = f"{name}_released"
    told: dict[Fidelity, str] = {
        "ours": "citations, numbers in square brackets, are taken out of a summary first",
        "release": _WITH_NUMBERS,
        "paper": f"not described; as released: {_WITH_NUMBERS}",
    }
    return Reading("measures", name, {"release": released, "paper": released}, told)


READINGS = (
    Reading(
        "retrievers",
        "bm25",
        {"release": "bm25_okapi", "paper": "bm25_okapi"},
        {
            "ours": "BM25 as Lucene has it, over lower-cased stems",
            "release": _AS_RANK_BM25,
            "paper": f"BM25, not described further; as released: {_AS_RANK_BM25}",
        },
        decided_by=frozenset({"stem"}),
    ),
    *map(_rouge, ("rouge_1", "rouge_2", "rouge_l")),
)


def as_published(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the *content* of a configuration with the readings that its `fidelity` chooses."""
    found, fidelity = dict(content), content.get("fidelity", "ours")
    for reading in READINGS:
        if fidelity in reading.instead and (entries := found.get(reading.section)):
            found[reading.section] = _replaced(entries, reading, reading.instead[fidelity])
    return found


def readings_told(content: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """
    Return what the `fidelity` of a configuration changes in it.

    Args:
        content: As `as_published` returns it.

    Returns:
        The place of a component or measure -> `taken` and `ours`, both in words; empty if nothing differs from ours.
    """
    fidelity = content.get("fidelity", "ours")
    return {
        f"{reading.section}.{name}": {"taken": reading.told[fidelity], "ours": reading.told["ours"]}
        for reading in READINGS
        if fidelity in reading.instead
        for name in _named(content.get(reading.section) or (), reading.instead[fidelity])
    }


def _replaced(entries: Any, reading: Reading, instead: str) -> Any:
    if isinstance(entries, Mapping):
        return {name: {**one, "kind": instead} if _left_open(one, reading) else one for name, one in entries.items()}
    if isinstance(entries, Sequence) and not isinstance(entries, str):
        return [instead if one == reading.name else one for one in entries]
    return entries


def _named(entries: Any, instead: str) -> list[str]:
    """Return the names of components of the kind *instead*, or *instead* itself if a list has it."""
    if isinstance(entries, Mapping):
        return [name for name, one in entries.items() if one.get("kind") == instead]
    return [instead] if instead in entries else []


def _left_open(component: Any, reading: Reading) -> bool:
    if not isinstance(component, Mapping) or component.get("kind") != reading.name:
        return False
    return reading.decided_by.isdisjoint(component)
