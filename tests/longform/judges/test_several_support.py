"""Several judges of support beside each other, with cells written by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from longform.judges.meta_evaluation import Cells, LabelledSummary, Scoring
from longform.judges.several import ORIGINAL, SupportJudge, support_meta
from longform.metrics.agreement import Label

SCORING = Scoring(resamples=200)
N = 8

SENTENCES = [LabelledSummary(f"a{n}", "said", f"article{n}", "sentence", (True, False)) for n in range(N)]
WHOLE = [LabelledSummary(f"b{n}", "whole", f"other{n}", "summary", (n % 2 == 0,)) for n in range(N)]


def people(*names: str) -> list[Label]:
    found = []
    for summary in [*SENTENCES, *WHOLE]:
        for unit, label in enumerate(summary.labels):
            answer = "supported" if label else "unsupported"
            found += [Label(name, summary.summary_id, (summary.summary_id, unit), answer) for name in names[:1]]
    return found


def judge(name: str, right: bool, *, cuts: bool = False, modes: tuple[str, ...] = ("document", "full")) -> SupportJudge:
    """A judge that is right, or finds one of two documents to support all."""
    cells: dict[tuple[str, str], np.ndarray] = {}
    for mode in modes:
        for summary in SENTENCES:
            yes = [[1.0, 0.0], [0.2, 0.1]] if right else [[0.0, 0.0], [1.0, 1.0]]
            cells[mode, summary.summary_id] = np.array(yes if mode == "document" else [yes[0]])
        for summary in WHOLE:
            yes = [[1.0 if summary.labels[0] or not right else 0.0] * 3, [0.0] * 3]
            cells[mode, summary.summary_id] = np.array(yes if mode == "document" else [yes[0]])
    return made(name, cells, cuts=cuts)


def made(name: str, cells: Cells, *, cuts: bool = False) -> SupportJudge:
    return SupportJudge(name, cells, cuts, None, SCORING, {"usd": 0.0, "why": "none"}, None, 0, 10)


def meta(*judges: SupportJudge, modes: tuple[str, ...] = ("document", "full")) -> dict[str, Any]:
    return support_meta(judges, [*SENTENCES, *WHOLE], [], people("ann"), modes, importance=None)


def row(found: dict[str, Any], name: str, documents: str, sentences: str = "mean"):  # type: ignore[no-untyped-def]
    wanted = (name, documents, sentences)
    return next(one for one in found["grid"] if (one["judge"], one["documents"], one["sentences"]) == wanted)


def test_balanced_accuracy_of_each_merge_and_its_average_by_hand() -> None:
    found = meta(judge("right", True))

    for documents in ("max", "full"):
        assert row(found, "right", documents)["data_sets"]["said"]["value"] == 1.0
        assert row(found, "right", documents)["average"]["value"] == 1.0
    # the second document supports nothing: a minimum says no to all
    assert row(found, "right", "min")["data_sets"]["said"]["value"] == 0.5
    assert row(found, "right", "min")["average"]["value"] == 0.5


def test_the_average_has_the_interval_of_sets_drawn_apart() -> None:
    """A judge that is right in one set and says yes to all in the other: 1 and 0.5, neither of which moves."""
    right, generous = judge("mixed", True), judge("mixed", False)
    cells = {key: (generous if key[1].startswith("a") else right).cells[key] for key in right.cells}
    average = row(meta(made("mixed", cells)), "mixed", "max")["average"]

    assert (average["value"], average["low"], average["high"], average["n"]) == (0.75, 0.75, 0.75, 3 * N)


def test_a_data_set_of_one_article_leaves_the_average_without_an_interval() -> None:
    one = judge("right", True)
    summaries = [*SENTENCES, *(summary._replace(article="one") for summary in WHOLE)]
    found = support_meta([one], summaries, [], people("ann"), ("document",), importance=None)

    average = row(found, "right", "max")["average"]
    assert (average["value"], average["low"], average["n"]) == (1.0, None, 3 * N)


def test_the_joined_documents_of_a_judge_that_cuts_them_are_its_original() -> None:
    found = meta(judge("cutter", True, cuts=True), judge("reader", True))

    assert {one["documents"] for one in found["grid"] if one["judge"] == "cutter"} == {ORIGINAL, "min", "mean", "max"}
    assert {one["documents"] for one in found["grid"] if one["judge"] == "reader"} == {"full", "min", "mean", "max"}


def test_judges_differ_in_each_set_and_on_average() -> None:
    found = meta(judge("right", True), judge("generous", False))
    differences = {one["data_set"]: one["difference"] for one in found["differences"]}

    assert list(differences) == ["said", "whole", "average"]
    assert differences["said"]["value"] == pytest.approx(0.5)
    assert differences["average"]["value"] == pytest.approx(0.5)
    assert (differences["said"]["n_clusters"], differences["average"]["n_clusters"]) == (N, N)
    assert (differences["average"]["n"], differences["said"]["n"]) == (3 * N, 2 * N)


def test_the_smallest_set_bounds_the_average() -> None:
    few = [*SENTENCES[:3], *WHOLE]
    labels = [one for one in people("ann") if one.summary_id in {summary.summary_id for summary in few}]
    found = support_meta(
        [judge("right", True), judge("generous", False)], few, [], labels, ("document",), importance=None
    )
    average = found["differences"][-1]["difference"]

    assert (average["n_clusters"], average["low"]) == (3, None)


def test_differences_need_each_document_apart() -> None:
    found = meta(judge("a", True, modes=("full",)), judge("b", False, modes=("full",)), modes=("full",))

    assert found["differences"] == []
    assert "mode document" in (found["differences_reason"] or "")


def test_unjudged_labels_are_in_no_figure() -> None:
    cells = dict(judge("gappy", True).cells)
    cells["document", "a0"] = np.full((2, 2), np.nan)
    found = row(meta(made("gappy", cells)), "gappy", "max")["data_sets"]["said"]

    assert (found["value"], found["n"]) == (1.0, 2 * (N - 1))


def test_a_set_of_one_class_has_no_figure_and_no_average() -> None:
    yes = [LabelledSummary(f"c{n}", "yes", f"c{n}", "summary", (True,)) for n in range(N)]
    cells = {("document", one.summary_id): np.ones((1, 1)) for one in yes}
    labels = [Label("ann", one.summary_id, (one.summary_id, None), "supported") for one in yes]
    found = support_meta([made("j", cells)], yes, [], labels, ("document",), importance=None)
    only = row(found, "j", "max")

    assert only["data_sets"]["yes"]["value"] is None
    assert only["average"]["value"] is None
    assert only["reasons"]["average"] == "undefined in yes"


def test_two_people_are_a_ceiling_for_judges_of_support() -> None:
    summaries = [LabelledSummary(f"d{n}", "two", f"d{n}", "summary", (n % 2 == 0, n % 2 == 0)) for n in range(N)]
    labels = [
        Label(name, one.summary_id, (one.summary_id, None), "supported" if label else "unsupported")
        for one in summaries
        for name, label in zip(("ann", "bo"), one.labels, strict=True)
    ]
    cells = {("document", one.summary_id): np.array([[float(one.labels[0])]]) for one in summaries}
    found = support_meta([made("j", cells)], summaries, [], labels, ("document",), importance=None)["people"]

    assert found is not None
    assert (found["people"]["kappa"]["value"], found["judges"][0]["kappa"]["value"]) == (1.0, 1.0)
    assert found["judges"][0]["n_pairs"] == 2
