"""A stage runs in the command's process by the same workers, and goes to Ray only if that is sooner."""

from __future__ import annotations

import asyncio
import io
import signal
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import pytest
from jobs.stages.in_process import receipts_of

from actors.authority import Local
from actors.chat.model import CallContext
from actors.chat.pool import ChatPool
from actors.closing import close_later, noting
from actors.ledger.keeper import LedgerKeeper
from actors.storage.folder import Folder
from jobs.command.interrupts import Interrupted, Interruptible
from jobs.stages import place
from jobs.stages.cluster import Cluster
from jobs.stages.items import Row
from jobs.stages.performing import Worker
from jobs.stages.runner import PlainStage, StageError, Task, run_stage
from longform.chat.call import Capabilities, ChatReply, ChatRequest, Message, Usage
from longform.errors import UsageError
from longform.quota.leases import Lease, LeaseAsk, QuotaLimits
from longform.settings.chat import ChatSettings

N_TASKS = 12
FAILS = 4
TASKS = [Task(work_ids=(f"w{n}",), payload={"work_id": f"w{n}", "number": n}) for n in range(N_TASKS)]
closed: list[str] = []


def row(payload: Mapping[str, Any]) -> list[Row]:
    if payload["number"] == FAILS:
        raise ValueError("planted")
    return [{"work_id": payload["work_id"], "haystack_id": str(payload["number"]), "audit": "{}"}]


def computes() -> Worker:
    return row


def waits() -> Worker:
    async def close() -> None:
        closed.append("model")

    async def work(payload: Mapping[str, Any]) -> list[Row]:
        await asyncio.sleep(0)
        return row(payload)

    close_later(close)
    return work


def breaks() -> Worker:
    raise UsageError("no such model")


@pytest.mark.parametrize(("make_worker", "asynchronous"), [(computes, False), (waits, True)])
def test_a_task_that_fails_costs_no_other(tmp_path: Path, make_worker: Any, asynchronous: bool) -> None:
    run, log = Folder(str(tmp_path)), io.StringIO()
    stage = PlainStage(name="s", table="audits", identity="i", make_worker=make_worker, asynchronous=asynchronous)
    closed.clear()

    with pytest.raises(StageError, match=r"1 of 12 tasks failed(?s:.*)planted"):
        run_stage(run, stage, N_TASKS, TASKS, cluster=Cluster(address=None, workers=0), log=log)

    made = {row["haystack_id"] for row in run.read("audits").to_pylist()}
    assert made == {str(n) for n in range(N_TASKS)} - {str(FAILS)}
    assert "in this process" in log.getvalue()
    assert closed == (["model"] if asynchronous else [])


def test_a_worker_that_cannot_be_made_ends_the_stage(tmp_path: Path) -> None:
    stage = PlainStage(name="s", table="audits", identity="i", make_worker=breaks)
    with pytest.raises(StageError, match="no such model; what is finished is kept"):
        run_stage(
            Folder(str(tmp_path)), stage, N_TASKS, TASKS, cluster=Cluster(address=None, workers=0), log=io.StringIO()
        )


def test_no_more_are_open_than_slots_and_all_that_is_open_ends() -> None:
    n_open, most, ended = 0, 0, []

    async def perform(task: int) -> int:
        nonlocal n_open, most
        n_open += 1
        most = max(most, n_open)
        try:
            await (asyncio.sleep(0) if task < 5 else asyncio.Event().wait())
        except asyncio.CancelledError:
            ended.append(task)
            raise
        finally:
            n_open -= 1
        return task

    async def close() -> None:
        ended.append("closed")

    receipts = receipts_of(perform, range(20), slots=3, closes=[close])
    assert sorted(next(receipts) for _ in range(5)) == [0, 1, 2, 3, 4]
    receipts.close()

    assert most == 3
    assert n_open == 0
    assert ended[-1] == "closed"
    assert set(ended[:-1]) <= {5, 6, 7}


def test_closing_ends_though_a_future_is_never_set() -> None:
    closed_too = list[str]()

    async def perform(task: int) -> int:
        return task

    async def waits_for_ever() -> None:
        await asyncio.get_running_loop().create_future()

    async def close() -> None:
        closed_too.append("the other")

    receipts = receipts_of(perform, [1], slots=1, closes=[close, waits_for_ever], close_s=0.05)
    assert list(receipts) == [1]
    assert closed_too == ["the other"]


class Spread:
    """Grants all that is asked, the turns spread over some time."""

    async def lease(self, ask: LeaseAsk) -> Lease:
        return Lease(len(ask.sizes), over_s=0.2, again_s=0.01, limits=QuotaLimits())

    async def close(self) -> None: ...


class Answers:
    accepted = Capabilities()

    async def complete(self, request: ChatRequest) -> ChatReply:
        return ChatReply(text="yes", failure=None, finish_reason="stop", usage=Usage(1, 0, 1, 0), seconds=0.1)

    async def close(self) -> None: ...


@pytest.mark.parametrize("moment", range(3, 150, 12))
@pytest.mark.timeout(60)
def test_calls_that_are_interrupted_at_any_line_are_closed(moment: int, tmp_path: Path) -> None:
    """Each *moment* is a line that the worker's messages to the ledger's keeper come to."""
    seen = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal seen
        if not frame.f_code.co_filename.endswith("keeper_client.py"):
            return None
        seen += event == "line"
        if seen == moment:
            sys.settrace(None)
            signal.raise_signal(signal.SIGTERM)
        return trace

    def pool() -> ChatPool:
        keeper = LedgerKeeper(str(tmp_path), "job")
        settings, context = ChatSettings(model="m"), CallContext(job="job", stage="s", ledger=str(tmp_path))
        return ChatPool(Answers(), settings, context, leases=Spread(), keeper=Local(keeper), price=None)

    async def ask(text: int) -> ChatReply:
        return await asked.complete(ChatRequest(messages=(Message("user", str(text)),), max_tokens=9, input_tokens=9))

    asked = pool()
    sys.settrace(trace)
    try:
        with pytest.raises(Interrupted), Interruptible("x"):
            list(receipts_of(ask, range(6), slots=6, closes=[asked.close]))
    finally:
        sys.settrace(None)


def test_what_is_opened_elsewhere_is_nobodys_to_close() -> None:
    async def close() -> None:
        raise AssertionError

    close_later(close)
    with noting() as closes:
        pass
    assert closes == []


@pytest.fixture(autouse=True, scope="module")
def ray_where_marked() -> None:
    """Nothing: it is looked at here when stages go to one."""


class Elsewhere:
    """Stands for workers on Ray: says what it was given."""

    def __init__(self) -> None:
        self.given: list[int] = []

    def __call__(self, run: Folder, stage: Any, rows: list[bytes], where: place.Place) -> Iterator[Row]:
        self.given.append(len(rows))
        yield from place._here(run, stage, [{"task": one} for one in rows], place.Place(where.cluster, True))


class Case(NamedTuple):
    workers: int | None
    here: bool | None
    seconds_a_task: float
    to_ray: list[int]


@pytest.mark.parametrize(
    "case",
    [
        Case(None, None, 0.1, []),  # done before anything else would have begun
        Case(None, None, 30.0, [N_TASKS - 1]),
        Case(None, None, 2.1, []),  # what is left after the measured seconds is less than Ray takes to start
        Case(None, True, 30.0, []),
        Case(0, None, 30.0, []),
        Case(2, None, 0.1, [N_TASKS]),
    ],
)
def test_a_stage_goes_to_ray_when_it_is_done_sooner_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: Case
) -> None:
    now = [0.0]

    def takes_long() -> Worker:
        def work(payload: Mapping[str, Any]) -> list[Row]:
            now[0] += case.seconds_a_task
            return [{"work_id": payload["work_id"], "haystack_id": "h", "audit": "{}"}]

        return work

    elsewhere = Elsewhere()
    monkeypatch.setattr(place.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(place, "_on_ray", elsewhere)
    run, stage = Folder(str(tmp_path)), PlainStage(name="s", table="audits", identity="i", make_worker=takes_long)
    report = run_stage(
        run,
        stage,
        N_TASKS,
        TASKS,
        cluster=Cluster(address=None, workers=case.workers),
        log=io.StringIO(),
        here=case.here,
    )

    assert elsewhere.given == case.to_ray
    assert report.pieces == N_TASKS
    assert report.workers == (2 if case.to_ray else 0)


def test_a_large_stage_has_no_more_commits_than_a_small_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobs.stages.runner._MOST_COMMITS", 4)
    stage = PlainStage(name="s", table="audits", identity="i", make_worker=_made)
    tasks = [Task(work_ids=(f"w{n}",), payload={"work_id": f"w{n}"}) for n in range(99)]
    run, reports = Folder(str(tmp_path)), list[int]()
    run_stage(
        run,
        stage,
        len(tasks),
        tasks,
        cluster=Cluster(address=None, workers=0),
        note=lambda report, final: reports.append(report.pieces),
        log=io.StringIO(),
    )
    assert len(run.commits("audits")) == 4
    assert reports == [25, 50, 75, 99]
    assert run.locate("audits").keys() == {f"w{n}" for n in range(99)}


def _made() -> Worker:
    return lambda payload: [{"work_id": payload["work_id"], "haystack_id": "h", "audit": "{}"}]
