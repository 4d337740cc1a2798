"""Means of judges, of either kind, as a stage: each from the verdicts of its members; nobody is asked."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from jobs.stages.items import WHOLE, Given, Item, Key, Row, Source
from jobs.stages.runner import Worker
from jobs.stages.stage import Stage
from longform.judges.kind import Kind
from longform.judges.mean import mean_rows


@dataclass(frozen=True, kw_only=True)
class Means(Stage[Key]):
    """
    The mean of some judges. The sources of an item are the verdicts of the members, in their order.

    Attributes:
        judge: Its name.
        members: Names of judges.
        bounds: Means from which an answer is another.
    """

    reads: ClassVar = {"verdicts": WHOLE}
    table = "verdicts"

    judge: str
    members: tuple[str, ...]
    bounds: tuple[float, ...]

    @property
    @abstractmethod
    def kind(self) -> Kind:
        """Return the kind that the members judge."""

    @property
    def name(self) -> str:
        return f"{self.step} {self.judge}"

    def sources(self, asked: Mapping[str, Item[Key]]) -> tuple[Source, ...]:
        """Return the sources of an item; *asked* has each member's."""
        return tuple(Source("verdicts", asked[member].work_id) for member in self.members)

    def make_worker(self) -> Worker:
        reader, kind = self.reader(), self.kind

        def verdicts(given: Sequence[Given[Key]]) -> list[Row]:
            return [
                verdict | {"work_id": one.work_id}
                for one in given
                for members in [map(reader.rows, one.sources)]
                for verdict in mean_rows(
                    kind, dict(zip(self.members, members, strict=True)), judge=self.judge, bounds=self.bounds
                )
            ]

        return verdicts
