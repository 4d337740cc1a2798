"""Short tasks go to a process several at once, and stay tasks of their own."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from actors.storage.folder import Folder
from jobs.stages.accounts import StageError
from jobs.stages.cluster import Cluster
from jobs.stages.items import Row, Worker
from jobs.stages.runner import PlainStage, Task, a_block, blocks_of, run_stage

N_TASKS = 20
FAILS = 4


def make_worker() -> Worker:
    def work(payload: Mapping[str, Any]) -> list[Row]:
        if payload["number"] == FAILS:
            raise ValueError("planted")
        return [{"work_id": payload["work_id"], "haystack_id": str(payload["number"]), "audit": "{}"}]

    return work


@pytest.mark.ray
def test_a_task_that_fails_costs_no_other_of_its_block(ray_session: None, tmp_path: Path) -> None:
    assert a_block(N_TASKS, workers=1) == 3
    run, stage = Folder(str(tmp_path)), PlainStage(name="s", table="audits", make_worker=make_worker)
    tasks = [Task(work_ids=(f"w{n}",), payload={"work_id": f"w{n}", "number": n}) for n in range(N_TASKS)]

    with pytest.raises(StageError, match=r"1 of 20 rows failed(?s:.*)planted"):
        run_stage(run, stage, N_TASKS, tasks, cluster=Cluster(address=None, workers=1), log=io.StringIO())

    made = {row["haystack_id"] for row in run.read("audits").to_pylist()}
    assert made == {str(n) for n in range(N_TASKS)} - {str(FAILS)}
    assert f"w{FAILS}" not in run.locate("audits")


@pytest.mark.parametrize(("n", "waits", "size"), [(100, True, 1), (3000, True, 8), (100, False, 7), (3000, False, 64)])
def test_queries_whose_calls_wait_go_alone_unless_there_are_many(n: int, waits: bool, size: int) -> None:
    """Each block costs the driver milliseconds, and its queries go on together."""
    stage = SimpleNamespace(shares_documents=False)
    chain: Any = [SimpleNamespace(asynchronous=waits, holds_model=False, stages=[stage])]
    queries = {f"q{place}": SimpleNamespace(haystack_id=f"h{place % 2}") for place in range(n)}
    plan: Any = SimpleNamespace(benchmark=SimpleNamespace(queries=queries))
    parcels: Any = [SimpleNamespace(query_id=name) for name in queries]

    blocks = blocks_of(parcels, chain, plan, workers=2)

    assert max(map(len, blocks)) == size
    assert [one.query_id for block in blocks for one in block] == sorted(queries, key=lambda q: queries[q].haystack_id)
