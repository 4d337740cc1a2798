"""The page on how a run ran: who waited for whom."""

from __future__ import annotations

from typing import Any

from longform.report.how_it_ran import flow_tables


def done(name: str, began_at: float, ended_at: float, seconds: float, operator: str | None = None) -> dict[str, Any]:
    work = {
        "command": "evaluate-1",
        "operator": operator or name,
        "actors": 1,
        "pieces": 2,
        "rows": 2,
        "seconds": seconds,
    }
    return {"name": name, "work": [{**work, "began_at": began_at, "ended_at": ended_at}]}


def test_an_operator_waits_for_the_one_before_only_while_that_is_at_work() -> None:
    """The benchmark is there before anything is retrieved; summaries are written as rankings come."""
    stages = [done("synthesize", 10, 11, 1), done("retrieve", 12, 20, 3), done("summarize", 14, 22, 2)]
    (flow,) = flow_tables({"run": {"stages": stages}})

    assert [(row["begins"], row["waited"], row["waited_for"]) for row in flow.rows] == [
        (0.0, 0.0, None),
        (2.0, 5.0, None),
        (4.0, 6.0, "retrieve"),
    ]


def test_a_stage_waits_for_its_turn_if_others_of_its_actors_work_all_the_time() -> None:
    """A judge stands still while a check of the same actors goes on, long after the last summary is there."""
    stages = [
        done("summarize", 10, 16, 6),
        done("judge", 11, 22, 2, "judge, check"),
        done("check", 11, 23, 10, "judge, check"),
    ]
    (flow,) = flow_tables({"run": {"stages": stages}})

    assert [row["waited_for"] for row in flow.rows] == [None, "its turn", "its turn"]
    assert flow.told is not None
    assert flow.told.endswith("Longest at work: check.")
