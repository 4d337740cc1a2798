"""Checks of a gate in words: lines of a terminal, and JUnit XML."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from longform.results.gate import Check, failed, held
from longform.tables.cells import row_cell
from longform.tables.table import Column

_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0, section 2.2
_SUITE = "longform"


# ---------------------------------------------------------------- one check


def check_line(check: Check) -> str:
    """Return a check as one line: verdict, measure, system, value with interval, and what it was held against."""
    return f"{check['verdict']:<8}  {_name(check)}: {_numbers(check)}"


def _name(check: Check) -> str:
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


# ---------------------------------------------------------------- JUnit


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
        verdict, line, name = str(check["verdict"]), _numbers(check), f"{_name(check)}: {held(check)}"
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
