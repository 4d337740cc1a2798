"""The pairs that a judge must be asked about, each once, and their verdicts put where they were asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from longform.judges.kind import Group, Kind, Verdict, Verdicts

Pair = tuple[tuple[str, ...], str]
"""The parts of a shared text, and an item."""


def open_groups(kind: Kind, groups: Sequence[Group]) -> list[Group]:
    """Keep the pairs that a judge must be asked about, every pair once, those of equal texts in one group."""
    keys: dict[tuple[str, ...], str] = {}
    found: dict[tuple[str, ...], dict[str, None]] = {}
    for group in groups:
        for item in group.items:
            if kind.settle(group, item) is None:
                keys.setdefault(group.shared, group.key)
                found.setdefault(group.shared, {})[item] = None
    return [Group(keys[shared], shared, tuple(items)) for shared, items in found.items()]


def in_place(kind: Kind, groups: Sequence[Group], judged: Mapping[Pair, Verdict]) -> Verdicts:
    """Return the verdicts of all pairs: those of `open_groups` out of *judged*, and the settled ones."""
    return [[kind.settle(group, item) or judged[group.shared, item] for item in group.items] for group in groups]
