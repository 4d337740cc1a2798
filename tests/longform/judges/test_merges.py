"""Support judges against people: merged by hand, the grid, the orders, and what a missing cell does."""

from __future__ import annotations

import numpy as np
import pytest

from longform.judges.merges import (
    BY_ORDER,
    FULL,
    ORDERS,
    Scoring,
    by_data_set,
    grid,
    label_counts,
    labelled_items,
    order_study,
)
from longform.metrics.faithfulness import MERGES, Merging
from tests.longform.judges.labelled import summary

NAN = np.nan
SCORING = Scoring(resamples=100)
OURS, RELEASE = "ours", "release"
CELLS = np.array([[0.9, 0.2, 0.4], [0.1, 0.8, 0.6]])


def numbers(cells: object, merging: Merging, *, level: str = "summary", fidelity: str = OURS) -> list[float | None]:
    matrix = np.array(cells, dtype=np.float64)
    labels = (True,) if level == "summary" else (True,) * matrix.shape[1]
    one = summary("s", *labels, level=level)
    items = labelled_items(one, matrix, merging, Scoring(fidelity))  # type: ignore[arg-type]
    return [None if item.judge is None else item.judge.number for item in items]


@pytest.mark.parametrize(
    ("documents", "sentences", "expected"),
    [
        ("max", "mean", (0.9 + 0.8 + 0.6) / 3),
        ("max", "min", 0.6),
        ("min", "max", 0.4),
        ("min", "mean", (0.1 + 0.2 + 0.4) / 3),
        ("mean", "max", 0.5),
    ],
)
def test_number_of_a_summary_by_hand(documents: str, sentences: str, expected: float) -> None:
    assert numbers(CELLS, Merging(documents, sentences)) == [pytest.approx(expected)]  # type: ignore[arg-type]


def test_sentences_keep_their_own_numbers() -> None:
    for how in MERGES:
        assert numbers(CELLS, Merging("max", how), level="sentence") == [0.9, 0.8, 0.6]


def test_missing_cell_that_could_decide_leaves_undecided_and_the_release_reads_past_it() -> None:
    cells = [[0.2, NAN], [NAN, 1.0]]

    assert numbers(cells, Merging("max", "mean"), level="sentence") == [None, 1.0]
    assert numbers(cells, Merging("max", "mean"), level="sentence", fidelity=RELEASE) == [0.2, 1.0]
    assert numbers(cells, Merging("max", "min")) == [None]
    assert numbers(cells, Merging("max", "min"), fidelity=RELEASE) == [0.2]
    assert numbers([[0.4, NAN]], Merging("max", "min")) == [None]
    assert numbers([[0.4, NAN]], Merging("max", "min"), fidelity=RELEASE) == [0.4]


def test_labels_of_sentences_want_a_cell_each() -> None:
    with pytest.raises(ValueError, match="a sentence for each of 2 labels, got 3"):
        labelled_items(summary("s", True, False, level="sentence"), CELLS, Merging(), SCORING)


SUMMARIES = [
    summary("a1", True, article="a"),
    summary("a2", False, article="a"),
    summary("b1", True, False, data_set="y", level="sentence"),
    summary("b2", True, False, data_set="y", level="sentence"),
]
DOCUMENT_CELLS = {
    ("document", "a1"): np.array([[0.9, 0.9], [0.1, 0.8]]),
    ("document", "a2"): np.array([[0.9, 0.4], [0.1, 0.1]]),
    ("document", "b1"): np.array([[0.6, 0.7]]),
    ("document", "b2"): np.array([[0.9, 0.1]]),
}


def test_grid_by_hand() -> None:
    """For x, maxima have means 0.9 and 0.65, minima over sentences 0.9 and 0.4. For y, 2 of 2 and 1 of 2 are right."""
    rows = {(r["documents"], r["sentences"]): r for r in grid(SUMMARIES, DOCUMENT_CELLS, ["document"], SCORING)}
    figures = {way: row["data_sets"]["x"]["balanced_accuracy"]["value"] for way, row in rows.items()}

    assert set(rows) == {(documents, sentences) for documents in MERGES for sentences in MERGES}
    assert figures["max", "mean"] == 0.5
    assert figures["max", "min"] == 1.0
    for how in MERGES:
        assert rows["max", how]["data_sets"]["y"]["balanced_accuracy"]["value"] == 0.75
    assert rows["max", "min"]["mean"]["balanced_accuracy"] == pytest.approx(0.875)
    assert rows["max", "mean"]["data_sets"]["x"]["auroc"]["value"] == 1.0


def test_one_document_makes_full_and_all_merges_equal() -> None:
    cells = {**DOCUMENT_CELLS, (FULL, "b1"): np.array([[0.6, 0.7]]), (FULL, "b2"): np.array([[0.9, 0.1]])}
    rows = grid([s for s in SUMMARIES if s.data_set == "y"], cells, ["document", FULL], SCORING)

    assert len(rows) == 12
    assert len({str(row["data_sets"]) for row in rows}) == 1


def test_mean_over_data_sets_is_null_where_one_has_one_class_only() -> None:
    alone = [*SUMMARIES[:2], summary("b1", True, True, data_set="y", level="sentence")]
    (row,) = [
        r for r in grid(alone, DOCUMENT_CELLS, ["document"], SCORING) if r["documents"] == r["sentences"] == "max"
    ]

    assert row["mean"]["balanced_accuracy"] is None
    assert row["mean_reason"] == "undefined in y"
    assert row["data_sets"]["x"]["reason"] is None


def test_threshold_is_the_caller_s() -> None:
    strict = Scoring(resamples=100, threshold=0.7)

    assert (
        by_data_set(SUMMARIES, DOCUMENT_CELLS, "document", Merging(), strict)["x"]["balanced_accuracy"]["value"] == 1.0
    )


def test_cells_that_are_not_judged_are_counted() -> None:
    cells = {("document", "a1"): np.array([[NAN]]), ("document", "a2"): np.array([[0.1]])}
    found = by_data_set(SUMMARIES[:2], cells, "document", Merging(), SCORING)["x"]

    assert (found["n_unjudged"], found["n_unsupported"], found["balanced_accuracy"]["value"]) == (1, 1, None)


def ordered(right: dict[str, int]) -> dict[tuple[str, str], np.ndarray]:
    """Cells of four summaries, of which as many as *right* says are judged as labelled, by order."""
    names = ["p1", "p2", "n1", "n2"]
    truth = [1.0, 1.0, 0.0, 0.0]
    return {
        (BY_ORDER[order].name, name): np.array([[value if place < right[order] else 1 - value]])
        for order in ORDERS
        for place, (name, value) in enumerate(zip(names, truth, strict=True))
    }


FOUR = [summary("p1", True), summary("p2", True), summary("n1", False), summary("n2", False)]


def test_order_study_by_hand() -> None:
    """Balanced accuracies 1, 0.75, 0.5, 0.75: the set moves by 0.5; the middle order stays 0.5 below the best."""
    study = order_study(FOUR, ordered({"original": 4, "top": 3, "middle": 2, "bottom": 3}), SCORING)

    assert study["sensitivity"]["data_sets"] == {"x": 0.5}
    assert study["sensitivity"]["orders"] == {"original": 0.0, "top": 0.25, "middle": 0.5, "bottom": 0.25}


def test_data_set_without_orders_is_left_out_and_one_class_makes_sensitivity_null() -> None:
    cells = ordered(dict.fromkeys(ORDERS, 4)) | {(FULL, "z"): np.array([[1.0]])}
    study = order_study([*FOUR, summary("z", True, data_set="z")], cells, SCORING)
    one_class = order_study(FOUR[:2], ordered(dict.fromkeys(ORDERS, 4)), SCORING)

    assert [row["data_set"] for row in study["rows"]] == ["x"]
    assert one_class["sensitivity"] is None
    assert one_class["reason"]


def test_counts_of_labels() -> None:
    x, y = label_counts(SUMMARIES)

    assert (x["n_labels"], x["n_supported"], x["n_summaries"], x["n_articles"], x["level"]) == (2, 1, 2, 1, "summary")
    assert (y["n_labels"], y["n_supported"], y["n_articles"], y["level"]) == (4, 2, 2, "sentence")
