"""Stages run in the command's process by the same workers, as a stream, and go to Ray only if that is sooner."""

from __future__ import annotations

import asyncio
import io
import signal
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import pytest

from actors.authority import Local
from actors.chat.model import CallContext
from actors.chat.pool import ChatPool
from actors.closing import close_later, noting
from actors.ledger.keeper import LedgerKeeper
from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.command.interrupts import Interrupted, Interruptible
from jobs.stages import engines
from jobs.stages.accounts import Means, StageError, StageReport
from jobs.stages.cluster import Cluster
from jobs.stages.engines import Blocks, Place, receipts
from jobs.stages.items import Item, Row, Source, SourceReader, Worker
from jobs.stages.operators import Operator
from jobs.stages.parcels import Parcel
from jobs.stages.runner import PlainStage, Task, run_stage, run_stages
from jobs.stages.stage import Plan, Stage, Works
from jobs.stages.stations import TaskReceipt
from longform.chat.call import Capabilities, ChatReply, ChatRequest, Message, Usage
from longform.errors import UsageError
from longform.quota.leases import Lease, LeaseAsk, QuotaLimits
from longform.rows import SummaryRow
from longform.settings.chat import ChatSettings

N_TASKS = 12
FAILS = 4
HERE = Cluster(address=None, workers=0)
closed: list[str] = []


def tasks(n: int = N_TASKS) -> list[Task]:
    return [Task(work_ids=(f"w{number}",), payload={"work_id": f"w{number}", "number": number}) for number in range(n)]


def row(payload: Mapping[str, Any]) -> list[Row]:
    if payload["number"] == FAILS:
        raise ValueError("planted")
    return [{"work_id": payload["work_id"], "haystack_id": str(payload["number"]), "audit": "{}"}]


def computes() -> Worker:
    return row


def answers() -> Worker:
    async def close() -> None:
        closed.append("model")

    async def work(payload: Mapping[str, Any]) -> list[Row]:
        await asyncio.sleep(0)
        return row(payload)

    close_later(close)
    return work


def breaks() -> Worker:
    raise UsageError("no such model")


@pytest.mark.parametrize(("make_worker", "asynchronous"), [(computes, False), (answers, True)])
def test_a_task_that_fails_costs_no_other(tmp_path: Path, make_worker: Any, asynchronous: bool) -> None:
    run, log = Folder(str(tmp_path)), io.StringIO()
    stage = PlainStage(name="s", table="audits", make_worker=make_worker, asynchronous=asynchronous)
    closed.clear()

    with pytest.raises(StageError, match=r"^s: 1 of 12 rows failed; what others made is kept(?s:.*)planted"):
        run_stage(run, stage, N_TASKS, tasks(), cluster=HERE, log=log)

    made = {row["haystack_id"] for row in run.read("audits").to_pylist()}
    assert made == {str(n) for n in range(N_TASKS)} - {str(FAILS)}
    assert "in this process" in log.getvalue()
    assert closed == (["model"] if asynchronous else [])


def test_tasks_of_one_block_keep_their_payloads(tmp_path: Path) -> None:
    """Some make rows of several work ids."""

    def makes() -> Worker:
        return lambda payload: [{"work_id": one, "haystack_id": payload["of"], "audit": "{}"} for one in payload["ids"]]

    ids = {str(n): [f"{n}-{place}" for place in range(1 + n % 3)] for n in range(99)}
    given = [Task(work_ids=tuple(own), payload={"of": of, "ids": own}) for of, own in ids.items()]
    run, stage = Folder(str(tmp_path)), PlainStage(name="s", table="audits", make_worker=makes)
    run_stage(run, stage, sum(map(len, ids.values())), given, cluster=HERE, log=io.StringIO())
    made = {row["work_id"]: row["haystack_id"] for row in run.read("audits").to_pylist()}
    assert made == {one: of for of, own in ids.items() for one in own}


def test_a_worker_that_cannot_be_made_ends_the_stage(tmp_path: Path) -> None:
    stage = PlainStage(name="s", table="audits", make_worker=breaks)
    with pytest.raises(StageError, match="no such model; what is finished is kept"):
        run_stage(Folder(str(tmp_path)), stage, N_TASKS, tasks(), cluster=HERE, log=io.StringIO())


class Taken(list[list[Parcel]]):
    """Blocks of a task each, with the number of those that somebody has taken."""

    n = 0

    def __iter__(self) -> Iterator[list[Parcel]]:
        for one in super().__iter__():
            self.n += 1
            yield one


def parcels(n: int) -> list[Parcel]:
    """The tasks as they are carried."""
    return [PlainStage(name="s", make_worker=computes).parcel(task) for task in tasks(n)]


def stream(run: Path, make_worker: Any, blocks: Blocks, *, slots: int) -> Iterator[TaskReceipt]:
    """Do the tasks of a stage that waits, in this process."""
    stage = PlainStage(name="s", table="audits", make_worker=make_worker, asynchronous=True, slots=slots)
    return receipts(Folder(str(run)), [Operator((stage,))], blocks, Place(HERE, here=True))


def test_no_more_are_open_than_slots_and_all_that_is_open_ends(tmp_path: Path) -> None:
    n_open, most, ended = 0, 0, []

    async def perform(payload: Mapping[str, Any]) -> list[Row]:
        nonlocal n_open, most
        n_open += 1
        most = max(most, n_open)
        try:
            await (asyncio.sleep(0) if payload["number"] in {0, 2, 3, 5, 6} else asyncio.Event().wait())
        except asyncio.CancelledError:
            ended.append(payload["work_id"])
            raise
        finally:
            n_open -= 1
        return row(payload)

    async def close() -> None:
        ended.append("closed")

    def make_worker() -> Worker:
        close_later(close)
        return perform

    blocks = Taken([one] for one in parcels(20))
    with closing(stream(tmp_path, make_worker, blocks, slots=3)) as begun:  # type: ignore[type-var]  # a generator
        assert sorted(one["work_ids"][0] for one in islice(begun, 5)) == ["w0", "w2", "w3", "w5", "w6"]

    assert blocks.n <= 5 + 3
    assert most == 3
    assert n_open == 0
    assert ended[-1] == "closed"
    assert set(ended[:-1]) <= {"w1", "w4", "w7"}


def test_closing_ends_though_a_future_is_never_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobs.stages.engines._CLOSE_S", 0.05)
    closed_too = list[str]()

    async def waits_for_ever() -> None:
        await asyncio.get_running_loop().create_future()

    async def close() -> None:
        closed_too.append("the other")

    def make_worker() -> Worker:
        close_later(close)
        close_later(waits_for_ever)
        return answers()

    assert [one["work_ids"] for one in stream(tmp_path, make_worker, [parcels(1)], slots=1)] == [["w0"]]
    assert closed_too == ["the other"]


class Granting:
    """Grants all that is asked."""

    async def lease(self, ask: LeaseAsk) -> Lease:
        return Lease(len(ask.sizes), again_s=0.01, limits=QuotaLimits())

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

    def make_worker() -> Worker:
        keeper = LedgerKeeper(str(tmp_path), "job")
        settings, context = ChatSettings(model="m"), CallContext(job="job", stage="s", ledger=str(tmp_path))
        asked = ChatPool(Answers(), settings, context, leases=Granting(), keeper=Local(keeper), price=None)
        close_later(asked.close)

        async def ask(payload: Mapping[str, Any]) -> list[Row]:
            messages = (Message("user", payload["work_id"]),)
            await asked.complete(ChatRequest(messages=messages, max_tokens=9, input_tokens=9))
            return []

        return ask

    sys.settrace(trace)
    try:
        with pytest.raises(Interrupted), Interruptible("x"):
            list(stream(tmp_path, make_worker, [[one] for one in parcels(6)], slots=6))
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
    now, given = [0.0], list[int]()

    def takes_long() -> Worker:
        def work(payload: Mapping[str, Any]) -> list[Row]:
            now[0] += case.seconds_a_task
            return [{"work_id": payload["work_id"], "haystack_id": "h", "audit": "{}"}]

        return work

    def elsewhere(run: Folder, chain: Sequence[Operator], blocks: Blocks, cluster: Cluster) -> Iterator[TaskReceipt]:
        given.append(len(blocks))
        return receipts(run, chain, blocks, Place(cluster, here=True))

    monkeypatch.setattr(engines.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(engines, "on_ray", elsewhere)
    stage = PlainStage(name="s", table="audits", make_worker=takes_long, holds_model=True)
    cluster = Cluster(address=None, workers=case.workers)
    report = run_stage(
        Folder(str(tmp_path)), stage, N_TASKS, tasks(), cluster=cluster, log=io.StringIO(), here=case.here
    )

    assert given == case.to_ray
    assert report.pieces == N_TASKS
    assert report.workers == (2 if case.to_ray else 0)


def test_a_large_stage_has_no_more_commits_than_a_small_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobs.stages.accounts._MOST_COMMITS", 4)
    stage = PlainStage(name="s", table="audits", make_worker=_made, holds_model=True)  # a task a block
    run, reports = Folder(str(tmp_path)), list[int]()

    def note(report: StageReport, *, final: bool) -> None:
        reports.append(report.pieces)

    run_stage(run, stage, 99, tasks(99), cluster=HERE, note=note, log=io.StringIO())
    assert len(run.commits("audits")) == 4
    assert [*dict.fromkeys(reports)] == [25, 50, 75, 99]
    assert run.locate("audits").keys() == {f"w{n}" for n in range(99)}


def _made() -> Worker:
    return lambda payload: [{"work_id": payload["work_id"], "haystack_id": "h", "audit": "{}"}]


# ---------------------------------------------------------------- a stream of stages


class Named(NamedTuple):
    query_id: str


@dataclass(frozen=True, kw_only=True)
class Writes(Stage[Named]):
    step, name, table, columns, reads = "summarize", "write", "summaries", ("work_id", "text"), {}
    asynchronous, holds_model, slots = True, True, 2

    write: Callable[[str], Awaitable[None]]

    def items(self, plan: Plan) -> list[Item[Named]]:
        return [Item(f"summary of {one}", Named(one)) for one in plan.query_ids]

    def worker(self, _reader: SourceReader) -> Works[Named]:
        async def work(given: Sequence[Item[Named]]) -> list[Row]:
            await self.write(given[0].key.query_id)
            return [{"work_id": given[0].work_id, "text": f"about {given[0].key.query_id}"}]

        return work


@dataclass(frozen=True, kw_only=True)
class Judges(Stage[Named]):
    step, name, table, columns, reads = "judge", "judge", "verdicts", ("work_id", "reply"), {"summaries": ("text",)}
    holds_model = True

    judge: Callable[[str], None]
    waits: bool

    @property
    def asynchronous(self) -> bool:
        return self.waits

    def items(self, plan: Plan) -> list[Item[Named]]:
        sources = [(one, (Source("summaries", f"summary of {one}"),)) for one in plan.query_ids]
        return [Item(f"verdict on {one}", Named(one), source) for one, source in sources]

    def worker(self, reader: SourceReader) -> Works[Named]:
        def work(given: Sequence[Item[Named]]) -> list[Row]:
            self.judge(given[0].key.query_id)
            return [{"work_id": given[0].work_id, "reply": reader.row(given[0].sources[0], SummaryRow)["text"]}]

        async def awaited(given: Sequence[Item[Named]]) -> list[Row]:
            return work(given)

        return awaited if self.waits else work


def judged(
    folder: Path,
    write: Callable[[str], Awaitable[None]],
    judge: Callable[[str], None],
    *,
    waits: bool,
    cluster: Cluster = HERE,
    stages: slice = slice(None),
) -> Folder:
    """Write a summary of each of two queries, and judge it, in one stream of these *stages*."""
    run = Folder(str(folder))
    run.write_json("benchmark.json", {"dataset_hash": "d"})
    rows = [{"query_id": query, "haystack_id": query, "text": "?"} for query in ("first", "second")]
    run.commit("queries", [run.write_part("queries", rows, work_ids=["h"])])
    plan = Plan([Writes(run=run.url, write=write), Judges(run=run.url, judge=judge, waits=waits)], Benchmark(run.url))
    run_stages(run, plan, plan.stages[stages], Means(cluster, log=io.StringIO()))
    return run


async def at_once(_: str) -> None:
    """Write without waiting."""


def test_operators_that_find_no_room_together_run_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[list[str]] = []

    def elsewhere(run: Folder, chain: Sequence[Operator], blocks: Blocks, cluster: Cluster) -> Iterator[TaskReceipt]:
        sent.append([one.name for one in chain])
        return receipts(run, chain, blocks, Place(cluster, here=True))

    monkeypatch.setattr(engines, "on_ray", elsewhere)
    monkeypatch.setattr(Cluster, "start", lambda _: None)
    for name, fits, chains in (("all", True, [["write", "judge"]]), ("one", False, [["write"], ["judge"]])):
        monkeypatch.setattr("jobs.stages.runner.fits", lambda *_, fits=fits: fits)
        sent.clear()
        cluster = Cluster(address=None, workers=2)
        run = judged(tmp_path / name, at_once, lambda _: None, waits=False, cluster=cluster)
        assert sent == chains
        assert run.read("verdicts").num_rows == 2


def test_a_stream_whose_sources_nobody_has_made_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="judge reads 2 pieces of summaries, 2 are not there; do the stages before"):
        judged(tmp_path, at_once, lambda _: None, waits=True, stages=slice(1, None))


@pytest.mark.timeout(60)
@pytest.mark.parametrize("waits", [False, True])
def test_a_summary_is_judged_while_another_is_written(tmp_path: Path, *, waits: bool) -> None:
    done, one_is_judged = list[str](), threading.Event()

    async def write(query: str) -> None:
        if query == "first":
            await asyncio.to_thread(one_is_judged.wait)
        done.append(f"written {query}")

    def judge(query: str) -> None:
        done.append(f"judged {query}")
        one_is_judged.set()

    run = judged(tmp_path, write, judge, waits=waits)
    assert done == ["written second", "judged second", "written first", "judged first"]
    assert sorted(run.read("verdicts")["reply"].to_pylist()) == ["about first", "about second"]


def test_calls_go_on_while_a_judge_computes(tmp_path: Path) -> None:
    computes, answered = threading.Event(), threading.Event()

    async def write(query: str) -> None:
        if query == "second":
            await asyncio.to_thread(computes.wait)
            answered.set()

    def judge(query: str) -> None:
        computes.set()
        assert answered.wait(timeout=30), f"no call was answered while {query} was judged"

    assert judged(tmp_path, write, judge, waits=False).read("verdicts").num_rows == 2


@pytest.mark.parametrize("waits", [False, True])
def test_what_failed_leaves_what_is_made_from_it_unmade_and_is_told_alone(tmp_path: Path, *, waits: bool) -> None:
    asked = list[str]()

    def judge(query: str) -> None:
        asked.append(query)
        raise ValueError("planted in the judge")

    async def write(query: str) -> None:
        if query == "first":
            raise ValueError("planted in the writer")

    with pytest.raises(StageError, match=r"^write: 1 of 2 summaries failed(?s:.*)planted in the writer") as told:
        judged(tmp_path, write, judge, waits=waits)
    assert "judge" not in str(told.value)
    assert asked == ["second"]
    run = Folder(str(tmp_path))
    assert [*run.locate("summaries")] == ["summary of second"]
    assert not run.locate("verdicts")
