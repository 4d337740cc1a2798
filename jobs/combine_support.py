"""Combine: `verdicts` of several support judges -> `verdicts` of their mean, for each summary. N:1; nobody is asked."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from actors.storage import Folder
from jobs.check import Checked, Source
from jobs.derive import PartReader, plan
from jobs.stage import Row, Stage, Task
from longform.configuration import Experiment
from longform.judge_settings import MeanSupportJudge
from longform.keys import content_key
from longform.mean_support import VERSION, mean_support_verdicts

_SUMMARIES_A_TASK = 64


def with_means(experiment: Experiment, asked: Mapping[Checked, Source]) -> dict[Checked, Source]:
    """All of *asked*, and behind them every mean the experiment wants, its work id from those of its members."""
    of_summary = {checked.summary: source for checked, source in asked.items()}
    found = dict(asked)
    for name, settings in experiment.support_judges.items():
        if isinstance(settings, MeanSupportJudge):
            for summary, source in of_summary.items():
                members = [[member, asked[Checked(summary, member)].work_id] for member in settings.of]
                work_id = content_key("mean-support", name, settings.threshold, members, VERSION)
                found[Checked(summary, name)] = source._replace(work_id=work_id)
    return found


def combine_support_stage(run: Folder, name: str, settings: MeanSupportJudge) -> Stage:
    return Stage(
        name=f"check {name}",
        table="verdicts",
        identity=content_key(run.url, name, settings.model_dump()),
        make_worker=partial(_worker, run, name, settings),
    )


def combine_support_tasks(
    run: Folder, name: str, settings: MeanSupportJudge, checks: Mapping[Checked, Source]
) -> list[Task]:
    """The tasks of one mean that are not done; the verdicts of its members are there."""
    parts = run.locate("verdicts")
    items = []
    for checked, source in checks.items():
        if checked.judge == name:
            sources = {member: checks[Checked(checked.summary, member)].work_id for member in settings.of}
            members = {member: [parts[work_id], work_id] for member, work_id in sources.items()}
            items.append({"work_id": source.work_id, "source": sources[settings.of[0]], "members": members})
    return plan(run, "verdicts", run, "verdicts", items, per_task=_SUMMARIES_A_TASK)


def _worker(run: Folder, name: str, settings: MeanSupportJudge) -> Any:
    reader = PartReader(run)

    def combine(payload: Mapping[str, Any]) -> list[Row]:
        return [
            verdict | {"work_id": item["work_id"]}
            for item in payload["items"]
            for verdict in mean_support_verdicts(
                {member: reader.rows(*place) for member, place in item["members"].items()},
                judge=name,
                threshold=settings.threshold,
            )
        ]

    return combine
