"""The protocol of every judge, for any backend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from longform.judges.kind import Group, Verdicts


class Backend(Protocol):
    """A judge of one kind, loaded."""

    async def ask(self, groups: Sequence[Group]) -> Verdicts:
        """Judge all pairs: shape (groups, items). A pair that cannot be judged has no answer, and says why."""
        ...
