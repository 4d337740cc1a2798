"""The rows of a stage are committed while it goes on, so that a command that is killed keeps them."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from actors.storage.folder import Folder
from jobs.stages import accounts
from jobs.stages.cluster import Cluster
from jobs.stages.items import Row, Worker
from jobs.stages.runner import PlainStage, Task, run_stage


def test_slow_tasks_are_committed_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accounts, "_COMMIT_S", 0.0)
    run, kept = Folder(str(tmp_path)), list[int]()

    def make_worker() -> Worker:
        def work(payload: Any) -> list[Row]:
            kept.append(len(Folder(run.url).locate("audits")))
            return [payload | {"haystack_id": "h", "audit": "{}"}]

        return work

    stage = PlainStage(name="s", table="audits", make_worker=make_worker)
    tasks = [Task(work_ids=(str(place),), payload={"work_id": str(place)}) for place in range(3)]
    run_stage(run, stage, 3, tasks, cluster=Cluster(address=None, workers=0), log=io.StringIO())
    assert kept == [0, 1, 2]
