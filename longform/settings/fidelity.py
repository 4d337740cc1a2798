"""
The readings that a configuration takes of what a paper, its release and this project read in different ways.

A configuration says `fidelity`: `ours` takes what we hold for better, `release` what the released code does, `paper`
what the paper's text says (and what the release does where the text says nothing). A component that is described in
full keeps its description: fidelity fills only what is left open.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from longform.settings.readings import DISPUTES, FIDELITIES, KEYS, READINGS, Dispute, Fidelity, KeyReading, Reading

Told = dict[str, str]
"""The reading that is `taken`, and beside it `ours`; if a paper and its release differ, `release` and `paper` too."""


def as_published(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the *content* of a configuration with the readings that its `fidelity` chooses."""
    found, fidelity = dict(content), content.get("fidelity", "ours")
    for reading in READINGS:
        if fidelity in reading.instead and (entries := found.get(reading.section)):
            found[reading.section] = _replaced(entries, reading, reading.instead[fidelity])
    for key in KEYS:
        if fidelity in FIDELITIES and key.values[fidelity] != key.values["ours"]:
            found = _filled(found, key, key.values[fidelity])
    return found


def readings_told(content: Mapping[str, Any]) -> dict[str, Told]:
    """
    Return what the `fidelity` of a published configuration changes in it, and where a paper and its release differ.

    Each is the place of a component, measure or key -> what is taken, and the readings, in words.
    """
    fidelity = content.get("fidelity", "ours")
    found = {
        f"{reading.section}.{name}": {"taken": reading.told[fidelity], "ours": reading.told["ours"]}
        for reading in READINGS
        if fidelity in reading.instead
        for name in _named(content.get(reading.section) or (), reading.instead[fidelity])
    }
    for key in KEYS:
        found |= {place: told for place, value in _values(content, key) if (told := _told(key, value, fidelity))}
    for dispute in DISPUTES:
        told = {"taken": dispute.taken or dispute.told["ours"]} | _all_told(dispute)
        found |= dict.fromkeys(dispute.places(content), told)
    return found


# ---------------------------------------------------------------- kinds and measures


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


# ---------------------------------------------------------------- keys


def _filled(content: dict[str, Any], reading: KeyReading, value: str) -> dict[str, Any]:
    """Return *content* with the key wherever it is read and left open."""
    if reading.section is None:
        return {reading.key: value, **content} if reading.concerns(content) else content
    entries = content.get(reading.section)
    if not isinstance(entries, Mapping):
        return content
    filled = {
        name: {**one, reading.key: one.get(reading.key) or value} if _concerned(one, reading) else one
        for name, one in entries.items()
    }
    return content | {reading.section: filled}


def _values(content: Mapping[str, Any], reading: KeyReading) -> Iterator[tuple[str, str]]:
    """Yield each place of the key with its value."""
    if reading.section is None:
        if reading.concerns(content):
            yield reading.key, content.get(reading.key, reading.values["ours"])
        return
    for name, one in (content.get(reading.section) or {}).items():
        if _concerned(one, reading):
            yield f"{reading.section}.{name}.{reading.key}", one.get(reading.key) or reading.values["ours"]


def _concerned(component: Any, reading: KeyReading) -> bool:
    return isinstance(component, Mapping) and reading.concerns(component)


def _told(reading: KeyReading, value: str, fidelity: Fidelity) -> Told | None:
    """Return the words on a key with this *value*; None if it is ours, and nothing is disputed."""
    known = (one for one in (fidelity, *FIDELITIES) if reading.values[one] == value)
    taken = {"taken": reading.told[next(known)]}
    if reading.disputed:
        return taken | _all_told(reading)
    return None if value == reading.values["ours"] else taken | {"ours": reading.told["ours"]}


def _all_told(reading: KeyReading | Dispute) -> Told:
    return {fidelity: reading.told[fidelity] for fidelity in FIDELITIES}
