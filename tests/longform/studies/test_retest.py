"""Judges that were asked again: a row a judge, a section beside the judges, and words in their table."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from longform.metrics.agreement import RepeatedPair
from longform.report.result_tables import shown_of, table_sections
from longform.results.aggregate import Averaging
from longform.results.evidence import AskedAgain
from longform.results.judges import judges_tables
from longform.results.results import Results
from longform.studies.retest import Retest

PAIRS = [
    RepeatedPair(f"q{place}", ["yes", "yes" if place else "no"], [1.0, 1.0 if place else 0.0]) for place in range(4)
]


def results_of(*asked: AskedAgain) -> Results:
    evidence: Any = SimpleNamespace(averaging=Averaging("pooled", 1, 200), asked_again=lambda: iter(asked))
    table = Retest().result(evidence)
    return {"tables": {table.name: table.as_json()}} if table else {}


def test_a_judge_that_was_asked_again_has_a_row_and_a_section() -> None:
    results = results_of(AskedAgain("again", None, PAIRS))
    (section,) = table_sections(results)
    (shown,) = section.tables

    assert section.page == "judges"
    assert [column.head for column in shown.columns] == [
        *("judge", "repeats", "questions", "same answer", "kappa", "r", "spread")
    ]
    assert [cell.text for cell in shown.cells[0]][:4] == ["again", "2", "4", "75.0 %"]
    assert shown.cells[0][6].text == f"{(0.5 / 4) ** 0.5:.2f}"
    assert "each judge's agreement with itself" in shown.caption
    assert "the intraclass correlation of the numbers" in shown.how


def test_what_cannot_be_known_says_why() -> None:
    alike = [RepeatedPair("q", ["yes", "yes"], [1.0, 1.0])]
    (section,) = table_sections(results_of(AskedAgain("again", None, alike)))

    assert "(too few answers, or all the same)" in section.tables[0].how
    assert results_of() == {}


def test_the_table_of_judges_has_the_same_in_words() -> None:
    judges: Any = [{"judge": name, "scale": None, "card": None, "card_reason": None} for name in ("again", "once")]
    again = results_of(AskedAgain("again", None, PAIRS))["tables"]["retest"]["rows"]
    (table,) = judges_tables(judges, again)
    (shown,) = shown_of({"judges": judges}, table)

    told = [[cell.text or "" for cell in row] for row in shown.cells if row[0].text == "again"]
    assert told[1][1].startswith("asked 2 times (4 questions): same answer again 75.0")
