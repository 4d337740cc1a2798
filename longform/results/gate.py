"""
A gate: does a run reach its thresholds, and is it no worse than a baseline by more than chance?

A check is one system under one judge by one measure. A check without a value never passes: nothing was shown.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple
from xml.etree import ElementTree as ET

from longform.errors import UsageError, meant
from longform.metrics.cited_support import SHARE
from longform.metrics.measure import Description
from longform.metrics.statistics import Estimate
from longform.results.cells import CellRow, measures_in, number_in, systems_in
from longform.results.differences import UNITS, told_of
from longform.settings.systems import SystemName, named_system
from longform.tables.cells import row_cell
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

_FINDINGS: Mapping[str, Verdict] = {"none": "no value", "too few": "too few", "first better": "failed"}
"""Finding of a comparison of the baseline (first) with the run (second) -> verdict; of others the run passes."""


def baseline_checks(rows: Iterable[Mapping[str, Value]], labels: Sequence[str]) -> list[Check]:
    """Return a check for each difference between a baseline, the first run, and this run, the second."""
    return [
        {
            "kind": "baseline",
            "verdict": _FINDINGS.get(str(row["finding"]), "passed"),
            **{name: row[name] for name in ("dataset", "judge", "measure", "unit", "difference", "p")},
            "system": row["second_system"],
            "value": row["second"],
            "baseline": row["first"],
            "n": row["n_queries"],
            "told": told_of(row["finding"], row["n_clusters"], labels),
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


# ---------------------------------------------------------------- in words, for a terminal and as JUnit XML

_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0, section 2.2
_SUITE = "longform"


def check_line(check: Check) -> str:
    """Return a check as one line: verdict, measure, system, value with interval, and what it was held against."""
    return f"{check['verdict']:<8}  {_subject(check)}: {_numbers(check)}"


def _subject(check: Check) -> str:
    by = f" by {check['judge']}" if check["judge"] else ""
    on = f" on {check['dataset']}" if check["dataset"] else ""
    return f"{check['measure']} of {check['system']}{by}{on}"


def _numbers(check: Check) -> str:
    told = f" ({check['told']})" if check["told"] else ""
    if check["kind"] == "threshold":
        return f"{_number(check, 'value')}, {held(check)}{told}"
    if check["difference"] is None:
        return f"not compared with the baseline{told}"
    value, baseline, difference = (_number(check, name) for name in ("value", "baseline", "difference"))
    return f"{value}, baseline {baseline}, difference {difference}{told}"


def _number(check: Check, name: str) -> str:
    cell = row_cell(check, Column(name, "stated", signed=name == "difference"))
    return " ".join(part for part in (cell.text or "no value", cell.detail) if part)


def conclusion(checks: Sequence[Check], *, judged: bool) -> str:
    """Return one sentence on all checks; *judged* is False if too much is unjudged for them to be evidence."""
    counted = Counter(str(check["verdict"]) for check in checks)
    parts = [f"{counted[verdict]} {verdict}" for verdict in ("passed", "failed", "no value", "too few")]
    told = ", ".join(part for part in parts if not part.startswith("0 "))
    found = "FAILED" if failed(checks) else "passed" if judged else "NO EVIDENCE, too much is unjudged"
    return f"gate: {found} ({len(checks)} check{'s' if len(checks) != 1 else ''}: {told})"


def junit_xml(checks: Sequence[Check], *, run: str, unjudged: str | None) -> bytes:
    """
    Return the checks as JUnit XML: a test case for each, in a suite of the run's name.

    A check that failed is a failure, one without a value an error, one with too few queries is skipped. The sentence
    that more is *unjudged* than is allowed is a test case with an error of its own.
    """
    counted, own = Counter(str(check["verdict"]) for check in checks), int(unjudged is not None)
    counts = {
        "tests": str(len(checks) + own),
        "failures": str(counted["failed"]),
        "errors": str(counted["no value"] + own),
        "skipped": str(counted["too few"]),
        "time": "0",
    }
    suites = ET.Element("testsuites", {"name": _SUITE, **counts})
    suite = ET.SubElement(suites, "testsuite", {"name": _clean(run), **counts})
    for check in checks:
        verdict, line, name = str(check["verdict"]), _numbers(check), f"{_subject(check)}: {held(check)}"
        why = str(check["kind"]) if verdict == "failed" else verdict
        of = f"{check['kind']}.{check['measure']}"
        _add_case(suite, of, name, _TAGS[verdict], why=why, line=line, whole=check_line(check))
    if unjudged is not None:
        _add_case(suite, "unjudged", "enough is judged", "error", why="unjudged", line=unjudged, whole=unjudged)
    ET.indent(suites)
    text: bytes = ET.tostring(suites, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


_TAGS = {"failed": "failure", "no value": "error", "too few": "skipped", "passed": "system-out"}


def _add_case(suite: ET.Element, of: str, name: str, tag: str, *, why: str, line: str, whole: str) -> None:
    classname = _clean(f"{_SUITE}.{of}")
    case = ET.SubElement(suite, "testcase", {"classname": classname, "name": _clean(name), "time": "0"})
    told = {} if tag == "system-out" else {"message": _clean(line)}
    part = ET.SubElement(case, tag, told if tag in ("system-out", "skipped") else told | {"type": why})
    if tag != "skipped":
        part.text = _clean(line if tag == "system-out" else whole)


def _clean(text: str) -> str:
    """Return *text* without the characters that XML cannot hold."""
    return _ILLEGAL.sub("\N{REPLACEMENT CHARACTER}", text)
