"""Means of judges, of either kind, as a stage: each from the verdicts of its members; nobody is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from actors.storage.folder import Folder
from jobs.stages.items import PartReader, plan
from jobs.stages.runner import Row, Stage, Task
from longform.keys import content_key
from longform.settings.judges import JudgeSettings

Combine = Callable[[Mapping[str, Sequence[Row]]], list[Row]]
"""Member -> its verdicts on a summary, to the verdicts of the mean."""


class Mean(NamedTuple):
    """One summary's: the work id of its verdicts, and member -> that of the member's."""

    work_id: str
    members: Mapping[str, str]


def means_stage(run: Folder, verb: str, name: str, settings: JudgeSettings, combine: Combine) -> Stage:
    """Named by the *verb* of its members' stage; *combine* pickles, and follows from *settings*."""
    return Stage(
        name=f"{verb} {name}",
        table="verdicts",
        identity=content_key(run.url, name, settings.model_dump()),
        make_worker=partial(_worker, run, combine),
    )


def means_tasks(run: Folder, means: Sequence[Mean], *, per_task: int) -> list[Task]:
    """The tasks of those that are not done; the verdicts of their members are there."""
    parts = run.locate("verdicts")
    items = [
        {
            "work_id": mean.work_id,
            "source": next(iter(mean.members.values())),
            "members": {member: [parts[source], source] for member, source in mean.members.items()},
        }
        for mean in means
    ]
    return plan(run, "verdicts", run, "verdicts", items, per_task=per_task)


def _worker(run: Folder, combine: Combine) -> Any:
    reader = PartReader(run)

    def verdicts(payload: Mapping[str, Any]) -> list[Row]:
        return [
            verdict | {"work_id": item["work_id"]}
            for item in payload["items"]
            for verdict in combine({member: reader.rows(*place) for member, place in item["members"].items()})
        ]

    return verdicts
