"""A judge that remembers its last verdicts on pairs, so that a pair of several summaries is judged once."""

from __future__ import annotations

from collections.abc import Sequence

from actors.judges.backend import Backend
from longform.judges.kind import Group, Kind, Verdict, Verdicts
from longform.judges.pairs import Pair, in_place, open_groups, shared_of
from longform.keys import content_key

_PAIRS_HELD = 100_000  # those of a long summary and a haystack; some 50 MB with their evidence


class Remembering:
    """
    Asks another judge about pairs that it has not judged before.

    Args:
        judge: Asked for what is not remembered.
    """

    def __init__(self, kind: Kind, judge: Backend) -> None:
        self._kind, self._judge = kind, judge
        self._held: dict[tuple[str, str], Verdict] = {}  # by the key of the shared text, in the order of asking

    async def ask(self, groups: Sequence[Group]) -> Verdicts:
        """Judge all pairs: shape (groups, items)."""
        wanted = open_groups(self._kind, groups)
        keys = [content_key(shared_of(group)) for group in wanted]
        known: dict[Pair, Verdict] = {}
        new: list[Group] = []
        for key, group in zip(keys, wanted, strict=True):
            held = {item: found for item in group.items if (found := self._held.get((key, item))) is not None}
            known |= {(shared_of(group), item): verdict for item, verdict in held.items()}
            if left := tuple(item for item in group.items if item not in held):
                new.append(group._replace(items=left))
        verdicts = await self._judge.ask(new) if new else []
        known |= {
            (shared_of(group), item): verdict
            for group, of_group in zip(new, verdicts, strict=True)
            for item, verdict in zip(group.items, of_group, strict=True)
        }
        for key, group in zip(keys, wanted, strict=True):
            self._held |= {(key, item): known[shared_of(group), item] for item in group.items}
        for pair in list(self._held)[: max(0, len(self._held) - _PAIRS_HELD)]:
            del self._held[pair]
        return in_place(self._kind, groups, known)
