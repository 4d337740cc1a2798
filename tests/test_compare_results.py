"""The comparison of two runs' results."""

from __future__ import annotations

from typing import Any

import pytest

from tests.compare_results import Number, differences, numbers, numbers_apart, tables_of

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


def test_every_number_has_a_name_a_key_and_a_column() -> None:
    document = {"n": 3, "run": {"made": 2}, "good": True, "cells": [ROW], "own": {"rows": [{"text": "a", "x": 1}] * 2}}

    assert numbers(document) == {
        Number("", "", (), "n"): 3,
        Number("", "cells", ("a", "full"), "joint"): 1.0,
        Number("", "cells", ("a", "full"), "intervals.joint[0]"): 0.5,
        Number("", "own.rows", ("a", "1"), "x"): 1,
        Number("", "own.rows", ("a", "2"), "x"): 1,
    }


def test_rows_are_not_named_by_their_places() -> None:
    runs = [[{"name": name, "url": f"/{place}/{name}", "n": 1} for name in "ab"] for place in ("before", "after")]

    assert numbers({"runs": runs[0]}) == numbers({"runs": runs[1]})


def test_a_step_says_which_names_moved() -> None:
    before = numbers({"cells": [ROW], "old": 1})
    after = numbers(
        {"tables": {"cells": [{"judge": "a", "setting": "full", "score": 1.0, "intervals": {"joint": [0.5]}}]}}
    )
    moved = {"cells": "tables.cells", "cells.joint": "tables.cells.score", "old": None}

    assert list(numbers_apart(before, after, tolerance=0, names=moved)) == []
    assert len(list(numbers_apart(before, after, tolerance=0, names=moved | {"old": "old"}))) == 1
    assert len(list(numbers_apart(before, after, tolerance=0))) == 3


def test_what_older_versions_wrote_beside_their_tables_is_not_compared() -> None:
    run, tables = {"size": {"n_queries": 3}, "config": {"seed": 1}}, {"cells": {"rows": [ROW]}}
    compared = {"tables": tables, "size": {"n_queries": 3}}

    assert tables_of({"schema": 2, "run": run, "tables": tables, "cells": [ROW]}) == compared
    assert tables_of({"run": "runs/a", "gate": {"tables": tables, "checks": []}}) == {
        "run": "runs/a",
        "gate": {"tables": tables},
    }
    assert tables_of({"cells": [ROW]}) == {"cells": [ROW]}
