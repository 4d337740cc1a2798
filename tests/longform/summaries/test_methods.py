from itertools import permutations
from math import factorial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.summarizers.summarizer import method_of
from longform.errors import UsageError
from longform.settings.methods import (
    SHIPPED_METHODS,
    CalibrationMethodSettings,
    FocusMethodSettings,
    HierarchicalMethodSettings,
    IncrementalMethodSettings,
    MethodSettings,
    PlainMethodSettings,
)
from longform.summaries.methods import FINAL, Plan

ALL = CalibrationMethodSettings(kind="calibration", orders="all", most=5040)
METHODS: dict[str, MethodSettings] = {
    **SHIPPED_METHODS,
    "calibration-all": ALL,
    "calibration-sampled": CalibrationMethodSettings(kind="calibration", orders="sampled", n_orders=7),
}
methods = st.sampled_from(sorted(METHODS)).map(METHODS.__getitem__)
PAIRWISE = SHIPPED_METHODS["hierarchical-pairwise"]


def sampled(n_orders: int, seed: int = 0) -> CalibrationMethodSettings:
    return CalibrationMethodSettings(kind="calibration", orders="sampled", n_orders=n_orders, seed=seed)


def orders(plan: Plan) -> list[tuple[int, ...]]:
    return [step.documents for step in plan if step.task == "summarize"]


@given(methods, st.integers(0, 7), st.integers(0, 5))
def test_a_plan_is_well_formed(settings: MethodSettings, n_documents: int, seed: int) -> None:
    plan = method_of(settings).plan(n_documents, seed=seed)
    names = [step.name for step in plan]
    assert len(set(names)) == len(names)
    assert names[-1] == FINAL
    for place, step in enumerate(plan):
        assert set(step.parents) <= set(names[:place])
        assert len(set(step.documents)) == len(step.documents)
    assert {document for step in plan for document in step.documents} == set(range(n_documents))


@given(methods, st.integers(1, 7))
def test_every_step_but_the_last_is_read_and_every_task_has_what_it_needs(
    settings: MethodSettings, n_documents: int
) -> None:
    plan = method_of(settings).plan(n_documents)
    assert {parent for step in plan for parent in step.parents} == {step.name for step in plan[:-1]}
    for step in plan:
        shown, read = len(step.documents), len(step.parents)
        assert {
            "summarize": shown >= 1 and read in (0, shown),
            "snippets": shown == 1 and read == 0,
            "summaries": shown == 1 and read == 0,
            "merge": shown == 0 and read >= 2,
            "update": shown == 1 and read == 1,
        }[step.task]


@pytest.mark.parametrize(
    ("method", "n"),
    [
        ("plain", 1),
        ("focus-middle", 1),
        ("hierarchical-pairwise", 9),
        ("hierarchical-once", 6),
        ("incremental", 5),
        ("calibration-rotations", 6),
        ("calibration-all", 121),
        ("calibration-sampled", 8),
        ("snippets", 6),
        ("summaries", 6),
    ],
)
def test_the_number_of_calls_for_five_documents(method: str, n: int) -> None:
    assert len(method_of(METHODS[method]).plan(5)) == n


@pytest.mark.parametrize("n_documents", [0, 1])
@pytest.mark.parametrize("method", sorted(METHODS))
def test_one_document_is_summarised_in_one_step_unless_it_is_condensed(method: str, n_documents: int) -> None:
    (*before, step) = method_of(METHODS[method]).plan(n_documents)
    assert (step.name, step.task, step.documents) == (FINAL, "summarize", tuple(range(n_documents)))
    condensed = n_documents if METHODS[method].kind == "condensed" else 0
    assert [(one.task, one.documents) for one in before] == [(method, (0,))] * condensed


def test_plain_and_focus_differ_in_the_focus_alone() -> None:
    (plain,) = method_of(PlainMethodSettings(kind="plain")).plan(4)
    (focus,) = method_of(FocusMethodSettings(kind="focus", at="middle")).plan(4)
    assert (plain.focus, focus.focus) == (None, "middle")
    assert focus._replace(focus=None) == plain


def test_an_odd_summary_waits_for_the_next_round() -> None:
    plan = method_of(PAIRWISE).plan(5)
    merges = {step.name: step.parents for step in plan if step.task == "merge"}
    assert merges == {
        "merge-1-1": ("document-1", "document-2"),
        "merge-1-2": ("document-3", "document-4"),
        "merge-2-1": ("merge-1-1", "merge-1-2"),
        FINAL: ("merge-2-1", "document-5"),
    }


@given(st.integers(2, 40))
def test_pairwise_merges_keep_the_order_of_the_documents(n_documents: int) -> None:
    read: dict[str, tuple[int, ...]] = {}
    for step in method_of(PAIRWISE).plan(n_documents):
        read[step.name] = step.documents or read[step.parents[0]] + read[step.parents[1]]
        assert len(step.parents) in (0, 2)
    assert read[FINAL] == tuple(range(n_documents))


def test_one_pass_reads_all_summaries_in_the_order_of_the_documents() -> None:
    plan = method_of(HierarchicalMethodSettings(kind="hierarchical", merge="once")).plan(3)
    assert [step.documents for step in plan[:-1]] == [(0,), (1,), (2,)]
    assert plan[-1].parents == ("document-1", "document-2", "document-3")


def test_increments_are_a_chain_with_one_new_document_each() -> None:
    plan = method_of(IncrementalMethodSettings(kind="incremental")).plan(4)
    assert [(step.name, step.task, step.documents, step.parents) for step in plan] == [
        ("document-1", "summarize", (0,), ()),
        ("update-2", "update", (1,), ("document-1",)),
        ("update-3", "update", (2,), ("update-2",)),
        (FINAL, "update", (3,), ("update-3",)),
    ]


def test_all_orders_of_three_documents_are_there_once() -> None:
    found = orders(method_of(ALL).plan(3))
    assert sorted(found) == sorted(permutations(range(3)))
    assert found[0] == (0, 1, 2)


@given(st.integers(2, 30))
def test_rotations_put_each_document_at_each_place_once(n_documents: int) -> None:
    found = orders(method_of(SHIPPED_METHODS["calibration-rotations"]).plan(n_documents))
    everything = set(range(n_documents))
    assert found[0] == tuple(range(n_documents))
    assert all({order[place] for order in found} == everything for place in range(n_documents))
    assert all(set(order) == everything for order in found)


def test_sampled_orders_are_different_and_follow_both_seeds() -> None:
    found = orders(method_of(sampled(20)).plan(5, seed=3))
    assert len(found) == len(set(found)) == 20
    assert found == orders(method_of(sampled(20)).plan(5, seed=3))
    assert found != orders(method_of(sampled(20)).plan(5, seed=4))
    assert found != orders(method_of(sampled(20, seed=1)).plan(5, seed=3))


def test_more_samples_than_orders_are_all_of_them() -> None:
    assert sorted(orders(method_of(sampled(50)).plan(3))) == sorted(permutations(range(3)))


def test_sampled_orders_are_drawn_evenly() -> None:
    """The first place of 600 pairs of orders: chi-squared over 4 documents below its 0.999 quantile, 16.3."""
    firsts = [order[0] for seed in range(600) for order in orders(method_of(sampled(2)).plan(4, seed=seed))]
    expected = len(firsts) / 4
    assert sum((firsts.count(place) - expected) ** 2 / expected for place in range(4)) < 16.3


@pytest.mark.parametrize(("n_documents", "found"), [(5, r"5! = 120 for 5"), (100, r"found 100! for 100")])
def test_too_many_orders_are_refused_with_both_numbers(n_documents: int, found: str) -> None:
    settings = CalibrationMethodSettings(kind="calibration", orders="all", most=119)
    with pytest.raises(UsageError, match=rf"at most 119 orders .*{found}"):
        method_of(settings).plan(n_documents)


def test_as_many_orders_as_allowed_are_made() -> None:
    settings = CalibrationMethodSettings(kind="calibration", orders="all", most=24)
    assert len(orders(method_of(settings).plan(4))) == factorial(4)
