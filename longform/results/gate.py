"""
A gate: does a run reach its thresholds, and is it no worse than a baseline by more than chance?

A check is one system under one judge by one measure. A check without a value never passes: nothing was shown.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from longform.errors import UsageError, meant
from longform.metrics.cited_support import SHARE
from longform.metrics.measure import Description
from longform.metrics.statistics import Estimate
from longform.results.cells import CellRow, measures_in, number_in, systems_in
from longform.results.differences import UNITS, told_of
from longform.settings.systems import SystemName, named_system
from longform.tables.table import DATASET, JUDGE, Column, Table, Value

Verdict = Literal["passed", "failed", "no value", "too few"]
Check = Mapping[str, Value]
"""A row of `check_table`."""
Direction = Literal["under", "above"]

SUPPORT = "support"
"""Short for the measure of judges of support: the share of sentences that their answers call supported."""
SUPPORT_MEASURE = SHARE
_SCALE = 100.0  # of a measure in points


class Threshold(NamedTuple):
    """A bound that a measure must keep, in the measure's unit, as reports print it."""

    system: str | None  # as `named_system` takes it; None: it holds for all that are no twins
    measure: str
    value: float
    direction: Direction  # in which a value fails
    told: str  # as it was written


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

    *where*, "this run" say, names the owner of the measures in messages.

    Raises:
        UsageError: Names the threshold and what was expected.
    """
    told = []
    for one in thresholds:
        option = f"--fail-{one.direction} {one.told}"
        if one.measure not in known:
            names = sorted(SUPPORT if name == SUPPORT_MEASURE else name for name in known)
            found = SUPPORT if one.measure == SUPPORT_MEASURE else one.measure
            raise UsageError(
                f"{option}: expected a measure of {where} ({', '.join(names) or 'it has none'}), found "
                f"{found!r}{meant(found, names)}"
            )
        better, unit = known[one.measure]["better"], known[one.measure]["unit"]
        wanted = {"higher": "under", "lower": "above"}.get(better or "", one.direction)
        if wanted != one.direction:
            raise UsageError(f"{option}: {better} is better of {one.measure}; expected --fail-{wanted} {one.told}")
        if unit == "points" and not 0 <= one.value <= _SCALE:
            raise UsageError(f"{option}: {one.measure} goes from 0 to 100, found {one.value:g}")
        if unit == "points" and 0 < one.value <= 1:
            told.append(
                f"{option}: scores are 0 to 100, and {one.value:g} is at most one point; did you mean "
                f"{100 * one.value:g}?"
            )
    return told


# ---------------------------------------------------------------- values of a run


def measures_of(results: Mapping[str, Any]) -> dict[str, Description]:
    """Return the measures that a run has values of, or reasons for none."""
    known = {one["name"]: one for one in measures_in(results)}
    having = dict.fromkeys(name for cell in systems_in(results) for name in known if _has(cell, name))
    return {name: known[name] for name in having}


def _has(cell: CellRow, measure: str) -> bool:
    return measure in cell or measure in cell["reasons"]


def threshold_checks(
    cells: Sequence[CellRow], thresholds: Iterable[Threshold], known: Mapping[str, Description]
) -> list[Check]:
    """
    Return a check for each threshold and each system under a judge that it holds for.

    Raises:
        UsageError: A threshold names no system of the run, or one without the measure.
    """
    found: list[Check] = []
    for one in thresholds:
        asked = f"--fail-{one.direction} {one.told}"
        own = [cell for cell in cells if _has(cell, one.measure)]
        if one.system is None:
            own = [cell for cell in own if cell.get("twin_of") is None]
        else:
            system = named_system(one.system, map(_name, cells), asked=asked)
            own = [cell for cell in own if _name(cell) == system]
        if not own:
            raise UsageError(f"{asked}: no system that it holds for has {one.measure}")
        found += [_threshold_check(cell, one, known[one.measure]) for cell in own]
    return found


def _name(cell: CellRow) -> SystemName:
    return SystemName(cell["summarizer"], cell["setting"])


def _threshold_check(cell: CellRow, one: Threshold, measure: Description) -> Check:
    value, n = number_in(cell, one.measure), cell["n_summaries"]
    low, high = cell["intervals"].get(one.measure) or (None, None)
    verdict: Verdict = "no value"
    if value is not None:
        bad = value < one.value if one.direction == "under" else value > one.value
        verdict = "failed" if bad else "passed"
    return {
        "kind": "threshold",
        "verdict": verdict,
        "dataset": cell["dataset"],
        "judge": cell["judge"],
        "system": str(_name(cell)),
        "measure": one.measure,
        "unit": UNITS.get(measure["unit"], "words"),
        "value": None if value is None else Estimate(value, low, high, n),
        "threshold": one.value,
        "direction": one.direction,
        "n": n,
        "told": "" if value is not None else cell["reasons"].get(one.measure) or "nothing was judged",
    }


# ---------------------------------------------------------------- against a baseline

_FINDINGS: Mapping[str, Verdict] = {
    "none": "no value",
    "too few": "too few",
    "not distinguishable": "passed",
    "first better": "failed",
    "second better": "passed",
    "first higher": "passed",
    "second higher": "passed",
}
"""Finding of a comparison of the baseline (first) with the run (second) -> verdict."""


def baseline_checks(rows: Iterable[Mapping[str, Value]], labels: Sequence[str]) -> list[Check]:
    """Return a check for each difference between a baseline, the first run, and this run, the second."""
    return [
        {
            "kind": "baseline",
            "verdict": _FINDINGS[str(row["finding"])],
            **{name: row[name] for name in ("dataset", "judge", "measure", "unit", "difference", "p")},
            "system": row["second_system"],
            "value": row["second"],
            "baseline": row["first"],
            "n": row["n_queries"],
            "told": told_of(row["finding"], labels, row["n_clusters"]),
        }
        for row in rows
    ]


def check_table(checks: Sequence[Check]) -> Table:
    """Return checks as a table, those first that did not pass."""
    places = ("failed", "no value", "too few", "passed")
    rows = [
        {**check, "held": held(check) if check["kind"] == "threshold" else None}
        for check in sorted(checks, key=lambda one: places.index(str(one["verdict"])))
    ]
    alone = "held against a threshold"
    return Table(
        "checks",
        [
            DATASET,
            JUDGE,
            Column("system"),
            Column("verdict"),
            Column("measure"),
            Column("kind", shown=False),
            Column("unit", shown=False),
            Column("value", "stated"),
            Column("held", title="wanted", none="not worse than the baseline"),
            Column("threshold", "number", shown=False),
            Column("direction", shown=False),
            Column("baseline", "stated", unknown=alone),
            Column("difference", "stated", told="95 % intervals are of all differences together", signed=True,
                   unknown=alone),
            Column("p", "p", told="adjusted for all comparisons with the baseline", unknown=alone),
            Column("n", "count", told="summaries, or queries that both runs have", shown=False),
            Column("told", title="note"),
        ],
        rows,
        "Checks",
        key=["kind", "dataset", "judge", "system", "measure", "threshold"],
    )  # fmt: skip


def held(check: Check) -> str:
    """Return the bound of a check in words."""
    bound = check.get("threshold")
    if not isinstance(bound, int | float):
        return "not worse than the baseline by more than chance"
    share = check["unit"] == "share"
    side = "at least" if check["direction"] == "under" else "at most"
    return f"{side} {100 * bound:g} %" if share else f"{side} {bound:g}"


def older_checks(checks: Iterable[Check], known: Mapping[str, Description]) -> list[dict[str, Any]]:
    """Return checks in the form of earlier versions, which stands beside their table for one release."""
    found = []
    for check in checks:
        of = check.get("difference") if check["kind"] == "baseline" else check["value"]
        shown = of if isinstance(of, Estimate) else Estimate(None, None, None, 0)
        value, difference = (one.value if isinstance(one, Estimate) else one
                             for one in (check["value"], check.get("difference")))  # fmt: skip
        measure = known.get(str(check["measure"]), {"title": check["measure"], "unit": check["unit"]})
        empty = dict.fromkeys(("threshold", "direction", "baseline", "p"))
        own = {"value": value, "difference": difference, "low": shown.low, "high": shown.high}
        found.append({**empty, **check, **own, "title": measure["title"] or check["measure"], "unit": measure["unit"]})
    return found


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
