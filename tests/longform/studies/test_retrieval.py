"""Rankings held against judged documents: a row a ranker and measure, and a section that says what each number is."""

from __future__ import annotations

from typing import Any, cast

import pytest

from longform.metrics.statistics import Estimate
from longform.report.result_tables import table_sections
from longform.results.results import Results
from longform.studies.retrieval import Retrieval, measured, table
from longform.tables.table import Table
from tests.longform.studies.test_retrieval_against_generation import QUERIES, evidence

RANKER = "bm25"
HALF = Estimate(0.5, 0.4, 0.6, 9)
WHY = "a length in documents or tokens ends its prompts"


def studied(names: list[str]) -> Table:
    run: Any = evidence(names)
    run.datasets = dict.fromkeys(QUERIES)
    found = Retrieval().result(run)
    assert found is not None
    return found


def results_of(found: Table) -> Results:
    return {"tables": {found.name: found.as_json()}}


def test_a_ranking_whose_prompts_end_by_a_length_says_why_it_has_no_recall_at_budget() -> None:
    found = table(measured({RANKER: {"P@3": HALF}}, {}))
    recall, precision = found.rows
    assert (recall["score"], recall["cut_share"], precision["score"]) == (Estimate(None, None, None, 0), None, HALF)
    assert (found.reason(0, "score") or "").startswith(WHY)
    assert (found.reason(0, "cut_share") or "").startswith(WHY)
    assert not table(measured({}, {(RANKER, 100): (HALF, 0.1)})).reasons


def test_measures_are_those_of_the_first_documents_best_recall_first() -> None:
    """Hand-worked: of six queries `good` finds the document first in four, `poor` in none, at the second place in 1."""
    found = {(row["system"], row["measure"]): row["score"] for row in studied(["poor", "good"]).rows}

    assert [system for system, _ in found] == ["good"] * 9 + ["poor"] * 9
    assert cast(Estimate, found["good", "P@1"]).value == pytest.approx(4 / 6)
    assert cast(Estimate, found["poor", "R@2"]).value == pytest.approx(1 / 6)
    assert cast(Estimate, found["good", "recall_at_budget"]).value == pytest.approx(5 / 6)


def test_the_section_has_a_column_for_each_measure_and_says_what_it_is() -> None:
    found = table(measured({RANKER: {"P@3": HALF}}, {(RANKER, 100): (HALF, 0.1), (RANKER, None): (HALF, 0.0)}))
    (section,) = table_sections(results_of(found))
    (shown,) = section.tables

    assert section.page == "retrieval"
    assert [column.head for column in shown.columns] == [
        *("documents by", "budget in tokens", "recall at budget", "P@3", "share cut")
    ]
    assert [[cell.text for cell in row] for row in shown.cells] == [
        ["bm25", "100", "50.0 %", "50.0 %", "10.0 %"],
        ["bm25", "no limit", "50.0 %", "50.0 %", "0.0 %"],
    ]
    assert shown.cells[0][2].detail == "[40.0, 60.0]"
    assert shown.caption.endswith("held against those that state an insight. Brackets: 95 % interval.")
    for words in ("Recall at budget is the share of an insight's documents", "NDCG@K", "what the limit took away"):
        assert words.lower() in shown.how.lower()


def test_unknowns_have_their_reasons() -> None:
    other = table(measured({RANKER: {"P@3": HALF}}, {("full", None): (HALF, 0.0)}))
    (shown,) = next(table_sections(results_of(other))).tables
    by_name = {row[0].text: row for row in shown.cells}

    assert by_name["full"][3].reason == "no document of its queries is judged"
    assert (by_name["bm25"][2].reason or "").startswith(WHY)
    assert (by_name["bm25"][4].reason or "").startswith(WHY)
