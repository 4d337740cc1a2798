"""Combine: `verdicts` of several judges -> `verdicts` of their mean, for each summary. N:1; nobody is asked."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from actors.storage.folder import Folder
from jobs.stages.judge import Judged
from jobs.stages.means import Mean, means_stage, means_tasks
from jobs.stages.runner import Stage, Task
from longform.judges.mean_coverage import VERSION, mean_verdicts
from longform.keys import content_key
from longform.settings.experiment import Experiment
from longform.settings.judges import MeanJudgeSettings

_SUMMARIES_A_TASK = 256


def mean_work_ids(experiment: Experiment, asked: Mapping[Judged, str]) -> dict[Judged, str]:
    """Every mean the experiment wants -> its work id, from the work ids of what its members were asked."""
    summaries = dict.fromkeys(judged.summary for judged in asked)
    return {
        Judged(summary, name): content_key(
            "mean-verdicts", name, settings.cuts, [[m, asked[Judged(summary, m)]] for m in settings.of], VERSION
        )
        for name, settings in experiment.judges.items()
        if isinstance(settings, MeanJudgeSettings)
        for summary in summaries
    }


def combine_stage(run: Folder, name: str, settings: MeanJudgeSettings) -> Stage:
    return means_stage(run, "judge", name, settings, partial(mean_verdicts, judge=name, cuts=settings.cuts))


def combine_tasks(
    run: Folder, name: str, settings: MeanJudgeSettings, *, wanted: Mapping[Judged, str], asked: Mapping[Judged, str]
) -> list[Task]:
    """The tasks of one mean that are not done; *wanted* has its work ids, *asked* those of its members' verdicts."""
    means = [
        Mean(work_id, {member: asked[Judged(judged.summary, member)] for member in settings.of})
        for judged, work_id in wanted.items()
        if judged.judge == name
    ]
    return means_tasks(run, means, per_task=_SUMMARIES_A_TASK)
