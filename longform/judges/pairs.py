"""The pairs that a judge must be asked about, each once, and their verdicts put where they were asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from longform.judges.kind import Group, Kind, Verdict, Verdicts

Shared = tuple[tuple[str, ...], str, int]
"""The parts of a shared text, the query that is shown with it, and the repeat of the question."""

Pair = tuple[Shared, str]
"""A shared text, and an item."""


def shared_of(group: Group) -> Shared:
    """Return all that the items of a group are judged with."""
    return group.shared, group.query, group.repeat


def open_groups(kind: Kind, groups: Sequence[Group]) -> list[Group]:
    """Keep the pairs that a judge must be asked about, every pair once, those of equal texts in one group."""
    keys: dict[Shared, str] = {}
    found: dict[Shared, dict[str, None]] = {}
    for group in groups:
        for item in group.items:
            if kind.settle(group, item) is None:
                keys.setdefault(shared_of(group), group.key)
                found.setdefault(shared_of(group), {})[item] = None
    return [Group(keys[of], of[0], tuple(items), query=of[1], repeat=of[2]) for of, items in found.items()]


def in_place(kind: Kind, groups: Sequence[Group], judged: Mapping[Pair, Verdict]) -> Verdicts:
    """Return the verdicts of all pairs: those of `open_groups` out of *judged*, and the settled ones."""
    return [[kind.settle(group, item) or judged[shared_of(group), item] for item in group.items] for group in groups]
