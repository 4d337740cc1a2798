"""Combine: `verdicts` of several judges -> `verdicts` of their mean, for each summary. N:1; nobody is asked."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from actors.storage import Folder
from jobs.derive import PartReader, plan
from jobs.judge import Judged
from jobs.stage import Row, Stage, Task
from longform.configuration import Experiment
from longform.judge_settings import MeanJudge
from longform.keys import content_key
from longform.mean_judge import VERSION, mean_verdicts

_SUMMARIES_A_TASK = 256


def mean_work_ids(experiment: Experiment, asked: Mapping[Judged, str]) -> dict[Judged, str]:
    """Every mean the experiment wants -> its work id, from the work ids of what its members were asked."""
    summaries = dict.fromkeys(judged.summary for judged in asked)
    return {
        Judged(summary, name): content_key(
            "mean-verdicts", name, settings.cuts, [[m, asked[Judged(summary, m)]] for m in settings.of], VERSION
        )
        for name, settings in experiment.judges.items()
        if isinstance(settings, MeanJudge)
        for summary in summaries
    }


def combine_stage(run: Folder, name: str, settings: MeanJudge) -> Stage:
    return Stage(
        name=f"judge {name}",
        table="verdicts",
        identity=content_key(run.url, name, settings.model_dump()),
        make_worker=partial(_worker, run, name, settings),
    )


def combine_tasks(
    run: Folder, name: str, settings: MeanJudge, *, wanted: Mapping[Judged, str], asked: Mapping[Judged, str]
) -> list[Task]:
    """The tasks of one mean that are not done; *wanted* has its work ids, *asked* those of its members' verdicts."""
    parts = run.locate("verdicts")
    items = []
    for judged, work_id in wanted.items():
        if judged.judge == name:
            sources = {member: asked[Judged(judged.summary, member)] for member in settings.of}
            members = {member: [parts[source], source] for member, source in sources.items()}
            items.append({"work_id": work_id, "source": sources[settings.of[0]], "members": members})
    return plan(run, "verdicts", run, "verdicts", items, per_task=_SUMMARIES_A_TASK)


def _worker(run: Folder, name: str, settings: MeanJudge) -> Any:
    reader = PartReader(run)

    def combine(payload: Mapping[str, Any]) -> list[Row]:
        return [
            verdict | {"work_id": item["work_id"]}
            for item in payload["items"]
            for verdict in mean_verdicts(
                {member: reader.rows(*place) for member, place in item["members"].items()},
                judge=name,
                cuts=settings.cuts,
            )
        ]

    return combine
