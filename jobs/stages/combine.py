"""Combine: `verdicts` of several judges -> `verdicts` of their mean, for each summary. N:1; nobody is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from actors.judges.kinds import kind_of
from jobs.stages.items import Item
from jobs.stages.judge import VERDICT, Judged
from jobs.stages.means import Means
from jobs.stages.stage import Plan, Site, Stage
from longform.judges.kind import Kind
from longform.judges.mean import VERSION
from longform.keys import content_key
from longform.settings.experiment import Experiment
from longform.settings.judges import JudgeSettings


@dataclass(frozen=True, kw_only=True)
class MeanTargets(Means[Judged]):
    """
    The mean of judges that are asked about targets of queries.

    Attributes:
        settings: Of the mean.
    """

    step = "judge"
    columns = (*VERDICT, "linked_unit")
    per_task = 256

    settings: JudgeSettings

    @property
    def kind(self) -> Kind:
        return kind_of(self.settings)

    def items(self, plan: Plan) -> list[Item[Judged]]:
        asked: dict[str, dict[str, Item[Judged]]] = {}
        for item in plan.of(Judged):
            asked.setdefault(item.key.summary, {})[item.key.judge] = item
        found = []
        for summary, members in asked.items():
            given = [[member, members[member].work_id] for member in self.members]
            work_id = content_key("mean-verdicts", self.judge, self.bounds, given, VERSION)
            found.append(Item(work_id, Judged(summary, self.judge), self.sources(members)))
        return found


def stages(experiment: Experiment, site: Site) -> list[Stage[Any]]:
    """Return a stage for each mean of judges that are asked about targets of queries."""
    return [
        MeanTargets(run=site.run, judge=name, members=settings.members, bounds=settings.bounds, settings=settings)
        for name, settings in experiment.target_judges.items()
        if settings.members
    ]
