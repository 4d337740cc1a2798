"""Combine: `verdicts` of several support judges -> `verdicts` of their mean, for each summary. N:1; nobody is asked."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from actors.storage.folder import Folder
from jobs.stages.check import Checked, Source
from jobs.stages.means import Mean, means_stage, means_tasks
from jobs.stages.runner import Stage, Task
from longform.judges.kinds.support import SUPPORT
from longform.judges.mean import VERSION, mean_rows
from longform.keys import content_key
from longform.settings.experiment import Experiment
from longform.settings.judges import JudgeSettings

_SUMMARIES_A_TASK = 64


def with_means(experiment: Experiment, asked: Mapping[Checked, Source]) -> dict[Checked, Source]:
    """All of *asked*, and behind them every mean the experiment wants, its work id from those of its members."""
    of_summary = {checked.summary: source for checked, source in asked.items()}
    found = dict(asked)
    for name, settings in experiment.support_judges.items():
        if settings.members:
            for summary, source in of_summary.items():
                members = [[member, asked[Checked(summary, member)].work_id] for member in settings.members]
                work_id = content_key("mean-support", name, settings.own_threshold, members, VERSION)
                found[Checked(summary, name)] = source._replace(work_id=work_id)
    return found


def combine_support_stage(run: Folder, name: str, settings: JudgeSettings) -> Stage:
    combine = partial(mean_rows, SUPPORT, judge=name, bounds=settings.bounds)
    return means_stage(run, "check", name, settings, combine)


def combine_support_tasks(
    run: Folder, name: str, settings: JudgeSettings, checks: Mapping[Checked, Source]
) -> list[Task]:
    """The tasks of one mean that are not done; the verdicts of its members are there."""
    means = [
        Mean(source.work_id, {member: checks[Checked(checked.summary, member)].work_id for member in settings.members})
        for checked, source in checks.items()
        if checked.judge == name
    ]
    return means_tasks(run, means, per_task=_SUMMARIES_A_TASK)
