"""Progress moves inside a task: texts that local models have read are told, by this process and by workers."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from actors.local_models.text_model import TEXTS_READ, TextsRead
from actors.storage.folder import Folder
from jobs.stages import progress
from jobs.stages.accounts import StageError
from jobs.stages.cluster import Cluster
from jobs.stages.engines import Place
from jobs.stages.inbox import Desk
from jobs.stages.items import Row, Worker
from jobs.stages.on_ray import ComputingActor
from jobs.stages.operators import Operator
from jobs.stages.runner import PlainStage, Task, run_stage
from jobs.stages.stations import TaskReceipt

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


def of_audits(make_worker: Callable[[], Worker]) -> PlainStage:
    return PlainStage(name="s", table="audits", make_worker=make_worker)


def task(texts: int) -> Task:
    return Task(work_ids=("w",), payload={"texts": texts})


def reading() -> Worker:
    def work(payload: Mapping[str, int]) -> list[Row]:
        TEXTS_READ.add(payload["texts"])
        return [{"work_id": "w", "haystack_id": "h", "audit": "{}"}]

    return work


def test_a_task_that_goes_on_moves_the_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_LINE_INTERVAL_S", 0.001)
    monkeypatch.setattr(progress, "_NOTICE_INTERVAL_S", 0.001)
    log = Lines(f"none done yet; {READS:,} texts read")

    def waits() -> Worker:
        def work(payload: Mapping[str, int]) -> list[Row]:
            rows = reading()(payload)
            assert log.there.wait(timeout=60)
            return rows

        return work

    cluster = Cluster(address=None, workers=0)
    run_stage(Folder(str(tmp_path)), of_audits(waits), 1, [task(READS)], cluster=cluster, log=log)


def test_what_workers_have_read_is_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_LINE_INTERVAL_S", 0.001)
    monkeypatch.setattr(progress, "_NOTICE_INTERVAL_S", 0.001)
    log = Lines("none done yet; 42 texts read")

    def workers(run: Folder, chain: Any, blocks: Any, place: Place) -> Iterator[TaskReceipt]:
        place.cluster.inbox.texts.update({"a-1": 40, "b-2": 2})
        assert log.there.wait(timeout=60)
        return iter(())

    monkeypatch.setattr("jobs.stages.runner.receipts", workers)
    cluster = Cluster(address=None, workers=2)
    with pytest.raises(StageError, match="1 of 1 rows were not made, and nothing says why"):
        run_stage(Folder(str(tmp_path)), of_audits(reading), 1, [task(1)], cluster=cluster, log=log)


def test_a_worker_tells_the_desk_what_it_has_read_of_this_stage(tmp_path: Path) -> None:
    """Its process may have read others before."""
    told = []
    try:
        for texts in (5, 7):
            desk, operator = Desk(), Operator((of_audits(reading),))
            methods = {name: SimpleNamespace(remote=getattr(desk, name)) for name in ("put", "has_read")}
            actor = ComputingActor(Folder(str(tmp_path)), operator, None, SimpleNamespace(**methods))
            actor(operator.arrives([of_audits(reading).parcel(task(texts))]))
            told.append(desk.look(0))
    finally:
        TEXTS_READ.report_to(lambda _: None)
    assert [[*texts.values()] for _, texts in told] == [[5], [7]]
    assert [[one["error"] for one in receipts] for receipts, _ in told] == [[""], [""]]


def test_a_report_comes_now_and_then_and_not_with_every_text() -> None:
    counted, reports = TextsRead(), list[int]()
    counted.report_to(reports.append)
    for _ in range(100):
        counted.add(2)
    assert counted.count == 200
    assert reports[0] == 2
    assert len(reports) < 100
