"""Model calls: sums in their places, unknowns with reasons, the plan beside what came of it."""

from __future__ import annotations

import re

import pytest

from longform.report.result_tables import table_sections
from longform.results.calls import UNSETTLED, calls_told
from longform.studies.schema_1 import with_tables
from tests.longform.report.pages import html, markdown

HEAD = {"title": "t", "aggregate": "pooled"}
PLANNED = {
    "calls": 40,
    "input_tokens": {"low": 900.0, "expected": 1000.0, "high": 1200.0},
    "output_tokens": {"low": 40.0, "expected": None, "high": 4000.0},
    "usd": None,
    "minutes": {"low": 2.0, "expected": 2.0, "high": 2.0},
    "reasons": {"output_tokens": "no earlier call", "usd": "no price of it"},
}
MADE = {"calls": 41, "input_tokens": 1010, "output_tokens": None, "usd": None, "minutes": 2.5}
ROW = {
    "ledger": "file:///ledger",
    "stage": "judge gpt",
    "model": "gpt",
    "calls": 1234,
    "answered": 1200,
    "failed": 30,
    "refused": 10,
    "open": 4,
    "reused": 7,
    "input_tokens": 5000,
    "cached_tokens": 15000,
    "output_tokens": 321,
    "reasoning_tokens": None,
    "cached_share": 0.75,
    "saved_usd": 0.0125,
    "known_usd": 1.5,
    "n_unknown_usd": 2,
    "unsettled_usd": 0.25,
    "n_unsettled_unknown_usd": 1,
    "answered_models": ["gpt-2026-01-01"],
    "planned": None,
    "since_plan": None,
}


def section(*rows, **more):
    (found,) = table_sections(with_tables({"calls": list(rows), **more}))
    return found


def cells(table, row=0):
    return {column.head: table.rows[row][column.name] for column in table.columns}


def test_run_without_calls_has_no_such_section():
    assert list(table_sections(with_tables(HEAD))) == []
    assert "Calls and cost" not in markdown(with_tables(HEAD | {"calls": []}))


def test_sums_stand_in_their_columns():
    (table,) = section(ROW).tables
    shown = {name: (cell.text, cell.detail) for name, cell in cells(table).items()}

    assert shown == {
        "stage": ("judge gpt", None),
        "model": ("gpt", "answered as: gpt-2026-01-01"),
        "calls": ("1,234", None),
        "answered": ("1,200", None),
        "failed": ("30", None),
        "reused": ("7", None),
        "input tokens": ("5,000", None),
        "cached tokens": ("15,000", None),
        "output tokens": ("321", None),
        "share cached": ("75.0 %", None),
        "dollars saved": ("$0.0125", None),
        "dollars": ("$1.5000", "calls of unknown cost: 2"),
        "unsettled calls": ("4", "at most: $0.2500; of unknown price: 1"),
    }
    assert "Left out: reasoning tokens (" in table.how


def test_cost_that_is_known_of_no_call_is_unknown_and_not_zero():
    (table,) = section(ROW | {"answered": 5, "failed": 2, "refused": 1, "n_unknown_usd": 6, "known_usd": 0.0}).tables

    assert "dollars" not in cells(table)
    assert re.search(r"Left out: [^.]*\bdollars \(the price or the usage is not known", table.how)


@pytest.mark.parametrize(
    ("goes_on", "open_calls"),
    [
        (False, f"are unsettled, at most $0.5000 and an unknown sum for 2 of them: {UNSETTLED}"),
        (True, "are under way, at most $0.5000 and an unknown sum for 2 of them"),
    ],
)
def test_words_name_the_sum_at_stake(goes_on, open_calls):
    cost = "2,468 calls cost at least $3.0000: what 4 of them cost is not known."
    assert calls_told([ROW, ROW], goes_on=goes_on) == f"{cost} 8 calls {open_calls}."
    assert section(ROW, ROW).tables[0].caption.startswith(f"{cost} 8 calls are not settled, at most $0.5000")


def test_words_name_no_sum_where_no_cost_is_known():
    nothing = {"calls": 7, "refused": 1, "open": 0, "n_unknown_usd": 6, "known_usd": 0.0}

    told = "7 calls, and what they cost is not known: the price or the usage is not known."
    assert section(ROW | nothing).tables[0].caption == told


def test_plan_stands_beside_what_was_made():
    _, table = section(ROW | {"planned": PLANNED, "since_plan": MADE}).tables
    shown = {name: (cell.text, cell.detail) for name, cell in cells(table).items()}

    assert shown["calls, planned"] == ("40", None)
    assert shown["calls, made"] == ("41", None)
    assert shown["tokens in, planned"] == ("1,000", "[900, 1,200]")
    assert shown["tokens in, made"] == ("1,010", None)
    assert shown["tokens out, planned"] == ("[40, 4,000]", None)
    assert shown["minutes, planned"] == ("2.0", None)
    assert "Brackets: the planned interval." in table.caption
    assert "dollars, planned (no price of it)" in table.how
    assert "tokens out, made (the provider did not say)" in table.how


def test_ledger_that_is_gone_is_named():
    """A run that was moved away from its ledger must not look as if it had cost nothing."""
    found = section(missing_ledgers=["s3://gone/ledger"])

    assert "not known" in found.tables[0].caption
    assert found.tables[0].cells[0][0].text == "s3://gone/ledger"


@pytest.mark.parametrize("page", [html, markdown])
def test_pages_show_the_section(page):
    text = page(with_tables(HEAD | {"calls": [ROW | {"planned": PLANNED, "since_plan": MADE}]}))

    assert "Calls and cost" in text
    assert "1,234" in text
