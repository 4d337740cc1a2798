"""Decisions of people on targets: who decides, and what a score is worth beside them."""

from __future__ import annotations

from typing import Any

import pytest

from longform.judges.rubrics import KEY_POINT_CHECK, decided, score_bins, score_bounds


def label(target: str, answer: str | None) -> Any:
    return {"target_id": target, "answer": answer}


def test_more_than_half_of_the_labels_must_agree() -> None:
    rows = [
        label("all", "agree"),
        label("most", "agree"),
        label("most", "agree"),
        label("most", "not_grounded"),
        label("half", "agree"),
        label("half", "neutral"),
        label("none", "disagree"),
        label("empty", None),
    ]
    assert decided(rows, KEY_POINT_CHECK) == {"all": True, "most": True, "half": False, "none": False}


def test_scores_are_told_by_tenths_and_by_what_a_threshold_lets_through() -> None:
    scores = {"a": 1.0, "b": 0.95, "c": 0.7, "d": 0.69, "unlabelled": 0.9}
    accepted = {"a": True, "b": False, "c": True, "d": False}
    assert score_bins(scores, accepted) == [
        {"low": 0.6, "high": 0.7, "n": 1, "right": 0.0},
        {"low": 0.7, "high": 0.8, "n": 1, "right": 1.0},
        {"low": 0.9, "high": 1.0, "n": 2, "right": 0.5},
    ]
    bounds = {row["score"]: (row["n"], row["wrong"]) for row in score_bounds(scores, accepted, (0.5, 0.7, 0.99, 1.1))}
    assert bounds == {0.5: (4, 0.5), 0.7: (3, pytest.approx(1 / 3)), 0.99: (1, 0.0), 1.1: (0, None)}
