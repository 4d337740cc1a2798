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


def test_rows_that_say_why_they_failed_are_no_success(tmp_path: Path) -> None:
    """A work id failed if all its rows did."""

    def make_worker() -> Worker:
        return lambda payload: [payload | {"answer": None, "failure": reason} for reason in payload.pop("reasons")]

    log, reasons = io.StringIO(), [["bad_body", "bad_body"], ["bad_body", None], [None], []]
    tasks = [
        Task(work_ids=(str(place),), payload={"work_id": str(place), "reasons": of}) for place, of in enumerate(reasons)
    ]
    stage = PlainStage(name="s", table="verdicts", make_worker=make_worker)
    run_stage(Folder(str(tmp_path)), stage, 4, tasks, cluster=Cluster(address=None, workers=0), log=log)
    assert log.getvalue().split()[:4] == ["s", "3", "of", "4"]
    assert log.getvalue().endswith("; 1 failed: bad_body 1\n")
