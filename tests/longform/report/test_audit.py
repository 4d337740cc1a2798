"""The section on how far to trust a made benchmark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from longform.report.provenance import audit_sections
from longform.synthesis.tables import benchmark_tables
from longform.tables.table import Column, Table
from tests.longform.report.pages import html, markdown

FACTS = {
    "haystack_id": "town-0",
    "documents": 100,
    "insights": 57,
    "planted": {"insight": 600, "distractor": 300},
    "exact_search": {"planted": 600, "found": 599, "elsewhere": 2},
    "reasons": {},
    "near_duplicates": [{"doc_ids": ["a", "b"], "similarity": 0.8}],
    "located_by": "planted statement",
    "tenths": [60] * 10,
    "documents_per_insight": {"least": 5, "mean": 10.5, "most": 19},
}
AUDIT: dict[str, Any] = {
    "judge": "support-words",
    "cells": {"listed": 600, "left_out": 5100},
    "judged": {"listed_rejected": 31, "left_out_accepted": 8},
    "false_positives": {"value": 0.02, "low": 0.01, "high": 0.04, "n": 600},
    "missed": {"value": 0.001, "low": 0.0, "high": 0.002, "n": 5100},
    "joint_ceiling": {"value": 98.5, "low": 97.25, "high": 99.5},
    "haystacks": [FACTS],
}


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    return json.loads((Path(__file__).parent / "data" / "report_results.json").read_text())


def page(results: dict[str, Any], audit: dict[str, Any]) -> str:
    return markdown(results | {"audit": audit})


def test_no_audit_no_section(results: dict[str, Any]) -> None:
    assert list(audit_sections(results)) == []
    assert "How far to trust" not in markdown(results)


def test_the_ceiling_and_the_noise_stand_with_their_intervals(results: dict[str, Any]) -> None:
    text = page(results, AUDIT)

    assert "expected to reach a joint score of 98.5 [97.2, 99.5]" in text
    assert "| 2.00 % [1.00, 4.00] | 0.10 % [0.00, 0.20] | 98.5 [97.2, 99.5] |" in text
    assert "rejects 31 of those listed and accepts 8" in text


def test_each_haystack_has_its_counts_and_places(results: dict[str, Any]) -> None:
    text = page(results, AUDIT)

    assert "| town-0 | 100 | 57 | 5 | 10.5 | 19 | 1 | 300 | 0 |" in text
    assert "| town-0 | 100 | 57 | 600 | 599 | 2 |" in text
    assert "| town-0 | planted statement |" + " 10.0 % |" * 10 in text


def test_what_is_not_known_is_said_with_its_reason(results: dict[str, Any]) -> None:
    nothing = {"value": None, "low": None, "high": None}
    facts = FACTS | {
        "planted": None,
        "exact_search": None,
        "reasons": {"exact_search": "not told", "planted": "not told"},
    }
    unknown = {"false_positives": nothing, "missed": nothing, "joint_ceiling": nothing, "haystacks": [facts]}
    text = page(results, AUDIT | unknown)

    assert "What was planted where is not known: not told." in text
    assert "| town-0 | 100 | 57 | 5 | 10.5 | 19 | 1 |" in text  # no columns in which nothing is known
    assert "label noise is not known" in text
    assert "expected to reach" not in text


def test_many_haystacks_are_cut_and_counted(results: dict[str, Any]) -> None:
    text = page(results, AUDIT | {"haystacks": [FACTS | {"haystack_id": f"town-{at}"} for at in range(43)]})

    assert "The first 40 of 43" in text
    assert "town-39 " in text
    assert "town-40 " not in text


def test_whose_words_stand_around_planted_sentences_is_said(results: dict[str, Any]) -> None:
    counts = {"by_model": 1, "in_part": 2, "by_template": 3, "kept": 7, "fallen_back": 11, "replies": 30}
    prose = {"model": "smollm2", **counts, "rejected": {"number": 5, "statement_lost": 18}}
    text = page(results, AUDIT | {"haystacks": [FACTS | {"prose": prose}, FACTS | {"haystack_id": "town-1"}]})

    for row in ("1 | 2 | 3", "7 | 11", "30 | 23 | statement lost 18, number 5"):
        assert f"| town-0 | smollm2 | {row} |" in text
    assert "| town-1 | smollm2 |" not in text
    assert "Whose words" not in page(results, AUDIT)


SYNTHESIS: dict[str, Any] = {
    "models": {"writer": "w-1", "verifier": "v-1"},
    "haystacks": [
        {
            "haystack_id": "town-0",
            "documents": 97,
            "documents_not_written": 3,
            "mean_words": 701.4,
            "insights": 57,
            "insights_below_least_documents": [{"insight": "x", "documents": 4}],
            "known_without_documents": None,
            "assigned_but_not_stated": 11,
            "stated_but_not_assigned": 12,
            "unchecked_cells": 0,
            "read_again": {"differing_share": 0.013},
        }
    ],
    "checks": [
        {"check": "article leaks", "accepted_if": "none", "attempts": 9, "accepted": 5, "rejected": 3, "exhausted": 1},
        {"check": "never asked", "accepted_if": "-", "attempts": 0, "accepted": 0, "rejected": 0, "exhausted": 0},
    ],
}


def test_what_chat_models_were_asked_for_and_what_came_is_said(results: dict[str, Any]) -> None:
    text = markdown(results | {"audit": AUDIT, "synthesis": SYNTHESIS})

    assert "writer w-1, verifier v-1" in text
    for row in ("97 | 3 | 701.4", "57 | 1", "11 | 12 | 0 | 1.30 %"):
        assert f"| town-0 | {row} |" in text
    assert "Left out: insights: known (nobody was asked the queries without documents)." in text
    assert "| article leaks | none | 9 | 5 | 3 | 1 |" in text
    assert "never asked" not in text


def test_what_was_given_up_is_named_and_a_second_reading_has_its_interval(results: dict[str, Any]) -> None:
    given_up = {"haystack_id": "town-0", "check": "article leaks", "subject": "document 3", "attempt": 6}
    haystack = SYNTHESIS["haystacks"][0]
    again = haystack["read_again"] | {"differing_low": 0.004, "differing_high": 0.03}
    synthesis = SYNTHESIS | {
        "models": {"planner": "w-1", "writer": "w-1", "verifier": "v-1"},
        "haystacks": [haystack | {"read_again": again}],
        "exhausted": [given_up | {"reason": f"states insight {number}"} for number in range(1, 43)],
    }
    text = markdown(results | {"audit": AUDIT, "synthesis": synthesis})

    assert "planner and writer w-1, verifier v-1" in text
    assert "1.30 % [0.40, 3.00]" in text
    assert "| town-0 | article leaks | document 3 | 6 | states insight 40 |" in text
    assert "states insight 41" not in text
    assert "The first 40 of 42" in text
    assert "What was given up" not in markdown(results | {"audit": AUDIT, "synthesis": SYNTHESIS})


def test_tables_that_a_benchmark_keeps_are_shown_as_those_that_are_made_of_its_account(results: dict[str, Any]) -> None:
    made: Any = results | {"audit": AUDIT, "synthesis": SYNTHESIS}
    described = benchmark_tables(made["audit"], made["synthesis"])
    kept: Any = results | {"benchmark_tables": json.loads(json.dumps(described))}

    assert list(audit_sections(kept)) == list(audit_sections(made))


def test_any_table_of_a_benchmark_is_shown_by_its_columns_alone(results: dict[str, Any]) -> None:
    columns = [Column("haystack"), Column("cost", "usd", title="spent: on it", told="all calls", better="lower")]
    table = Table("other", columns, [{"haystack": "h1", "cost": 0.25}], told="A maker of one's own.")
    described = {"title": "Another maker", "told": ["It says so."], "tables": {"other": table.as_json()}}
    shown: Any = results | {"benchmark_tables": described, "haystack_topics": {"h1": "Bees"}}
    text = markdown(shown)

    for said in ("## Another maker", "It says so.", "A maker of one's own.", "Lower is better.", "| Bees | $0.2500 |"):
        assert said in text


def test_a_ceiling_of_few_pairs_is_said_to_say_little(results: dict[str, Any]) -> None:
    wide = {"joint_ceiling": {"value": 100.0, "low": 61.0, "high": 100.0}}

    assert "So few pairs" in page(results, AUDIT | wide)
    assert "So few pairs" not in page(results, AUDIT)


def test_the_page_has_the_section_too(results: dict[str, Any]) -> None:
    assert "How far to trust this benchmark" in html(results | {"audit": AUDIT})
