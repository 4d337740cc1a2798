"""Rankings and prompts come in the order of the plan, whatever order their parts were committed in."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.storage.folder import Folder
from jobs.results.frames import packed_queries, ranked_queries
from jobs.stages.pack import Packed
from jobs.stages.retrieve import Ranked

WANTED = {f"w{n}": Ranked(f"q{n}", "h", "bm25") for n in range(4)}


@pytest.mark.parametrize("committed", [("w0", "w1", "w2", "w3"), ("w2", "w0", "w3", "w1")])
def test_rankings_stand_in_the_order_of_the_plan(tmp_path: Path, committed: tuple[str, ...]) -> None:
    run = Folder(str(tmp_path))
    for work_id in committed:
        rows = [{"work_id": work_id, "doc_id": f"d{rank}", "rank": rank} for rank in (2, 0, 1)]
        run.commit("rankings", [run.write_part("rankings", rows, work_ids=[work_id])])

    found = ranked_queries(run, WANTED, 2)

    assert found["query_id"].to_list() == ["q0", "q1", "q2", "q3"]
    assert found["doc_ids"].to_list() == [["d0", "d1"]] * 4


@pytest.mark.parametrize("committed", [("given", "top"), ("top", "given"), ("top",)])
def test_of_several_orders_the_first_of_the_plan_is_measured(tmp_path: Path, committed: tuple[str, ...]) -> None:
    run = Folder(str(tmp_path))
    wanted = {order: Packed("q", "bm25", None, 600, None, None, order, None) for order in ("given", "top")}
    for work_id in committed:
        rows = [{"work_id": work_id, "doc_ids": [work_id], "cut_share": 0.5}]
        run.commit("contexts", [run.write_part("contexts", rows, work_ids=[work_id])])

    found = packed_queries(run, wanted)

    assert found["doc_ids"].to_list() == [["given"] if "given" in committed else ["top"]]
