"""The comparison of two runs' results."""

from __future__ import annotations

from typing import Any

import pytest

from tests.compare_results import differences

ROW: dict[str, Any] = {"judge": "a", "setting": "full", "joint": 1.0, "intervals": {"joint": [0.5, None]}}


def found(before: Any, after: Any, tolerance: float = 0.0) -> list[str]:
    return list(differences(before, after, tolerance=tolerance))


def test_new_rows_new_keys_and_times_are_no_difference() -> None:
    after = {"cells": [ROW | {"judge": None}, ROW | {"words": 3}], "new": 1, "run": {"made": 2}}

    assert found({"cells": [ROW], "run": {"made": 1}}, after) == []


@pytest.mark.parametrize(
    ("after", "line"),
    [
        ({"cells": []}, ".cells[a, full]: is gone"),
        ({}, ".cells: is gone"),
        ({"cells": [ROW | {"joint": 1.1}]}, ".cells[a, full].joint: 1.0 became 1.1"),
        ({"cells": [ROW | {"joint": None}]}, ".cells[a, full].joint: 1.0 became None"),
        ({"cells": [ROW | {"intervals": {"joint": [0.5]}}]}, ".cells[a, full].intervals.joint: 2 entries became 1"),
    ],
)
def test_a_number_that_moved_or_went_is_told(after: Any, line: str) -> None:
    assert found({"cells": [ROW]}, after) == [line]


def test_a_tolerance_is_relative_and_absolute() -> None:
    assert found([100.0], [100.0 + 1e-8], tolerance=1e-9) == []
    assert found([1.0], [1.1], tolerance=0.05) == ["[0]: 1.0 became 1.1"]


def test_rows_are_found_by_the_names_that_they_had() -> None:
    assert found([ROW], [ROW | {"summarizer": "s"}]) == []
