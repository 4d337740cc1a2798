"""The pairs that a reader chooses from have the tests of the comparisons with the reference, and of the groups."""

from __future__ import annotations

from typing import Any

import numpy as np

from longform.studies import pairwise
from tests.longform.studies.test_comparisons import family_of, one, system


def rows(summaries: Any, table: str) -> Any:
    made = pairwise.tables("pairwise", "comparisons", pairwise.parts([family_of(summaries)]))
    return next(one.as_json()["rows"] for one in made if one.name == table)


def test_a_pair_has_the_same_numbers_with_the_reference_and_in_the_chooser() -> None:
    rng = np.random.default_rng(2)
    summaries = [s for k in range(5) for s in system(f"s{k}", list(rng.uniform(0.2 * k / 4, 0.5 + 0.5 * k / 4, 12)))]
    family, (chosen,) = one(summaries), rows(summaries, "pairwise_families")
    pairs = {frozenset((row["one"], row["other"])): row for row in rows(summaries, "pairwise")}
    assert family["n_tests"] == chosen["n_tests"] == len(pairs) == 10
    for row in family["rows"]:
        pair = pairs[frozenset((row["system"], family["reference"]))]
        difference, p = pair["difference"], pair["p"]
        assert round(abs(row["difference"]), 6) == abs(difference["value"])
        assert round(row["p"], 6) == p
        apart = not difference["low"] <= 0 <= difference["high"]
        assert apart == (p <= 0.05) == (row["finding"] in ("better", "worse"))


def test_groups_agree_with_findings_and_letters_with_groups() -> None:
    summaries = system("a", [0.9] * 8) + system("b", [0.89, 0.91] * 4) + system("c", [0.1, 0.12] * 4)
    family = one(summaries)
    apart = {row["system"] for row in family["rows"] if row["finding"] == "worse"}
    assert family["groups"] == [["a, bm25", "b, bm25"], ["c, bm25"]]
    assert apart == {"c, bm25"}
    letters = {row["system"]: row["letters"] for row in rows(summaries, "pairwise_systems")}
    assert letters == {"a, bm25": "a", "b, bm25": "a", "c, bm25": "b"}
