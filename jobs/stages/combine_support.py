"""Combine: `verdicts` of several support judges -> `verdicts` of their mean, for each summary. N:1; nobody is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jobs.stages.check import CHECK, Checked
from jobs.stages.items import Item
from jobs.stages.means import Means
from jobs.stages.stage import Plan, Site, Stage
from longform.judges.kinds.support import SUPPORT
from longform.judges.mean import VERSION
from longform.keys import content_key
from longform.settings.experiment import Experiment


@dataclass(frozen=True, kw_only=True)
class MeanSupport(Means[Checked]):
    """The mean of support judges."""

    step = "check"
    columns = CHECK
    per_task = 64
    kind = SUPPORT

    def items(self, plan: Plan) -> list[Item[Checked]]:
        asked: dict[str, dict[str, Item[Checked]]] = {}
        for item in plan.of(Checked):
            asked.setdefault(item.key.summary, {})[item.key.judge] = item
        found = []
        for members in asked.values():
            given = [[member, members[member].work_id] for member in self.members]
            (threshold,) = self.bounds
            work_id = content_key("mean-support", self.judge, threshold, given, VERSION)
            key = members[self.members[0]].key._replace(judge=self.judge)
            found.append(Item(work_id, key, self.sources(members)))
        return found


def stages(experiment: Experiment, site: Site) -> list[Stage[Any]]:
    """Return a stage for each mean of support judges."""
    return [
        MeanSupport(run=site.run, judge=name, members=settings.members, bounds=settings.bounds)
        for name, settings in experiment.support_judges.items()
        if settings.members
    ]
