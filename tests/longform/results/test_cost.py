"""Systems that none beats in both quality and cost."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from longform.results.aggregate import Averaging, SummaryInfo
from longform.results.cost import Cost, cost, frontier_of
from longform.results.evidence import Evidence
from longform.results.score_table import ScoreTable
from longform.results.spent import NOTHING, Spent, summed

N_QUERIES = 12


def found(systems: dict[str, tuple[float, Spent]]) -> Cost:
    """Return the study of systems by their score and what each summary took; scores vary by the query alike."""
    infos = {
        f"{name}:{query}": SummaryInfo(f"{name}:{query}", f"q{query}", name, "bm25", "given", None, None, None)
        for name in systems
        for query in range(N_QUERIES)
    }
    rows: list[Any] = [
        {
            "judge": "j", "summary_id": info.summary_id, "measure": "joint", "total": systems[info.summarizer][0],
            "n": 1, "n_unjudged": 0, "reason": None, "repeat": 0,
        }
        for info in infos.values()
    ]  # fmt: skip
    evidence = SimpleNamespace(
        averaging=Averaging("pooled", 1, 200),
        measures=[],
        infos=infos,
        contents={},
        score_table=ScoreTable(rows, infos, ["j"]),
        spent={key: systems[info.summarizer][1] for key, info in infos.items()},
        calls=None,
    )
    result = cost(cast("Evidence", evidence))
    assert result is not None
    return result


def tokens(n: float, usd: float | None = None) -> Spent:
    return Spent(usd, n, 0.0, None)


def test_a_point_is_on_the_frontier_if_none_is_at_least_as_cheap_and_as_good() -> None:
    points = [(1.0, 0.5), (1.0, 0.4), (2.0, 0.5), (2.0, 0.9), (3.0, 0.9), (2.0, 0.9)]
    assert frontier_of(points) == [True, False, False, True, False, True]


def test_a_dearer_system_that_is_no_better_is_beaten_and_says_by_which() -> None:
    (frontier,) = found({"small": (0.3, tokens(10)), "big": (0.6, tokens(90)), "waste": (0.2, tokens(50))})["frontiers"]
    points = {point["summarizer"]: point for point in frontier["points"]}

    assert (frontier["currency"], frontier["measure"]) == ("tokens", "joint")
    assert {name: point["on_frontier"] for name, point in points.items()} == {
        "small": True,
        "big": True,
        "waste": False,
    }
    assert points["waste"]["beaten_by"] == "small, bm25"
    assert points["big"]["not_distinguishable_from"] == []


def test_dollars_count_where_they_are_known_of_as_many_and_differ() -> None:
    dollars = {"a": (0.3, tokens(10, 0.5)), "b": (0.6, tokens(5, 0.9))}
    assert found(dollars)["frontiers"][0]["currency"] == "usd_a_summary"
    free = {"a": (0.3, tokens(10, 0.0)), "b": (0.6, tokens(5, 0.0))}
    assert found(free)["frontiers"][0]["currency"] == "tokens"
    partly = {**dollars, "c": (0.7, tokens(50))}
    assert found(partly)["frontiers"][0]["currency"] == "tokens"


def test_a_system_of_unknown_cost_has_no_place_and_is_named() -> None:
    result = found(
        {"offline": (0.3, NOTHING), "known": (0.6, tokens(5)), "unknown": (0.7, Spent(None, None, None, None))}
    )
    (frontier,) = result["frontiers"]

    assert frontier["left_out"] == [{"system": "unknown, bm25", "reason": "cost not known"}]
    by_name = {row["summarizer"]: row for row in result["systems"]}
    assert (by_name["offline"]["usd_a_summary"], by_name["unknown"]["usd_a_summary"]) == (0.0, None)
    assert by_name["unknown"]["reasons"]["usd_a_summary"] == "price or usage not known of all summaries"


def test_an_unknown_part_makes_the_sum_unknown() -> None:
    assert summed([tokens(1, 0.5), tokens(2)]) == Spent(None, 3, 0, None)
    assert summed([tokens(1, 0.5), tokens(2, 0.25)]).usd == pytest.approx(0.75)


def test_a_system_of_the_same_cost_is_not_called_cheaper() -> None:
    systems = {"small": (0.3, tokens(10)), "one": (0.6, tokens(50)), "other": (0.6, tokens(50))}
    points = {point["summarizer"]: point for point in found(systems)["frontiers"][0]["points"]}

    assert all(points[name]["on_frontier"] for name in ("one", "other"))
    assert [points[name]["not_distinguishable_from"] for name in ("one", "other")] == [[], []]
