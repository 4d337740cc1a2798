"""
A gate: does a run reach its thresholds, and is it no worse than a baseline by more than chance?

A check is one system under one judge by one measure. A check without a value never passes: nothing was shown.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypedDict

from longform.errors import UsageError
from longform.metrics.cited_support import MAIN, SHARE
from longform.metrics.measure import Description
from longform.nearest import meant
from longform.results.compared_runs import Finding, PairedRow
from longform.settings.system_names import SystemName, named_system

Verdict = Literal["passed", "failed", "no value", "too few"]
Kind = Literal["threshold", "baseline"]
Direction = Literal["under", "above"]

SUPPORT = "support"
"""Short for the measure of judges of support: the share of sentences that their answers call supported."""
SUPPORT_MEASURE = SHARE
OF_SUPPORT = dict(zip(MAIN, ("supported", "faithfulness"), strict=True))
"""Measures of judges of support -> their columns in the study of faithfulness."""
_SCALE = 100.0  # of a measure in points


class Threshold(NamedTuple):
    """
    A bound that a measure must keep.

    Attributes:
        system: That it holds for, as `named_system` takes it; None: all that are no twins.
        measure: Its name.
        value: In the measure's unit, as reports print it.
        direction: The side on which a value fails.
        told: As it was written.
    """

    system: str | None
    measure: str
    value: float
    direction: Direction
    told: str


class Check(TypedDict):
    """One check and its verdict; numbers are in the measure's unit."""

    kind: Kind
    dataset: str | None
    judge: str | None
    system: str
    measure: str
    title: str
    unit: str
    value: float | None
    low: float | None  # of the value, or of the difference
    high: float | None
    threshold: float | None  # null: compared with a baseline
    direction: Direction | None
    baseline: float | None
    difference: float | None  # this run less the baseline
    p: float | None
    n: int  # summaries, or queries that both runs have
    verdict: Verdict
    told: str


class Scored(NamedTuple):
    """A value of a finished run, with what it belongs to."""

    dataset: str | None
    judge: str | None
    system: SystemName
    twin: bool
    measure: str
    value: float | None
    low: float | None
    high: float | None
    reason: str | None
    n_summaries: int


def read_threshold(words: str, direction: Direction) -> Threshold:
    """
    Read `MEASURE=VALUE` or `SYSTEM:MEASURE=VALUE`.

    Raises:
        UsageError: It is neither, or the value is no finite number.
    """
    left, equals, number = words.rpartition("=")
    system, colon, measure = left.rpartition(":")
    option = f"--fail-{direction}"
    if not equals or not measure.strip() or (colon and not system.strip()):
        raise UsageError(f"{option}: expected MEASURE=NUMBER or SYSTEM:MEASURE=NUMBER, found {words!r}")
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UsageError(f"{option} {words}: expected a number behind {measure.strip()}=, found {number!r}")
    name = measure.strip()
    return Threshold(system.strip() or None, SUPPORT_MEASURE if name == SUPPORT else name, value, direction, words)


def check_measures(thresholds: Iterable[Threshold], known: Mapping[str, Description], *, where: str) -> list[str]:
    """
    Refuse thresholds on measures that are not *known*, or that no value can keep; return warnings.

    Args:
        thresholds: As they were read.
        known: Name -> the measure.
        where: The owner of the measures, for messages: "this run" say.

    Raises:
        UsageError: Names the threshold and what was expected.
    """
    told = []
    for one in thresholds:
        if one.measure not in known:
            names = sorted(SUPPORT if name == SUPPORT_MEASURE else name for name in known)
            found = SUPPORT if one.measure == SUPPORT_MEASURE else one.measure
            raise UsageError(
                f"--fail-{one.direction} {one.told}: expected a measure of {where} "
                f"({', '.join(names) or 'it has none'}), found {found!r}{meant(found, names)}"
            )
        _check_direction(one, known[one.measure])
        told += _scale_warning(one, known[one.measure])
    return told


def _check_direction(one: Threshold, measure: Description) -> None:
    wanted = {"higher": "under", "lower": "above"}.get(measure["better"] or "", one.direction)
    if wanted != one.direction:
        raise UsageError(
            f"--fail-{one.direction} {one.told}: {measure['better']} is better of {one.measure}; expected "
            f"--fail-{wanted} {one.told}"
        )


def _scale_warning(one: Threshold, measure: Description) -> list[str]:
    """Refuse what no score can reach, and warn of a share in place of points."""
    option = f"--fail-{one.direction} {one.told}"
    if measure["unit"] != "points":
        return []
    if not 0 <= one.value <= _SCALE:
        raise UsageError(f"{option}: {one.measure} goes from 0 to 100, found {one.value:g}")
    if 0 < one.value <= 1:
        return [
            f"{option}: scores are 0 to 100, and {one.value:g} is at most one point; did you mean {100 * one.value:g}?"
        ]
    return []


# ---------------------------------------------------------------- values of a run


def scored(results: Mapping[str, Any]) -> Iterator[Scored]:
    """Yield every value of a run's `results.json`: of judges of coverage and their like, and of support."""
    names = [one["name"] for one in results["measures"]]
    for cell in results["cells"]:
        for name in names:
            if name in cell or name in cell["reasons"]:
                low, high = cell["intervals"].get(name) or (None, None)
                yield _scored(cell, name, (cell.get(name), low, high), cell["reasons"].get(name))
    for row in (results.get("faithfulness") or {}).get("cells", []):
        for name, part in OF_SUPPORT.items():
            if (found := row.get(part)) is not None and name not in names:
                yield _scored(row, name, (found["value"], found["low"], found["high"]), None)


def _scored(
    row: Mapping[str, Any], measure: str, values: tuple[float | None, float | None, float | None], reason: str | None
) -> Scored:
    system = SystemName(row["summarizer"], row["setting"])
    twin = row.get("twin_of") is not None
    return Scored(row["dataset"], row["judge"], system, twin, measure, *values, reason, row["n_summaries"])


def measures_of(results: Mapping[str, Any], of_support: Mapping[str, Description]) -> dict[str, Description]:
    """Return the measures that a run has values of, or reasons for none; *of_support* are those of support."""
    known = {**of_support, **{one["name"]: one for one in results["measures"]}}
    return {name: known[name] for name in dict.fromkeys(one.measure for one in scored(results)) if name in known}


def threshold_checks(
    values: Sequence[Scored], thresholds: Iterable[Threshold], known: Mapping[str, Description]
) -> list[Check]:
    """
    Return a check for each threshold and each value that it holds for.

    Raises:
        UsageError: A threshold names no system of the run, or one without the measure.
    """
    found: list[Check] = []
    for one in thresholds:
        own = [value for value in values if value.measure == one.measure]
        if one.system is None:
            own = [value for value in own if not value.twin]
        else:
            system = named_system(
                one.system, [value.system for value in values], asked=f"--fail-{one.direction} {one.told}"
            )
            own = [value for value in own if value.system == system]
        if not own:
            raise UsageError(f"--fail-{one.direction} {one.told}: no system that it holds for has {one.measure}")
        found += [_threshold_check(value, one, known[one.measure]) for value in own]
    return found


def _threshold_check(value: Scored, one: Threshold, measure: Description) -> Check:
    verdict: Verdict = "no value"
    if value.value is not None:
        bad = value.value < one.value if one.direction == "under" else value.value > one.value
        verdict = "failed" if bad else "passed"
    told = value.reason or "nothing was judged" if value.value is None else ""
    return {
        "kind": "threshold",
        "dataset": value.dataset,
        "judge": value.judge,
        "system": str(value.system),
        "measure": one.measure,
        "title": measure["title"] or one.measure,
        "unit": measure["unit"],
        "value": value.value,
        "low": value.low,
        "high": value.high,
        "threshold": one.value,
        "direction": one.direction,
        "baseline": None,
        "difference": None,
        "p": None,
        "n": value.n_summaries,
        "verdict": verdict,
        "told": told,
    }


# ---------------------------------------------------------------- against a baseline

_FINDINGS: Mapping[Finding, Verdict] = {
    "none": "no value",
    "too few": "too few",
    "not distinguishable": "passed",
    "first better": "failed",
    "second better": "passed",
    "first higher": "passed",
    "second higher": "passed",
}
"""Finding of a comparison of the baseline (first) with the run (second) -> verdict."""


def baseline_checks(rows: Iterable[PairedRow]) -> list[Check]:
    """Return a check for each difference between a baseline, the first run, and this run, the second."""
    return [
        {
            "kind": "baseline",
            "dataset": row["dataset"],
            "judge": row["judge"],
            "system": row["second_system"],
            "measure": row["measure"],
            "title": row["title"] or row["measure"],
            "unit": row["unit"],
            "value": row["second"],
            "low": row["low"],
            "high": row["high"],
            "threshold": None,
            "direction": None,
            "baseline": row["first"],
            "difference": row["difference"],
            "p": row["p"],
            "n": row["n_queries"],
            "verdict": _FINDINGS[row["finding"]],
            "told": row["told"],
        }
        for row in rows
    ]


def failed(checks: Iterable[Check]) -> list[Check]:
    """Return the checks that did not pass: failed, or without a value."""
    return [check for check in checks if check["verdict"] in ("failed", "no value")]


def cannot_tell(checks: Collection[Check]) -> list[str]:
    """Return a sentence on checks that could not have failed, as they have too few queries or haystacks."""
    few = sum(check["verdict"] == "too few" for check in checks)
    if not few:
        return []
    against = sum(check["kind"] == "baseline" for check in checks)
    told = f"{'all' if few == against else f'{few} of'} {against} comparisons with the baseline have too few queries"
    return [f"{told} or haystacks for any difference to be shown: they neither passed nor failed"]
