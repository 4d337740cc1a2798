"""JUnit XML keeps to the schema that CI systems read, and Markdown to its table, whatever names are in them."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as ET

from longform.metrics.statistics import Estimate
from longform.report.answers import answer_markdown
from longform.results.gate import check_line, check_table, conclusion, junit_xml
from longform.results.results import VerbAnswer


def check(verdict: Any = "passed", **more: Any) -> Any:
    return {
        "kind": "threshold", "dataset": None, "judge": "people", "system": "rag, bm25", "measure": "citation",
        "unit": "points", "value": Estimate(68.44, 59.5, 77.0, 12), "threshold": 70.0, "direction": "under", "n": 12,
        "verdict": verdict, "told": "",
    } | more  # fmt: skip


AGAINST = {
    "kind": "baseline", "threshold": None, "direction": None, "value": 68.44, "baseline": 75.0,
    "difference": Estimate(-6.56, -9.0, -4.0, 12),
}  # fmt: skip
NASTY = 'a|b <c> & "d"\x00\x1b\nnext'


def test_a_line_has_value_interval_threshold_and_verdict() -> None:
    assert check_line(check("failed")) == ("failed    citation of rag, bm25 by people: 68.4 [59.5, 77.0], at least 70")
    line = check_line(check("failed", **AGAINST, told="old is better"))
    assert line.endswith("68.4, baseline 75.0, difference -6.6 [-9.0, -4.0] (old is better)")


def test_a_conclusion_says_that_nothing_is_shown_if_too_much_is_unjudged() -> None:
    assert conclusion([check()], judged=True) == "gate: passed (1 check: 1 passed)"
    assert "NO EVIDENCE" in conclusion([check()], judged=False)
    assert "FAILED (2 checks: 1 passed, 1 no value)" in conclusion([check(), check("no value")], judged=True)


ALLOWED = {  # of the schema of the Jenkins xUnit plugin (junit-10.xsd)
    "testsuites": {"name", "tests", "failures", "errors", "skipped", "time"},
    "testsuite": {"name", "tests", "failures", "errors", "skipped", "time"},
    "testcase": {"classname", "name", "time"},
    "failure": {"message", "type"},
    "error": {"message", "type"},
    "skipped": {"message"},
    "system-out": set[str](),
}
CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"testcase"},
    "testcase": {"failure", "error", "skipped", "system-out"},
}


def test_junit_keeps_to_its_schema_and_counts_what_it_holds() -> None:
    verdicts = ["passed", "failed", "no value", "too few", "failed"]
    root = ET.fromstring(junit_xml([check(one) for one in verdicts], run="run", unjudged="60.0% is unjudged"))

    for element in root.iter():
        assert set(element.attrib) <= ALLOWED[element.tag]
        assert {child.tag for child in element} <= CHILDREN.get(element.tag, set())
    (suite,) = root
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "6", "failures": "2", "errors": "2", "skipped": "1",
    }  # fmt: skip
    for kind, n in (("failure", 2), ("error", 2), ("skipped", 1), ("testcase", 6)):
        assert len(list(root.iter(kind))) == n
    assert "68.4 [59.5, 77.0], at least 70" in str(next(root.iter("failure")).get("message"))


def test_a_junit_reader_takes_it() -> None:
    from junitparser import JUnitXml

    xml = JUnitXml.fromstring(junit_xml([check(), check("failed")], run="run", unjudged=None))
    assert (xml.tests, xml.failures, xml.errors) == (2, 1, 0)
    assert [case.is_passed for suite in xml for case in suite] == [True, False]


def test_odd_names_break_neither_xml_nor_the_table() -> None:
    odd = check("failed", system=NASTY, judge=NASTY)
    root = ET.fromstring(junit_xml([odd], run=NASTY, unjudged=None))
    assert "a|b <c>" in str(next(root.iter("testcase")).get("name"))

    text = answer_markdown(VerbAnswer("gate", [], [check_table([odd])]))
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 3
    assert len({row.replace("\\|", "").count("|") for row in rows}) == 1
    assert "<c>" not in text


def test_failed_checks_stand_first_in_the_summary() -> None:
    text = answer_markdown(VerbAnswer("gate", ["A note."], [check_table([check(), check("failed")])]))
    assert text.index("| failed |") < text.index("| passed |")
    assert "A note." in text
