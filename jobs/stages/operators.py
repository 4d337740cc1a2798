"""
The operators of a stream: stages that one actor performs, one after the other, on what comes to it.

A stream of operators is what Ray Data runs as a chain of actor pools, and this process as a chain of coroutines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import pyarrow as pa

from jobs.stages.items import WHOLE
from jobs.stages.parcels import CARRIED, Parcel, of_arrow, to_arrow
from jobs.stages.stage import Stage
from longform.schemas import SCHEMAS
from longform.settings.strict import ResourcesSettings, together


@dataclass(frozen=True)
class Operator:
    """The work of a pool of actors on parcels; it pickles."""

    stages: tuple[Stage[Any], ...]  # those that it performs, in their order
    later: tuple[Stage[Any], ...] = ()  # those of the operators behind it

    @property
    def name(self) -> str:
        return ", ".join(stage.name for stage in self.stages)

    @property
    def asynchronous(self) -> bool:
        return any(stage.asynchronous for stage in self.stages)

    @property
    def holds_model(self) -> bool:
        return any(stage.holds_model for stage in self.stages)

    @property
    def resources(self) -> ResourcesSettings:
        return together(stage.resources for stage in self.stages) or ResourcesSettings()

    @property
    def slots(self) -> int:
        return max(stage.slots for stage in self.stages)

    def on_cores(self, cores: int) -> Operator:
        """Return it as it runs in a process that has so many cores."""
        return replace(self, stages=tuple(stage.on_cores(cores) for stage in self.stages))

    def arrives(self, parcels: Sequence[Parcel]) -> pa.Table:
        """Return what comes to it as Ray Data carries it."""
        ahead = (*self.stages, *self.later)
        return to_arrow(parcels, ahead, _columns_read(ahead))

    def received(self, block: pa.Table) -> list[Parcel]:
        """Return what came, from its Arrow form."""
        return of_arrow(block, (*self.stages, *self.later))


def _columns_read(stages: Sequence[Stage[Any]]) -> dict[str, set[str]]:
    """Return the columns that stages read of a run's tables, by table."""
    found: dict[str, set[str]] = {}
    for stage in stages:
        for table, names in stage.reads.items():
            if table in CARRIED:
                found.setdefault(table, set()).update(SCHEMAS[table].names if names == WHOLE else names)
    return found


# ---------------------------------------------------------------- of which stages


def streams_of(stages: Sequence[Stage[Any]], *, apart: bool = False) -> list[list[Stage[Any]]]:
    """
    Return the streams in which *stages* are made; one ends where the next must see all its rows.

    If they are to stand *apart*, those that compute with a model are no part of a stream that waits on a network: calls
    are made in this process then, and what computes may go to workers.
    """
    found: list[list[Stage[Any]]] = []
    for stage in stages:
        dear = next((one for one in found[-1] if _needs(one)), None) if found else None
        differs = apart and dear is not None and _needs(stage) and dear.asynchronous != stage.asynchronous
        if not found or differs or stage.waits_for is not None:
            found.append([])
        found[-1].append(stage)
    return found


def operators_of(stages: Sequence[Stage[Any]]) -> list[Operator]:
    """
    Return the operators of a stream: consecutive stages that need the same of a worker.

    Those that compute are one, since each pool has processes of its own to start, unless they ask for other processors.
    Of those that wait on a network, what selects documents, what writes and what judges are operators apart.
    """
    groups: list[list[Stage[Any]]] = []
    for stage in stages:
        if not (groups and _join(groups[-1], stage)):
            groups.append([])
        groups[-1].append(stage)
    behind = [tuple(chain.from_iterable(groups[place:])) for place in range(1, len(groups) + 1)]
    return [Operator(tuple(group), later) for group, later in zip(groups, behind, strict=True)]


def _join(group: Sequence[Stage[Any]], stage: Stage[Any]) -> bool:
    """Return whether a worker that has the stages of *group* can have *stage*, too, and loses nothing by it."""
    dear = next((one for one in group if _needs(one)), None)
    if dear is None:
        return True
    if (needs := _needs(stage)) is not None:
        return needs == _needs(dear)
    return not dear.asynchronous or _part(dear) == _part(stage)


def _needs(stage: Stage[Any]) -> tuple[str, ResourcesSettings | None] | None:
    """Return what a stage that waits or holds a model needs; None: it does neither."""
    if stage.asynchronous:
        return _part(stage), stage.resources
    return ("computes", stage.resources) if stage.holds_model else None


def _part(stage: Stage[Any]) -> str:
    return _PARTS.get(stage.step, "judges")


_PARTS = {"retrieve": "selects", "rerank": "selects", "summarize": "writes", "split": "writes"}
