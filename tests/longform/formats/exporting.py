"""A run as exports are given it, of rows that a test makes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from longform.formats.exported import HaystackOfRun, SystemOf


@dataclass(frozen=True)
class MadeRun:
    haystacks: Sequence[HaystackOfRun] = ()
    results: Mapping[str, Any] = field(default_factory=dict)
    tables: Callable[[str], pa.Table] = pa.Table.from_pylist
    systems: Mapping[str, SystemOf] = field(default_factory=dict)
    judge: str = "judge"
    full_context: frozenset[str] = frozenset({"Full"})
    exported_at: str = "2026-01-01T00:00:00+00:00"

    def table(self, name: str, /) -> pa.Table:
        return self.tables(name)
