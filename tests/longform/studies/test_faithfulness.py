"""The study of faithfulness as tables: what a report shows of them, and the older form beside them."""

from __future__ import annotations

import json
from copy import deepcopy
from functools import cache
from typing import Any

import numpy as np
import polars as pl

from longform.report.result_figures import table_figures
from longform.report.result_tables import table_sections
from longform.results.alignment import alignment_rows, placed_twice
from longform.results.cells import number_in, systems_in
from longform.results.faithfulness_tables import (
    against_plain,
    groups,
    length_rows,
    order_rows,
    permutation_rows,
    place_rows,
    score,
)
from longform.settings.named_judges import SECOND_ALIGNER
from longform.studies.faithfulness import tables
from longform.studies.schema_1 import with_tables
from tests.longform.report.pages import html, markdown
from tests.longform.results.test_against_plain import ALIKE, BETTER, PLAIN
from tests.longform.results.test_alignment import study
from tests.longform.results.test_faithfulness_tables import BY_TOKENS, SETTINGS, checked, frame, lead, system


def two_judges(*untestable: str, judges: tuple[str, ...] = ("letter", "graded")) -> dict[str, Any]:
    """The study of a writer under two judges; those that cannot place what they call unsupported have no curve."""
    point = {"value": 50.0, "low": 40.0, "high": 60.0, "n": 9}
    index = {"spread": 1.0, "lead": 0.0, "ends": 0.0, "p": 0.5, "p_holm": 0.5, "shape": "not distinguishable from flat"}
    curve = {"curve": [point] * 3, "index": index}
    none = {"curve": None, "index": None, "reason": "3 of its 9 sentences have no place"}
    row = {
        "dataset": None,
        "summarizer": "writer",
        "setting": "full",
        "axes": {"retriever": "full"},
        "bins": 3,
        "degenerate": {"n_summaries": 3, "n_empty": 0, "n_sentences": 9, "n_unattributed": 3},
        "coverage": curve,
    }
    places = [row | {"judge": judge, "faithfulness": none if judge in untestable else curve} for judge in judges]
    return {
        "mode": "document",
        "merging": {"documents": "max", "sentences": "mean"},
        "attribution": None,
        "attributed": [
            {"judge": judge, "by": judge, "untestable": none["reason"] if judge in untestable else None}
            for judge in judges
        ],
        "places": places,
        **dict.fromkeys(
            ("cells", "orders", "against_plain", "lengths", "alignment", "permutations", "not_applicable"), ()
        ),
    }


def shown(found: Any) -> Any:
    """Results of an older version with this study, as they are read now."""
    return with_tables({"title": "t", "aggregate": "pooled", "faithfulness": found, "run": {}})


def test_a_judge_that_nothing_can_align_is_said_to_be_untestable_in_place_of_a_curve() -> None:
    results = shown(two_judges("letter", judges=("letter",)))
    text = markdown(results)
    section = text[text.index("## Faithfulness and coverage by place") : text.index("## How the numbers were made")]
    assert "| judge | placed by | cannot be tested with this judge |" in section
    assert "| letter | letter | 3 of its 9 sentences have no place |" in section
    assert "distance from flat" not in section
    assert "<svg" not in html(results | {"drilldown": {"queries": {}, "summaries": []}})


def test_other_judges_of_a_run_keep_their_curves() -> None:
    text = markdown(shown(two_judges("letter")))
    section = text[text.index("## Faithfulness and coverage by place") :]
    assert "| letter | letter | 3 of its 9 sentences have no place |" in section
    assert "Faithfulness. Judge graded" in section
    assert "Coverage. Judge graded" in section
    assert "Judge letter" not in section


def test_curves_of_two_data_sets_are_panels_of_one_figure() -> None:
    found = two_judges(judges=("graded",))
    rows = [row | {"dataset": dataset} for dataset in ("news", "mail") for row in found["places"]]
    figures = list(table_figures("table-faithfulness-curves", shown(found | {"places": rows})))
    assert len(figures) == 2  # faithfulness and coverage
    for figure in figures:
        assert "news. writer, full: 50.0, 50.0, 50.0. mail. writer, full: 50.0" in figure.alt
        assert "A panel a data set." in figure.caption


def older_cells(summaries: pl.DataFrame) -> list[dict[str, Any]]:
    """The systems of each judge in the form of older results."""
    return [
        {
            **key.named(),
            **{name: getattr(key.system, name) for name in ("method", "order", "n_documents", "length_tokens")},
            "faithfulness": score(group, SETTINGS, key).as_json(),
            "supported": {"value": 50.0, "low": 40.0, "high": 60.0, "n": 9},
            "n_summaries": len(group),
            "n_repeats": 1,
            "n_failed": int(group["failure"].count()),
            "failures": {"length": 1} if group["failure"][0] else {},
            "n_without_score": 0,
            "unjudged_share": 0.25,
            "elsewhere": False,
        }
        for key, group in groups(summaries)
    ]


def whole() -> dict[str, Any]:
    """The study of a writer that leads, in orders, lengths and drawn orders, in the form of older results."""
    return deepcopy(_whole())


@cache
def _whole() -> dict[str, Any]:
    by_order = [lead(seed, system(order=order)) for seed, order in enumerate(("given", "top", "bottom"))]
    by_length = [lead(seed, system(n_documents=n)) for seed, n in enumerate((3, 5))]
    cut = [checked(0, np.zeros((3, 0)), of=system(method="focus-top"), failure="length")]
    drawn = [
        checked(query, np.full((2, 4), value), of=system(order="permuted", permutation=number))
        for number, value in enumerate((0.5, 0.6, 0.7))
        for query in range(3)
    ]
    summaries = frame(summary for group in (*by_order, *by_length, cut) for summary in group)
    twice = study(moved=False)
    return {
        "mode": "document",
        "merging": {"documents": "max", "sentences": "mean"},
        "cells": older_cells(summaries),
        "places": place_rows(summaries, SETTINGS),
        "orders": order_rows(summaries, SETTINGS),
        "against_plain": against_plain(frame([*PLAIN, *BETTER, *ALIKE]), SETTINGS),
        "lengths": [*length_rows(summaries, SETTINGS), *length_rows(frame(BY_TOKENS), SETTINGS)],
        "alignment": alignment_rows(twice, SETTINGS),
        "placed_twice": placed_twice(twice, SETTINGS),
        "attribution": None,
        "attributed": [{"judge": "lexical", "by": "lexical", "untestable": None}],
        "permutations": [row | {"stopped": "as many as asked for"} for row in permutation_rows(frame(drawn), 20.0)],
        "not_applicable": [{"summarizer": "offline", "setting": "full/incremental", "method": "incremental"}],
    }


def test_the_report_shows_every_table_and_figure_and_what_does_not_apply() -> None:
    results = shown(whole())
    page, text = html(results | {"drilldown": {"queries": {}, "summaries": []}}), markdown(results)
    for one in (page, text):
        assert "the method needs a chat model" in one
        assert "Faithfulness by the number of documents" in one
        assert "Faithfulness by the tokens of whole documents" in one
        assert "lead bias" in one
        assert "every summary failed" in one
    assert "| offline | full/incremental | incremental |" in text
    assert "| writer | full | 4,000 | 3.0 | 2 | 4 | 37.5" in text
    assert page.count("<svg") >= 4
    curves = [plot.alt for plot in table_figures("table-faithfulness-curves", results)]
    assert any("writer, full/top: " in alt and "writer, full: " in alt for alt in curves)  # beside the plain one


def test_methods_and_orders_against_the_plain_one_are_told_in_words_and_in_a_table() -> None:
    head, *_ = table_sections(shown(whole()))
    (told,) = head.paragraphs[1:]
    assert told == (
        "Judge lexical. Methods and orders against the plain one, 2 pairs: 1 better; 1 not distinguishable. Better "
        "than it: writer, full/focus-top. Not distinguishable from it: writer, full/middle."
    )
    (table,) = [one for one in head.tables if any(column.head == "plain" for column in one.columns)]
    assert "adjusted for the rows of this table (Holm)" in table.how
    assert [row[-1].text for row in table.cells] == ["better", "not distinguishable"]


def test_a_judge_without_a_curve_stands_in_no_table_of_alignment() -> None:
    untestable = {"judge": "told", "by": "told", "untestable": "no place"}
    for attributed, is_shown in (([untestable], False), ([], True)):
        made = tables(whole() | {"attributed": attributed, "attribution": None})
        assert [one.shown for one in made if one.name.startswith("faithfulness_alignment")] == [is_shown]
    (table,) = [one for one in made if one.name == "faithfulness_alignment"]
    assert (table.rows[0]["judge"], table.rows[0]["second"]) == ("told", SECOND_ALIGNER)


def test_older_results_have_the_costs_of_systems_beside_their_faithfulness() -> None:
    found = json.loads(json.dumps(whole()))
    first = found["cells"][0]
    spent = {"usd_a_summary": 0.25, "tokens_in": 12.0, "tokens_out": 3.0, "seconds": None}
    named = {name: first[name] for name in ("dataset", "summarizer", "setting")}
    older = {"faithfulness": found, "cost": {"systems": [{**named, **spent, "reasons": {"seconds": "lost"}}]}}
    costs = {"systems": older["cost"]["systems"], "frontiers": [], "judges": []}

    systems = systems_in(with_tables(older | {"cost": costs}))
    (own,) = [row for row in systems if all(row.get(name) == named[name] for name in named)]
    assert (number_in(own, "usd_a_summary"), own["reasons"]["seconds"]) == (0.25, "lost")
