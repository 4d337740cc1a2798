"""Several judges of support beside each other, with cells written by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from longform.judges.merges import ORIGINAL, Cells, grid, merged_rows
from longform.judges.meta_evaluation import HeldJudge
from tests.longform.judges.labelled import SCORING, by_documents, compared_by_documents, summary

N = 8

SENTENCES = [summary(f"a{n}", True, False, data_set="said", level="sentence", article=f"article{n}") for n in range(N)]
WHOLE = [summary(f"b{n}", n % 2 == 0, data_set="whole", article=f"other{n}") for n in range(N)]


def cells_of(right: bool, modes: tuple[str, ...] = ("document", "full")) -> dict[tuple[str, str], np.ndarray]:
    """Return the cells of a judge that is right, or finds one of two documents to support all."""
    cells: dict[tuple[str, str], np.ndarray] = {}
    for mode in modes:
        for one in SENTENCES:
            yes = [[1.0, 0.0], [0.2, 0.1]] if right else [[0.0, 0.0], [1.0, 1.0]]
            cells[mode, one.summary_id] = np.array(yes if mode == "document" else [yes[0]])
        for one in WHOLE:
            yes = [[1.0 if one.said[0] or not right else 0.0] * 3, [0.0] * 3]
            cells[mode, one.summary_id] = np.array(yes if mode == "document" else [yes[0]])
    return cells


def judge(name: str, right: bool) -> HeldJudge:
    return by_documents(name, [*SENTENCES, *WHOLE], cells_of(right))


def rows(cells: Cells, summaries: Any = (*SENTENCES, *WHOLE), *, cuts: bool = False) -> dict[tuple[str, str], Any]:
    """Return the rows of a judge's merges by documents and sentences."""
    modes = dict.fromkeys(mode for mode, _ in cells)
    found = merged_rows(grid(summaries, cells, list(modes), SCORING), cuts=cuts)
    return {(row["documents"], row["sentences"]): row for row in found}


def test_balanced_accuracy_of_each_merge_and_its_average_by_hand() -> None:
    found = rows(cells_of(True))

    for documents in ("max", "full"):
        assert found[documents, "mean"]["data_sets"]["said"]["value"] == 1.0
        assert found[documents, "mean"]["average"]["value"] == 1.0
    # the second document supports nothing: a minimum says no to all
    assert found["min", "mean"]["data_sets"]["said"]["value"] == 0.5
    assert found["min", "mean"]["average"]["value"] == 0.5


def test_the_average_has_the_interval_of_sets_drawn_apart() -> None:
    """A judge that is right in one set and says yes to all in the other: 1 and 0.5, neither of which moves."""
    right, generous = cells_of(True), cells_of(False)
    cells = {key: (generous if key[1].startswith("a") else right)[key] for key in right}
    average = rows(cells)["max", "mean"]["average"]

    assert (average["value"], average["low"], average["high"], average["n"]) == (0.75, 0.75, 0.75, 3 * N)


def test_a_data_set_of_one_article_leaves_the_average_without_an_interval() -> None:
    summaries = [*SENTENCES, *(one._replace(article="one") for one in WHOLE)]

    average = rows(cells_of(True), summaries)["max", "mean"]["average"]
    assert (average["value"], average["low"], average["n"]) == (1.0, None, 3 * N)


def test_the_joined_documents_of_a_judge_that_cuts_them_are_its_original() -> None:
    assert {documents for documents, _ in rows(cells_of(True), cuts=True)} == {ORIGINAL, "min", "mean", "max"}
    assert {documents for documents, _ in rows(cells_of(True))} == {"full", "min", "mean", "max"}


def test_judges_differ_in_each_set_and_on_average() -> None:
    found = compared_by_documents([judge("right", True), judge("generous", False)], [*SENTENCES, *WHOLE])
    differences = {one["data_set"]: one["difference"] for one in found["differences"]}

    assert list(differences) == ["said", "whole", "average"]
    assert differences["said"]["value"] == pytest.approx(0.5)
    assert differences["average"]["value"] == pytest.approx(0.5)
    assert (differences["said"]["n_clusters"], differences["average"]["n_clusters"]) == (N, N)
    assert (differences["average"]["n"], differences["said"]["n"]) == (3 * N, 2 * N)


def test_the_smallest_set_bounds_the_average() -> None:
    few = [*SENTENCES[:3], *WHOLE]
    judges = [by_documents(name, few, cells_of(right)) for name, right in (("right", True), ("generous", False))]
    found = compared_by_documents(judges, few)
    average = found["differences"][-1]["difference"]

    assert (average["n_clusters"], average["low"]) == (3, None)


def test_differences_need_each_document_apart() -> None:
    summaries = [*SENTENCES, *WHOLE]
    judges = [by_documents(name, summaries, cells_of(True, ("full",))) for name in "ab"]
    found = compared_by_documents(judges, summaries, each=False)

    assert found["differences"] == []
    assert "mode document" in (found["differences_reason"] or "")


def test_unjudged_labels_are_in_no_figure() -> None:
    cells = cells_of(True)
    cells["document", "a0"] = np.full((2, 2), np.nan)
    found = rows(cells)["max", "mean"]["data_sets"]["said"]

    assert (found["value"], found["n"]) == (1.0, 2 * (N - 1))


def test_a_set_of_one_class_has_no_figure_and_no_average() -> None:
    yes = [summary(f"c{n}", True, data_set="yes") for n in range(N)]
    cells = {("document", one.summary_id): np.ones((1, 1)) for one in yes}
    only = rows(cells, yes)["max", "mean"]

    assert only["data_sets"]["yes"]["value"] is None
    assert only["average"]["value"] is None
    assert only["reasons"]["average"] == "undefined in yes"


def test_two_people_are_a_ceiling_for_judges_of_support() -> None:
    summaries = [summary(f"d{n}", n % 2 == 0, n % 2 == 0, data_set="two") for n in range(N)]
    cells = {("document", one.summary_id): np.array([[float(one.said[0])]]) for one in summaries}
    found = compared_by_documents([by_documents("j", summaries, cells)], summaries)["people"]

    assert found is not None
    assert (found["people"]["kappa"]["value"], found["judges"][0]["kappa"]["value"]) == (1.0, 1.0)
    assert found["judges"][0]["n_pairs"] == 2
