"""Methods and orders against the plain one: families and findings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from longform.results.faithfulness_tables import against_plain
from longform.settings.systems import System
from tests.longform.results.test_faithfulness_tables import SETTINGS, checked, frame, system


def group(of: System, level: float, *, n: int = 20, seed: int = 1, judge: str = "lexical") -> list[dict[str, Any]]:
    draw = np.random.default_rng(seed)
    return [
        checked(query, np.eye(3) * np.clip(level + draw.normal(0, 0.05), 0, 1), of=of, judge=judge)
        for query in range(n)
    ]


PLAIN = group(system(), 0.6)
BETTER, ALIKE = group(system(method="focus-top"), 0.9, seed=2), group(system(order="middle"), 0.6, seed=3)


def test_every_method_and_order_is_tested_against_the_plain_one() -> None:
    (family,) = against_plain(frame([*PLAIN, *BETTER, *ALIKE]), SETTINGS)
    rows = {row["setting"]: row for row in family["rows"]}
    assert {setting: row["finding"] for setting, row in rows.items()} == {
        "full/focus-top": "better",
        "full/middle": "not distinguishable",
    }
    better, alike = rows["full/focus-top"], rows["full/middle"]
    assert better["difference"] == pytest.approx(30, abs=4)
    assert better["low"] is not None
    assert better["low"] > 20
    assert alike["low"] is not None
    assert alike["high"] is not None
    assert alike["low"] < 0 < alike["high"]
    assert (better["plain"], better["n_queries"], alike["order"], better["method"]) == (
        "full",
        20,
        "middle",
        "focus-top",
    )
    assert better["p"] is not None
    assert better["p_holm"] == pytest.approx(2 * better["p"])


def test_only_queries_that_both_have_count_and_few_show_nothing() -> None:
    (family,) = against_plain(frame([*PLAIN, *BETTER[:5]]), SETTINGS)
    (row,) = family["rows"]
    assert row["n_queries"] == 5
    assert row["finding"] == "too few clusters (5): no difference could be shown"
    assert (row["low"], row["high"]) == (None, None)


def test_lengths_have_a_plain_one_of_their_own_and_drawn_orders_are_left_out() -> None:
    short = system(n_documents=2)
    drawn = group(system(order="permuted", permutation=0), 0.6)
    (family,) = against_plain(
        frame([*PLAIN, *group(short, 0.5), *group(short._replace(order="top"), 0.5), *drawn]), SETTINGS
    )
    assert [(row["setting"], row["plain"]) for row in family["rows"]] == [("full/first 2/top", "full/first 2")]
    assert against_plain(frame(BETTER), SETTINGS) == []


def test_judges_and_data_sets_are_families_of_their_own() -> None:
    other = [{**one, "dataset": "mail"} for one in (*PLAIN, *ALIKE)]
    second = group(system(), 0.6, judge="two") + group(system(method="focus-top"), 0.6, judge="two")
    together = against_plain(frame([*PLAIN, *BETTER, *other, *second]), SETTINGS)
    assert [(family["judge"], family["dataset"]) for family in together] == [
        ("lexical", None),
        ("lexical", "mail"),
        ("two", None),
    ]
    assert together[0] == against_plain(frame([*PLAIN, *BETTER]), SETTINGS)[0]
