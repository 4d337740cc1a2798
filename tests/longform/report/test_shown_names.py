"""Scripts and repaired twins are called so wherever their names stand."""

from __future__ import annotations

from typing import Any

from longform.report.shown_names import shown_names, unfolded_with_shown_names, with_shown_names
from longform.results.evidence import Unfolded
from longform.studies.schema_1 import with_tables

CONFIG = {
    "summarizers": {
        "writer": {"kind": "chat", "chat": {"provider": "scripted", "model": "gpt-4o"}},
        "model": {"kind": "chat", "chat": {"model": "gpt-4o"}},
    },
    "judges": {"judge": {"kind": "chat", "chat": {"provider": "scripted", "model": "gpt-4o"}}},
}
TWIN = "writer, supporting documents found"
OLDER: Any = {
    "run": {"config": CONFIG},
    "measures": [],
    "cells": [
        {"summarizer": "writer", "setting": "full", "judge": "judge", "twin_of": None, "n_summaries": 2},
        {"summarizer": TWIN, "setting": "full", "judge": "judge", "twin_of": "writer", "n_summaries": 2},
        {"summarizer": "model", "setting": "full", "judge": "judge", "twin_of": None, "n_summaries": 2},
    ],
}
RESULTS: Any = {
    **with_tables(OLDER),
    "comparisons": [{"judge": "judge", "reference": "writer, full", "tied": ["model, full"], "measure": "writer"}],
}


def test_names_say_what_stands_behind_them_in_every_part_of_the_results() -> None:
    shown: Any = with_shown_names(RESULTS, shown_names(RESULTS))
    assert [cell["summarizer"] for cell in shown["cells"]] == [
        "writer (scripted)",
        "repaired twin of writer (scripted)",
        "model",
    ]
    assert shown["cells"][1]["twin_of"] == "writer (scripted)"
    assert shown["comparisons"] == [
        {
            "judge": "judge (scripted)",
            "reference": "writer (scripted), full",
            "tied": ["model, full"],
            "measure": "writer",
        }
    ]
    assert shown["run"] == RESULTS["run"], "the configuration stands as it was written"


def test_sentences_of_a_table_bear_them_too() -> None:
    told = f"Judge judge, by joint: better than: model, full; writer, full. {TWIN}, full is alike."
    results = RESULTS | {"tables": RESULTS["tables"] | {"cost": {"told": told}}}

    shown: Any = with_shown_names(results, shown_names(results))
    assert shown["tables"]["cost"]["told"] == (
        "Judge judge (scripted), by joint: better than: model, full; writer (scripted), full. "
        "repaired twin of writer (scripted), full is alike."
    )


def test_summaries_bear_the_same_names_so_that_numbers_lead_to_them() -> None:
    summary: Any = {"summarizer": TWIN, "scores": {"judge": {"joint": 1.0}, "": {}}, "verdicts": [{"judge": "judge"}]}
    query: Any = {}
    (one,) = unfolded_with_shown_names([Unfolded(summary, query)], shown_names(RESULTS))
    assert one.summary["summarizer"] == "repaired twin of writer (scripted)"
    assert [*one.summary["scores"]] == ["judge (scripted)", ""]
    assert one.summary["verdicts"] == [{"judge": "judge (scripted)"}]
