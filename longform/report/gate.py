"""Checks of a gate in words: lines of a terminal, and JUnit XML."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
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
    Return the checks as JUnit XML: a test case for each.

    Args:
        checks: A check that failed is a failure, one without a value an error, one with too few queries is skipped.
        run: The name of the suite.
        unjudged: A sentence, if more is unjudged than is allowed; it is a test case with an error of its own.
    """
    counts = _counts(checks, unjudged)
    suites = ET.Element("testsuites", {"name": _SUITE, **counts})
    suite = ET.SubElement(suites, "testsuite", {"name": _clean(run), **counts})
    for check in checks:
        kind = "threshold" if check["kind"] == "threshold" else "baseline"
        case = _case(suite, f"{_SUITE}.{kind}.{check['measure']}", f"{_name(check)}: {held(check)}")
        _add_verdict(case, check)
    if unjudged is not None:
        case = _case(suite, f"{_SUITE}.unjudged", "enough is judged")
        ET.SubElement(case, "error", {"message": _clean(unjudged), "type": "unjudged"}).text = _clean(unjudged)
    ET.indent(suites)
    text: bytes = ET.tostring(suites, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _counts(checks: Sequence[Check], unjudged: str | None) -> Mapping[str, str]:
    counted = Counter(check["verdict"] for check in checks)
    own = int(unjudged is not None)
    return {
        "tests": str(len(checks) + own),
        "failures": str(counted["failed"]),
        "errors": str(counted["no value"] + own),
        "skipped": str(counted["too few"]),
        "time": "0",
    }


def _case(suite: ET.Element, classname: str, name: str) -> ET.Element:
    return ET.SubElement(suite, "testcase", {"classname": _clean(classname), "name": _clean(name), "time": "0"})


def _add_verdict(case: ET.Element, check: Check) -> None:
    line = _clean(_numbers(check))
    match check["verdict"]:
        case "failed":
            ET.SubElement(case, "failure", {"message": line, "type": str(check["kind"])}).text = _clean(
                check_line(check)
            )
        case "no value":
            ET.SubElement(case, "error", {"message": line, "type": "no value"}).text = _clean(check_line(check))
        case "too few":
            ET.SubElement(case, "skipped", {"message": line})
        case "passed":
            ET.SubElement(case, "system-out").text = line


def _clean(text: str) -> str:
    """Return *text* without the characters that XML cannot hold."""
    return _ILLEGAL.sub("\N{REPLACEMENT CHARACTER}", text)
