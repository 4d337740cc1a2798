"""Checks of a gate in words: lines of a terminal, JUnit XML, and Markdown for the summary of a CI job."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from xml.etree import ElementTree as ET

from longform.results.gate import Check, failed

_DIGITS = {"points": 1, "words": 1, "share": 3, "rating": 2, "count": 2}
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
        return f"{_value(check)}, {wanted(check)}{told}"
    if check["difference"] is None:
        return f"not compared with the baseline{told}"
    difference = f"{_n(check, check['difference'], sign=True)}{_interval(check, sign=True)}"
    return f"{_n(check, check['value'])}, baseline {_n(check, check['baseline'])}, difference {difference}{told}"


def _value(check: Check) -> str:
    return f"{_n(check, check['value'])}{_interval(check)}"


def wanted(check: Check) -> str:
    """Return the bound of a check in words."""
    if check["threshold"] is None:
        return "not worse than the baseline by more than chance"
    return f"{'at least' if check['direction'] == 'under' else 'at most'} {check['threshold']:g}"


def _n(check: Check, value: float | None, *, sign: bool = False) -> str:
    if value is None:
        return "no value"
    return f"{value:{'+' if sign else ''}.{_DIGITS.get(check['unit'], 2)}f}"


def _interval(check: Check, *, sign: bool = False) -> str:
    low, high = check["low"], check["high"]
    return "" if low is None or high is None else f" [{_n(check, low, sign=sign)}, {_n(check, high, sign=sign)}]"


def conclusion(checks: Sequence[Check], *, judged: bool) -> str:
    """Return one sentence on all checks; *judged* is False if too much is unjudged for them to be evidence."""
    counted = Counter(check["verdict"] for check in checks)
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
        case = _case(suite, f"{_SUITE}.{kind}.{check['measure']}", f"{_name(check)}: {wanted(check)}")
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
            ET.SubElement(case, "failure", {"message": line, "type": check["kind"]}).text = _clean(check_line(check))
        case "no value":
            ET.SubElement(case, "error", {"message": line, "type": "no value"}).text = _clean(check_line(check))
        case "too few":
            ET.SubElement(case, "skipped", {"message": line})
        case "passed":
            ET.SubElement(case, "system-out").text = line


def _clean(text: str) -> str:
    """Return *text* without the characters that XML cannot hold."""
    return _ILLEGAL.sub("\N{REPLACEMENT CHARACTER}", text)


# ---------------------------------------------------------------- Markdown


def summary_markdown(
    checks: Sequence[Check], *, run: str, told: Sequence[str], judged: bool, report: str, artefacts: str | None
) -> str:
    """
    Return the checks as the Markdown of a CI job's summary.

    Args:
        checks: In the order of the rows.
        run: The name in the headline.
        told: Sentences that a reader should know.
        judged: False if too much is unjudged.
        report: The place of the report.
        artefacts: The address of the job's files; None: not known.
    """
    lines = [
        f"## longform: {_cell(run)}",
        "",
        f"**{conclusion(checks, judged=judged)}**" if checks else "No checks.",
        "",
    ]
    lines += list(_table(checks))
    lines += [f"- {_cell(sentence)}" for sentence in told] + ([""] if told else [])
    place = f"[files of this job]({artefacts})" if artefacts else "the files of this job"
    return "\n".join([*lines, f"Report: `{report}`, among {place}.", ""])


def _table(checks: Sequence[Check]) -> Iterator[str]:
    if not checks:
        return
    yield "| verdict | measure | system | judge | value | held against | note |"
    yield "| --- | --- | --- | --- | --: | --- | --- |"
    for check in sorted(checks, key=lambda one: _ORDER[one["verdict"]]):
        row = [
            f"**{check['verdict']}**" if failed([check]) else check["verdict"],
            check["measure"],
            f"{check['system']}{' on ' + check['dataset'] if check['dataset'] else ''}",
            check["judge"] or "none",
            _value(check) if check["kind"] == "threshold" else _n(check, check["value"]),
            _held_against(check),
            check["told"],
        ]
        yield f"| {' | '.join(_cell(part) for part in row)} |"
    yield ""


_ORDER = {"failed": 0, "no value": 1, "too few": 2, "passed": 3}


def _held_against(check: Check) -> str:
    if check["kind"] == "threshold":
        return wanted(check)
    if check["difference"] is None:
        return "baseline"
    difference = f"{_n(check, check['difference'], sign=True)}{_interval(check, sign=True)}"
    return f"baseline {_n(check, check['baseline'])}, difference {difference}"


def _cell(text: str) -> str:
    """Return *text* as it may stand in a cell: on one line, and without marks that end it or begin HTML."""
    plain = " ".join(text.split())
    return plain.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|")
