"""Assignment of insights to documents: bounds are met, or refused with the arithmetic."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from longform.errors import UsageError
from longform.synthesis.grammar.assignment import Bounds, assign_insights, assign_within

FULL = {"documents": 100, "per_document": Bounds(5, 7), "per_insight": Bounds(5, 25)}


def assigned(n_insights: int, *, seed: int = 1, **sizes: object) -> list[list[int]]:
    return assign_within(n_insights, rng=np.random.default_rng(seed), **sizes)


@st.composite
def problems(draw: st.DrawFn, *, most: int = 9) -> dict[str, object]:
    n_insights, documents = draw(st.integers(1, most)), draw(st.integers(1, most))
    per_document = sorted(draw(st.tuples(st.integers(0, n_insights), st.integers(0, n_insights))))
    per_insight = sorted(draw(st.tuples(st.integers(0, documents), st.integers(0, documents))))
    return {
        "n_insights": n_insights,
        "documents": documents,
        "per_document": Bounds(*per_document),
        "per_insight": Bounds(*per_insight),
    }


def feasible(problem: dict) -> bool:
    """By counting alone: a graph whose counts differ by one at most exists for any number of pairs."""
    documents, insights = problem["documents"], problem["n_insights"]
    low = max(documents * problem["per_document"].least, insights * problem["per_insight"].least)
    high = min(documents * problem["per_document"].most, insights * problem["per_insight"].most)
    return low <= high


@given(problem=problems(), seed=st.integers(0, 2**32 - 1))
def test_an_assignment_meets_both_bounds_or_is_refused(problem: dict, seed: int) -> None:
    if not feasible(problem):
        with pytest.raises(UsageError, match="statements"):
            assigned(seed=seed, **problem)
        return

    found = assigned(seed=seed, **problem)

    counts = Counter(place for places in found for place in places)
    assert len(found) == problem["documents"]
    assert all(len(set(places)) == len(places) for places in found)
    assert all(problem["per_document"].least <= len(places) <= problem["per_document"].most for places in found)
    for place in range(problem["n_insights"]):
        assert problem["per_insight"].least <= counts[place] <= problem["per_insight"].most


@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(problem=problems(most=3))
def test_what_is_refused_cannot_be_done(problem: dict) -> None:
    """By trying every graph, where there are few."""
    assume(not feasible(problem))
    n_pairs = problem["n_insights"] * problem["documents"]
    pairs = [(d, i) for d in range(problem["documents"]) for i in range(problem["n_insights"])]

    for size in range(n_pairs + 1):
        for graph in combinations(pairs, size):
            of_document, of_insight = Counter(d for d, _ in graph), Counter(i for _, i in graph)
            meets = all(
                problem["per_document"].least <= of_document[d] <= problem["per_document"].most
                for d in range(problem["documents"])
            ) and all(
                problem["per_insight"].least <= of_insight[i] <= problem["per_insight"].most
                for i in range(problem["n_insights"])
            )
            assert not meets


def test_exact_bounds_are_met_exactly() -> None:
    found = assigned(60, documents=100, per_document=Bounds(6, 6), per_insight=Bounds(10, 10))

    assert {len(places) for places in found} == {6}
    assert set(Counter(place for places in found for place in places).values()) == {10}


def test_counts_are_spread_and_not_all_alike() -> None:
    counts = Counter(place for places in assigned(57, **FULL) for place in places)

    assert len(set(counts.values())) > 5


def test_one_seed_one_assignment() -> None:
    assert assigned(57, **FULL) == assigned(57, **FULL) != assigned(57, seed=2, **FULL)


def test_insights_meet_in_documents_by_chance() -> None:
    """Two insights of ten documents each share one document of a hundred on average; a greedy graph pairs them up."""
    found = assigned(60, documents=100, per_document=Bounds(6, 6), per_insight=Bounds(10, 10))
    together = Counter(pair for places in found for pair in combinations(places, 2))

    assert sum(together.values()) == 100 * 15
    assert max(together.values()) <= 6
    assert len(together) > 900


@pytest.mark.parametrize(
    ("n_insights", "changes", "message"),
    [
        pytest.param(
            60,
            {"documents": 30},
            "30 documents x 5 to 7 insights = 150 to 210 statements, "
            "but 60 insights x 5 to 25 documents = 300 to 1500; ask for 43 documents or 10 insights a document",
            id="too-few-documents",
        ),
        pytest.param(
            10,
            {"per_insight": Bounds(5, 20)},
            "= 500 to 700 statements, but 10 insights x 5 to 20 .*; let an insight stand in 50 documents",
            id="too-few-insights",
        ),
        pytest.param(4, {}, "5 to 7 insights a document, of 4 insights: expected", id="more-than-there-are"),
        pytest.param(60, {"per_insight": Bounds(5, 4)}, "5 to 4 documents an insight", id="upside-down"),
    ],
)
def test_bounds_that_cannot_be_met_are_refused_with_the_arithmetic(
    n_insights: int, changes: dict[str, object], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        assigned(n_insights, **FULL | changes)


@pytest.mark.parametrize("documents", [43, 44, 60])
def test_what_the_refusal_asks_for_suffices(documents: int) -> None:
    assert len(assigned(60, documents=documents, per_document=Bounds(5, 7), per_insight=Bounds(5, 25))) == documents


# ---------------------------------------------------------------- by subtopics


@pytest.mark.parametrize("documents", [39, 40, 57, 100])
def test_the_fewest_documents_that_fit_suffice(documents: int) -> None:
    assigned = assign_insights(
        [5] * 6,
        documents=documents,
        subtopics_per_document=2,
        insights_per_document=4,
        least_documents=5,
        rng=np.random.default_rng(11),
    )
    counts = Counter(place for places in assigned for place in places)

    assert len(counts) == 30
    assert min(counts.values()) >= 5
    assert all(len(set(places)) == 4 for places in assigned)
    assert all(set(Counter(s for s, _ in places).values()) == {2} for places in assigned)


@pytest.mark.parametrize(("least", "documents"), [(1, 9), (3, 24), (8, 60)])
def test_as_few_documents_state_an_insight_as_asked_and_no_fewer(least: int, documents: int) -> None:
    """The numbers are the fewest documents that do: 6 subtopics x 5 insights x *least* / 4, to whole visits."""
    sizes = {"subtopics_per_document": 2, "insights_per_document": 4, "least_documents": least}
    assigned = assign_insights([5] * 6, documents=documents, **sizes, rng=np.random.default_rng(3))

    assert min(Counter(place for places in assigned for place in places).values()) >= least
    with pytest.raises(UsageError, match=f"ask for {documents} documents"):
        assign_insights([5] * 6, documents=documents - 1, **sizes, rng=np.random.default_rng(3))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({"documents": 38}, r"38 documents .* = 12 documents a subtopic.* = 13; ask for 39", id="too-few"),
        pytest.param({"insights_per_document": 5}, "of each the same number", id="uneven"),
        pytest.param({"insights_per_document": 12}, "of each the same number", id="more-than-there-are"),
    ],
)
def test_sizes_of_subtopics_that_do_not_fit_are_refused(changes: dict[str, int], message: str) -> None:
    sizes = {"documents": 40, "subtopics_per_document": 2, "insights_per_document": 4, "least_documents": 5} | changes

    with pytest.raises(UsageError, match=message):
        assign_insights([5] * 6, **sizes, rng=np.random.default_rng(11))
