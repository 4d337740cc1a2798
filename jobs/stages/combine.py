"""Combine: `verdicts` of several judges -> `verdicts` of their mean, for each summary. N:1; nobody is asked."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from actors.storage.folder import Folder
from jobs.stages.judge import Judged
from jobs.stages.means import Mean, means_stage, means_tasks
from jobs.stages.runner import Stage, Task
from longform.judges.kinds.coverage import COVERAGE
from longform.judges.mean import VERSION, mean_rows
from longform.keys import content_key
from longform.settings.experiment import Experiment
from longform.settings.judges import JudgeSettings

_SUMMARIES_A_TASK = 256


def mean_work_ids(experiment: Experiment, asked: Mapping[Judged, str]) -> dict[Judged, str]:
    """Every mean the experiment wants -> its work id, from the work ids of what its members were asked."""
    summaries = dict.fromkeys(judged.summary for judged in asked)
    return {
        Judged(summary, name): content_key(
            "mean-verdicts",
            name,
            settings.bounds,
            [[m, asked[Judged(summary, m)]] for m in settings.members],
            VERSION,
        )
        for name, settings in experiment.judges_of("coverage").items()
        if settings.members
        for summary in summaries
    }


def combine_stage(run: Folder, name: str, settings: JudgeSettings) -> Stage:
    return means_stage(run, "judge", name, settings, partial(mean_rows, COVERAGE, judge=name, bounds=settings.bounds))


def combine_tasks(
    run: Folder, name: str, settings: JudgeSettings, *, wanted: Mapping[Judged, str], asked: Mapping[Judged, str]
) -> list[Task]:
    """The tasks of one mean that are not done; *wanted* has its work ids, *asked* those of its members' verdicts."""
    means = [
        Mean(work_id, {member: asked[Judged(judged.summary, member)] for member in settings.members})
        for judged, work_id in wanted.items()
        if judged.judge == name
    ]
    return means_tasks(run, means, per_task=_SUMMARIES_A_TASK)
