"""Progress moves inside a task: texts that local models have read are told, by this process and by workers."""

from __future__ import annotations

import io
import threading
from pathlib import Path
from typing import Any

import pytest
from jobs.stages.reading import Reading, Told

from actors.local_models.text_model import TEXTS_READ, TextsRead
from actors.storage.folder import Folder
from jobs.stages import progress, reading
from jobs.stages.cluster import Cluster
from jobs.stages.items import Row
from jobs.stages.performing import Worker, perform
from jobs.stages.runner import PlainStage, Task, run_stage

READS = 1234


class Lines(io.StringIO):
    """Tells when a line with some words is there."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self._words, self.there = words, threading.Event()

    def write(self, text: str) -> int:
        if self._words in text:
            self.there.set()
        return super().write(text)


def test_a_task_that_goes_on_moves_the_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_LINE_INTERVAL_S", 0.001)
    log = Lines(f"none done yet; {READS:,} texts read")

    def make_worker() -> Worker:
        def work(payload: Any) -> list[Row]:
            TEXTS_READ.add(READS)
            assert log.there.wait(timeout=60)
            return [{"work_id": payload, "haystack_id": "h", "audit": "{}"}]

        return work

    stage = PlainStage(name="s", table="audits", identity="i", make_worker=make_worker)
    tasks = [Task(work_ids=("w",), payload="w")]
    run_stage(Folder(str(tmp_path)), stage, 1, tasks, cluster=Cluster(address=None, workers=0), log=log)


def test_what_workers_have_read_is_added_and_their_files_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_EVERY_S", 0.0)
    run = Folder(str(tmp_path))
    told = Told.new(run)
    shown = Reading(told)
    assert shown.words() == ""
    for worker, count in (("a-1", 40), ("b-2", 2)):
        run.write_bytes(f"{told.folder}/{worker}", str(count).encode())
    assert shown.words() == "42 texts read"
    told.forget()
    assert run.names(told.folder) == []
    assert shown.words() == "42 texts read"  # it never goes back


def reading_worker() -> Worker:
    def work(payload: Any) -> list[Row]:
        TEXTS_READ.add(payload)
        return [{"work_id": str(payload), "haystack_id": "h", "audit": "{}"}]

    return work


def test_a_worker_says_in_a_file_what_it_has_read_of_this_stage(tmp_path: Path) -> None:
    run = Folder(str(tmp_path))
    stage = PlainStage(name="s", table="audits", identity="i", make_worker=reading_worker)
    told = [Told.new(run), Told.new(run)]
    try:
        for place, texts in ((0, 5), (1, 7)):
            task = Task(work_ids=(str(texts),), payload=texts)
            assert perform(task.row(), run=run, stage=stage, told=told[place])["error"] == ""
    finally:
        TEXTS_READ.report_to(lambda _: None)
    assert [one.texts() for one in told] == [5, 7]


def test_a_report_comes_now_and_then_and_not_with_every_text() -> None:
    counted, reports = TextsRead(), list[int]()
    counted.report_to(reports.append)
    for _ in range(100):
        counted.add(2)
    assert counted.count == 200
    assert reports[0] == 2
    assert len(reports) < 100
