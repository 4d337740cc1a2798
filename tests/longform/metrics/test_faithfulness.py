"""Merging of document x sentence cells, attribution, and sensitivity to order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from longform.metrics.faithfulness import (
    GRID,
    MERGES,
    RECOMMENDED,
    Merge,
    best_documents,
    merge_documents,
    merge_documents_as_released,
    sensitivity,
    summary_faithfulness,
)

NAN = float("nan")
FULL = arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=st.floats(0, 1))
WITH_GAPS = arrays(
    np.float64, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=st.sampled_from([0.0, 0.3, 1.0, NAN])
)


@pytest.mark.parametrize(
    ("cells", "how", "ours", "released"),
    [
        pytest.param([0, NAN], "max", NAN, 0.0, id="a missing verdict among noes is no no"),
        pytest.param([1, NAN], "max", 1.0, 1.0, id="nothing could change a yes"),
        pytest.param([0, NAN], "min", 0.0, 0.0, id="nothing could change a minimum of no"),
        pytest.param([1, NAN], "min", NAN, 1.0, id="a missing verdict among yeses is no yes"),
        pytest.param([1, NAN], "mean", NAN, 1.0, id="a mean needs all"),
        pytest.param([NAN, NAN], "max", NAN, NAN, id="nothing judged"),
        pytest.param([0, 1], "mean", 0.5, 0.5, id="a mean"),
    ],
)
def test_missing_cells_decide_nothing(cells: list[float], how: Merge, ours: float, released: float) -> None:
    column = np.array(cells, dtype=float)[:, None]
    assert merge_documents(column, how)[0] == pytest.approx(ours, nan_ok=True)
    assert merge_documents_as_released(column, how)[0] == pytest.approx(released, nan_ok=True)


@given(cells=FULL)
def test_max_is_at_least_mean_is_at_least_min(cells: Any) -> None:
    low, mean, high = (merge_documents(cells, how) for how in MERGES)
    assert (low <= mean + 1e-12).all()
    assert (mean <= high + 1e-12).all()


@given(cells=WITH_GAPS, data=st.data())
def test_order_of_documents_changes_nothing(cells: Any, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(cells))))
    for merging in GRID:
        one, other = (merge_documents(c, merging.documents) for c in (cells, cells[order]))
        np.testing.assert_allclose(one, other)
        a, b = (summary_faithfulness(s, merging.sentences) for s in (one, other))
        assert a == pytest.approx(b)


@given(cells=FULL, more=st.floats(0, 1))
def test_another_document_never_lowers_the_maximum(cells: Any, more: float) -> None:
    larger = np.vstack([cells, np.full(cells.shape[1], more)])
    assert (merge_documents(larger, "max") >= merge_documents(cells, "max")).all()


@given(cells=WITH_GAPS, how=st.sampled_from(MERGES))
def test_a_decided_sentence_keeps_its_number_whatever_the_missing_cells_are(cells: Any, how: Merge) -> None:
    """A number that a null could change is undecided; no reading of the nulls changes a decided one."""
    merged = merge_documents(cells, how)
    decided = ~np.isnan(merged)
    for reading in (0.0, 0.4, 1.0):
        read = merge_documents(np.where(np.isnan(cells), reading, cells), how)
        np.testing.assert_allclose(read[decided], merged[decided])


def test_undecided_sentences_are_left_out_of_a_mean_and_counted() -> None:
    found = summary_faithfulness(np.array([1.0, NAN, 0.0]), "mean")
    assert (found.total, found.n, found.n_undecided, found.value) == (1.0, 2, 1, 0.5)


@pytest.mark.parametrize(
    ("sentences", "how", "value"), [([1, NAN], "min", None), ([0, NAN], "min", 0.0), ([0, NAN], "max", None)]
)
def test_one_missing_sentence_can_leave_an_extreme_undecided(
    sentences: list[float], how: Merge, value: float | None
) -> None:
    assert summary_faithfulness(np.array(sentences), how).value == value


@pytest.mark.parametrize("how", MERGES)
def test_a_summary_without_sentences_has_no_number(how: Merge) -> None:
    assert summary_faithfulness(np.array([]), how).value is None


def test_no_documents_are_an_error() -> None:
    with pytest.raises(ValueError, match="at least one document"):
        merge_documents(np.zeros((0, 2)), "max")


def test_five_sentences_of_five_documents_are_faithful_and_cover_a_fifth_each() -> None:
    """The paper's own illustration (section 4.2)."""
    cells = np.eye(5)
    assert summary_faithfulness(merge_documents(cells, "max"), "mean").value == 1.0
    assert cells.mean(axis=1).tolist() == pytest.approx([0.2] * 5)
    assert best_documents(cells) == [[0], [1], [2], [3], [4]]
    assert RECOMMENDED.name == "faithfulness max-mean"


def test_attribution_names_ties_and_leaves_out_what_is_open_or_unsupported() -> None:
    cells = np.array([[1.0, 0.0, 0.3, 1.0], [1.0, 0.0, NAN, NAN]])
    assert best_documents(cells) == [[0, 1], [], [], [0]]


@pytest.mark.parametrize("table", ["table4", "table5"])
def test_sensitivities_of_the_printed_cells(table: str, released: Path) -> None:
    """All but two, which rounding of the cells cannot explain: ArXiv of Table 4, and Bottom of Table 5."""
    printed = json.loads((released / "longformfact" / "printed_tables.json").read_text())[table]
    names = [name for name in printed if name != "column_sensitivity"]
    rows, columns = sensitivity([printed[name][:4] for name in names])
    differing = {
        name: round(value, 2)
        for name, value, told in zip(names, rows, (printed[name][4] for name in names), strict=True)
        if abs(value - told) > 0.05 + 1e-9
    } | {
        place: round(value, 2)
        for place, value, told in zip(
            ("original", "top", "middle", "bottom"), columns, printed["column_sensitivity"], strict=True
        )
        if abs(value - told) > 0.05 + 1e-9
    }
    assert differing == {"table4": {"ArXiv": 2.5}, "table5": {"bottom": 1.86}}[table]
