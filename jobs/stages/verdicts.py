"""
The verdicts of a run by judge and summary; and Mean: `verdicts` of judges of one kind -> `verdicts` of their mean. N:1.

Nobody is asked for a mean.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from actors.judges.opening import kind_of
from jobs.stages.items import WHOLE, Item, Source, SourceReader
from jobs.stages.stage import Plan, Site, Stage, Works
from longform.judges.kind import Kind
from longform.judges.means import MEAN_VERSION, mean_rows, merged_repeats
from longform.keys import content_key, in_groups
from longform.rows import VerdictRow
from longform.settings.experiment import Experiment
from longform.settings.judges import JudgeSettings

_OF_ALL = (
    "work_id", "judge", "summary_id", "target_kind", "target_id", "mode", "repeat", "answer", "probability", "failure",
    "reply", "prompt_version", "call_id",
)  # fmt: skip
_OF_PAIRS = ("unit_index", "doc_position", "text_index")


class Judged(NamedTuple):
    """The verdicts of one judge on one summary."""

    summary: str  # its work id
    judge: str
    query_id: str
    # work id of the context whose documents it is judged against; None: the targets of the query
    context: str | None = None
    repeat: int = 0  # of the question, from 0


def columns_of(kind: Kind, *more: str) -> Collection[str]:
    """Return the columns of the verdicts of a kind, and *more*."""
    return (*_OF_ALL, *(_OF_PAIRS if kind.of_documents else ("linked_unit",)), *more)


def checks_of(plan: Plan) -> list[Item[Judged]]:
    """Return the verdicts on documents of prompts."""
    return [item for item in plan.of(Judged) if item.key.context is not None]


def with_repeats(items: Iterable[Item[Judged]]) -> list[list[Item[Judged]]]:
    """Return the verdicts of each summary and judge together: one item, or its repeats in their order."""
    found = in_groups((item.key._replace(repeat=0), item) for item in items)
    return [sorted(of, key=lambda item: item.key.repeat) for of in found.values()]


@dataclass(frozen=True, kw_only=True)
class JudgeStage(Stage[Judged]):
    """Makes the verdicts of one judge."""

    table = "verdicts"

    judge: str
    settings: JudgeSettings

    @property
    def kind(self) -> Kind:
        return kind_of(self.settings)

    @property
    def judged_by(self) -> str:
        return self.judge

    @property
    def step(self) -> str:
        return self.kind.step

    @property
    def name(self) -> str:
        return f"{self.step} {self.judge}"


@dataclass(frozen=True, kw_only=True)
class Mean(JudgeStage):
    """The mean of some judges. The sources of an item are the verdicts of the members, in their order."""

    reads: ClassVar = {"verdicts": WHOLE}

    @property
    def columns(self) -> Collection[str]:
        kind = self.kind
        return columns_of(kind, *(["chunk_index"] if kind.of_documents else []))

    @property
    def per_task(self) -> int:
        return 64 if self.kind.of_documents else 256

    def items(self, plan: Plan) -> list[Item[Judged]]:
        asked: dict[str, dict[str, list[Item[Judged]]]] = {}
        for item in plan.of(Judged):
            asked.setdefault(item.key.summary, {}).setdefault(item.key.judge, []).append(item)
        kind, members = self.kind, self.settings.members
        return [
            self._item(kind, [one for member in members for one in of_summary[member]]) for of_summary in asked.values()
        ]

    def _item(self, kind: Kind, members: Sequence[Item[Judged]]) -> Item[Judged]:
        given = [[member.key.judge, member.work_id] for member in members]
        work_id = content_key(*self._depends(kind), given, MEAN_VERSION)
        sources = tuple(Source("verdicts", member.work_id) for member in members)
        return Item(work_id, members[0].key._replace(judge=self.judge), sources)

    def _depends(self, kind: Kind) -> list[Any]:
        """Return what begins a key; those of means over documents have the only bound by itself."""
        bounds = self.settings.bounds
        return ["mean-support", self.judge, *bounds] if kind.of_documents else ["mean-verdicts", self.judge, bounds]

    def worker(self, reader: SourceReader) -> Works[Judged]:
        kind, members, bounds = self.kind, self.settings.members, self.settings.bounds

        def verdicts(given: Sequence[Item[Judged]]) -> list[VerdictRow]:
            return [
                {**verdict, "work_id": one.work_id}
                for one in given
                for rows in [_by_member(kind, members, [reader.rows(place, VerdictRow) for place in one.sources])]
                for verdict in mean_rows(kind, rows, judge=self.judge, bounds=bounds)
            ]

        return verdicts


def _by_member(
    kind: Kind, members: Sequence[str], sources: Sequence[Sequence[VerdictRow]]
) -> dict[str, list[VerdictRow]]:
    """Return the verdicts of each member; of one with repeats what they come to."""
    rows = [row for source in sources for row in source]
    return {member: merged_repeats(kind, [row for row in rows if row["judge"] == member]) for member in members}


def stages(experiment: Experiment, site: Site) -> list[Mean]:
    """Return a stage for each mean of judges."""
    return [
        Mean(run=site.run, judge=name, settings=settings)
        for name, settings in experiment.judges.items()
        if settings.members
    ]
