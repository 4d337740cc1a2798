"""A judge that is the mean of others of its kind; each is asked as it would be by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from actors.judges.backend import Backend
from longform.judges.kind import Group, Kind, Verdicts
from longform.judges.mean import mean_verdict


class MeanJudge:
    """
    Args:
        kind: Of all members.
        members: Name -> member, in the order in which the mean names them.
        bounds: Means from which an answer is another.
    """

    def __init__(self, kind: Kind, members: Mapping[str, Backend], *, bounds: Sequence[float]) -> None:
        self._kind, self._members, self._bounds = kind, members, bounds

    async def ask(self, groups: Sequence[Group]) -> Verdicts:
        """Judge all pairs: shape (groups, items)."""
        found = await asyncio.gather(*(member.ask(groups) for member in self._members.values()))
        return [
            [
                mean_verdict(self._kind, dict(zip(self._members, of_pair, strict=True)), self._bounds)
                for of_pair in zip(*of_group, strict=True)
            ]
            for of_group in zip(*found, strict=True)
        ]
