"""The table and the quotes of a report's first page, from scores whose places are known."""

from __future__ import annotations

from typing import Any

from longform.report.first_page import Quotes, leaderboard
from longform.report.scores import budgets_told
from longform.results.evidence import Unfolded
from longform.tables.cells import cell_rows
from tests.longform.report.test_findings import cell, results


def pairwise(systems: list[list[str]], apart: dict[tuple[int, int], float], **more: Any) -> dict[str, Any]:
    """All pairs in their order; those of *apart* differ by so much more than chance."""
    n = len(systems)
    places = [(one, other) for one in range(n) for other in range(one + 1, n)]
    pairs = {"difference": [apart.get(at, 0.1) for at in places], "p": [0.01 if at in apart else 0.9 for at in places],
             "half": [None for _ in places], "n_clusters": None}  # fmt: skip
    return {
        "better": "higher", "n_clusters": 12, "unit": "points", "title": "joint",
        "judge": "j", "dataset": None, "measure": "joint", "smallest_p": 0.001, "level": 0.05, "pairs": pairs,
        "systems": [{"system": name, "same": same, "score": 0.0, "letters": None} for name, *same in systems], **more,
    }  # fmt: skip


CELLS = [cell(f"{name}, full", score) for name, score in zip("abcd", (50.0, 48.0, 30.0, 30.0), strict=True)]


def places(found: dict[str, Any]) -> dict[str, str | None]:
    table = leaderboard(results(cells=CELLS, pairwise=[found]))
    assert table is not None
    return {row[1].text.partition(",")[0]: row[0].text for row in cell_rows(table) if row[1].text}


def test_places_are_those_that_the_tests_of_pairs_leave_open() -> None:
    systems = [["a, full"], ["b, full"], ["c, full", "d, full"]]  # two systems of the same summaries

    assert places(pairwise(systems, {(0, 2): 20.0, (1, 2): 18.0})) == {
        "a": "1 to 2", "b": "1 to 2", "c": "3 to 4", "d": "3 to 4"
    }  # fmt: skip
    assert places(pairwise(systems, {(0, 1): 2.0, (0, 2): 20.0}))["a"] == "1"
    assert places(pairwise(systems, {(0, 1): -2.0}))["b"] == "1 to 3"


def test_no_place_is_told_if_no_test_could_show_one() -> None:
    assert set(places(pairwise([["a, full"], ["b, full"]], {(0, 1): 9.0}, smallest_p=0.25)).values()) == {None}


def test_one_system_has_no_leaderboard() -> None:
    assert leaderboard(results(cells=CELLS[:1])) is None


def test_a_cost_that_is_not_known_has_its_reason() -> None:
    reasons = {"usd_a_summary": "price not known"}
    cells = [cell(f"{name}, full", 50.0, usd_a_summary=None, reasons=reasons) for name in "ab"]
    table = leaderboard(results(cells=cells))

    assert table is not None
    assert {row[-1].reason for row in cell_rows(table)} == {"price not known"}


def test_unequal_budgets_are_told_once_for_all_systems_of_a_setting() -> None:
    limits = {"full": None, "bm25": 3500, "oracle": 3500}
    own = [
        cell(f"a, {setting}", 50.0, axes={"retriever": setting, "order": "given", "budget_tokens": limit})
        for setting, limit in limits.items()
    ]

    told = "Prompts had unequal budgets for documents: no limit for full; 3,500 tokens for bm25, oracle."
    assert budgets_told([*own, *own]) == [f"{told} Differences may be of these."]
    assert budgets_told(own[1:]) == []


def summary(name: str, system: str, scores: dict[str, float | None], text: str = "It fell.") -> Unfolded:
    facts: Any = {
        "summary_id": name, "summarizer": system, "setting": "full", "bullets": [{"text": text}] if text else [],
        "scores": {judge: {"joint": value} for judge, value in scores.items()},
    }  # fmt: skip
    query: Any = {"text": "What fell?"}
    return Unfolded(facts, query)


def test_the_best_the_worst_and_the_most_disputed_are_quoted_once() -> None:
    cells = [cell(f"{name}, full", 50.0, judge=judge) for judge in ("j", "k") for name in "ab"]
    measures: Any = [{"name": "joint", "title": "joint", "unit": "points", "better": "higher", "told": ""}]
    quotes = Quotes(results(cells=cells, measures=measures))
    passing = [
        summary("best", "a", {"j": 0.9, "k": 0.8}),
        summary("twin", "a twin", {"j": 1.0, "k": 1.0}),
        summary("no text", "a", {"j": 0.0, "k": 0.0}, ""),
        summary("disputed", "b", {"j": 0.5, "k": 0.1}, "word " * 200),
        summary("worst", "b", {"j": 0.2, "k": 0.1}),
        summary("unjudged", "b", {"j": None, "k": 0.5}),
    ]

    for one in passing:
        quotes.add(one)
    found = {quote["head"]: quote for quote in quotes.quotes({"best": "summaries-0001.html"})}
    assert list(found) == ["Best: 90 by j, 80 by k", "Worst: 20 by j, 10 by k", "Most disputed: 50 by j, 10 by k"]
    assert [quote["system"] for quote in found.values()] == ["a", "b", "b"]
    assert found["Best: 90 by j, 80 by k"]["address"] == "summaries-0001.html#summary=best"
    assert found["Most disputed: 50 by j, 10 by k"]["text"].endswith(" …")
