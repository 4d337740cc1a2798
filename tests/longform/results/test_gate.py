"""Thresholds are read, held against values, and refused if no value could keep or break them."""

from __future__ import annotations

from typing import Any

import pytest

from longform.errors import UsageError
from longform.metrics.measure import Description
from longform.metrics.statistics import Estimate
from longform.results.cells import systems_in
from longform.results.gate import (
    SUPPORT_MEASURE,
    Threshold,
    baseline_checks,
    cannot_tell,
    check_measures,
    check_table,
    failed,
    read_threshold,
    threshold_checks,
)
from longform.studies.schema_1 import with_tables
from longform.tables.table import checked


def described(name: str, better: Any = "higher", unit: Any = "points") -> Description:
    return {"name": name, "title": name, "unit": unit, "better": better, "told": "", "judged_by": None}


CITATION, ERRORS, WORDS = (
    described("citation"),
    described("errors", "lower", "count"),
    described("words", None, "words"),
)
KNOWN = {one["name"]: one for one in (CITATION, ERRORS, WORDS)}


def cell(summarizer: str, value: float | None, **more: Any) -> dict[str, Any]:
    reasons = {"citation": "no insight is covered"} if value is None else {}
    return {
        "dataset": None, "judge": "j", "summarizer": summarizer, "setting": "s", "twin_of": None, "n_summaries": 3,
        "intervals": {"citation": [1.0, 99.0]}, "reasons": reasons, "citation": value, **more,
    }  # fmt: skip


def checks(words: str, *cells: dict[str, Any]) -> list[Any]:
    results = with_tables({"measures": [CITATION], "cells": cells})
    return threshold_checks(systems_in(results), [read_threshold(words, "under")], KNOWN)


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("citation=70", (None, "citation", 70.0)),
        ("rag, bm25:citation=70.5", ("rag, bm25", "citation", 70.5)),
        ("a:b:citation=1e1", ("a:b", "citation", 10.0)),
        ("x=y:citation=3", ("x=y", "citation", 3.0)),
        ("support=80", (None, SUPPORT_MEASURE, 80.0)),
    ],
)
def test_a_threshold_names_a_measure_and_maybe_a_system(words: str, found: tuple[Any, ...]) -> None:
    assert read_threshold(words, "under")[:3] == found


@pytest.mark.parametrize(
    "words", ["citation", "=3", "citation=", "citation=abc", "citation=nan", "citation=inf", ":m=3"]
)
def test_what_is_no_threshold_is_refused_with_its_words(words: str) -> None:
    with pytest.raises(UsageError, match=r"--fail-under.* expected"):
        read_threshold(words, "under")


def test_unknown_measures_are_refused_and_the_near_one_named() -> None:
    with pytest.raises(UsageError, match=r"citatoin.*did you mean 'citation'"):
        check_measures([Threshold(None, "citatoin", 3, "under", "citatoin=3")], KNOWN, where="this run")


def test_the_wrong_direction_and_values_off_the_scale_are_refused() -> None:
    with pytest.raises(UsageError, match=r"lower is better of errors; expected --fail-above errors=3"):
        check_measures([read_threshold("errors=3", "under")], KNOWN, where="this run")
    with pytest.raises(UsageError, match="0 to 100"):
        check_measures([read_threshold("citation=101", "under")], KNOWN, where="this run")
    assert check_measures([read_threshold("words=300", "above")], KNOWN, where="this run") == []


def test_a_share_in_place_of_points_is_warned_of() -> None:
    (told,) = check_measures([read_threshold("citation=0.7", "under")], KNOWN, where="this run")
    assert "scores are 0 to 100" in told
    assert "did you mean 70?" in told
    assert check_measures([read_threshold("citation=0", "under")], KNOWN, where="this run") == []


def test_a_value_at_the_threshold_passes_and_one_below_fails() -> None:
    found = checks("citation=70", cell("a", 70.0), cell("b", 69.99))
    assert [(one["system"], one["verdict"]) for one in found] == [("a, s", "passed"), ("b, s", "failed")]
    assert [one["system"] for one in failed(found)] == ["b, s"]


def test_no_value_never_passes() -> None:
    (found,) = checks("citation=0", cell("a", None))
    assert (found["verdict"], found["told"]) == ("no value", "no insight is covered")
    assert failed([found])


def test_twins_are_held_only_if_they_are_named() -> None:
    twin = cell("a+matrix", 1.0, twin_of="a")
    assert [one["system"] for one in checks("citation=70", cell("a", 80.0), twin)] == ["a, s"]
    assert [one["verdict"] for one in checks("a+matrix:citation=70", cell("a", 80.0), twin)] == ["failed"]


def test_a_system_that_is_not_there_is_refused() -> None:
    with pytest.raises(UsageError, match=r"--fail-under b:citation=3: .*no such system"):
        checks("b:citation=3", cell("a", 80.0))


@pytest.mark.parametrize(
    ("finding", "verdict"),
    [
        ("first better", "failed"),
        ("second better", "passed"),
        ("not distinguishable", "passed"),
        ("second higher", "passed"),
        ("too few", "too few"),
        ("none", "no value"),
    ],
)
def test_a_baseline_that_is_better_fails(finding: Any, verdict: str) -> None:
    row: Any = {
        "dataset": None, "judge": "j", "measure": "citation", "unit": "points", "first_system": "a, s",
        "second_system": "a, s", "first": 1.0, "second": 2.0, "difference": Estimate(1.0, None, None, 3), "p": None,
        "n_queries": 3, "n_left_out": 0, "n_clusters": 3, "finding": finding,
    }  # fmt: skip
    found = baseline_checks([row], ("a", "b"))
    (check,) = found
    assert check["difference"] == Estimate(1.0, None, None, 3)
    checked(check_table(found))
    assert [one["verdict"] for one in found] == [verdict]
    assert bool(cannot_tell(found)) == (finding == "too few")
