"""The section of repaired citations: numbers in their places, the warning, and examples that hold only text."""

from __future__ import annotations

import re

import pytest

from longform.report.result_figures import table_figures
from longform.report.sections import chips
from longform.results.repaired_examples import examples_in
from longform.studies.repair import WARNING
from longform.studies.schema_1 import with_tables
from tests.longform.report.pages import html, markdown

HOSTILE = "</script><img src=x onerror=alert(1)>"
HEAD = {"title": "t", "aggregate": "pooled"}
SAME = ("70.0", "70.0", "+0.0 [+0.0, +0.0]")
UNKNOWN = dict.fromkeys(("before", "after", "difference", "low", "high", "p"))


def change(before, after, low=None, high=None):
    return {"before": before, "after": after, "difference": after - before, "low": low, "high": high, "p": 0.01}


def row(summarizer, citation, joint, *, setting="oracle", judge="offline-people"):
    coverage = change(70.0, 70.0, 0.0, 0.0)
    return {
        "setting": setting,
        "summarizer": summarizer,
        "judge": judge,
        "n_summaries": 4,
        "citation": citation,
        "joint": joint,
        "coverage": coverage,
    }


EXAMPLE = {
    "kind": "better",
    "summarizer": f"beta {HOSTILE}",
    "setting": "oracle",
    "summary_id": "s&1",
    "repaired_id": "s2",
    "bullet": f"Fares fell by 12 % {HOSTILE}",
    "insight": "Fares fall.",
    "f1": [0.25, 1.0],
    "before": [{"number": 2, "right": True}, {"number": 7, "right": False}],
    "after": [{"number": 2, "right": True}, {"number": 5, "right": True}],
    "gold": [2, 5],
    "evidence": {"number": 5, "right": True, "text": f"In May fares fell. {HOSTILE}"},
}
WORSE = EXAMPLE | {"kind": "worse", "after": [], "evidence": None, "f1": [0.5, 0.0]}
REPAIR = {
    "by": "matrix",
    "label": "supporting documents found",
    "judge": "offline-people",
    "changes": {"better": 8, "worse": 1, "unchanged": 0},
    "rows": [
        row("alpha", change(30.0, 55.5, 20.0, 31.0), change(20.0, 35.0)),
        row("beta", change(20.0, 80.0, 50.0, 70.0), change(15.0, 62.5, 40.0, 55.0)),
        row("gamma", UNKNOWN, change(0.0, 0.0, 0.0, 0.0)),
    ],
    "examples": [EXAMPLE, WORSE],
}
JUDGES = {"judges": [{"judge": "offline-people", "scale": "marks as people do", "card": None}]}


def results_of(repair):
    return with_tables(HEAD | JUDGES | {"repair": repair})


RESULTS = results_of(REPAIR)


@pytest.fixture(scope="module")
def page():
    return html(RESULTS)


SHARES = [("better", "8 89 %"), ("worse", "1 11 %"), ("unchanged", "0 0 %")]


def rows_of(page: str, table: int = 0) -> list[list[str]]:
    body = page.split("<tbody>")[1 + table].split("</tbody>", maxsplit=1)[0]
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", part, re.DOTALL) for part in body.split("<tr>")[1:]]
    return [[" ".join(re.sub(r"<[^>]*>", " ", cell).split()) for cell in line] for line in cells]


def test_systems_stand_before_and_after_best_joint_as_written_first(page):
    """A system is not ranked by its repaired citations."""
    assert rows_of(page) == [
        ["alpha", "oracle", "30.0", "55.5", "+25.5 [+20.0, +31.0]", "20.0", "35.0", "+15.0", *SAME],
        ["beta", "oracle", "20.0", "80.0", "+60.0 [+50.0, +70.0]", "15.0", "62.5", "+47.5 [+40.0, +55.0]", *SAME],
        ["gamma", "oracle", "–", "–", "–", "0.0", "0.0", "+0.0 [+0.0, +0.0]", *SAME],
    ]


def test_judges_stay_in_their_order():
    """A judge that gives higher scores does not come first for it."""
    rows = [
        row("a", change(1.0, 2.0), change(n, n + 1.0), judge=judge) for judge, n in (("first", 1.0), ("second", 9.0))
    ]
    told = markdown(results_of(REPAIR | {"rows": rows}))

    assert told.index("Judge first (") < told.index("Judge second (")


def test_both_pages_warn_that_found_is_not_used(page):
    for text in (page, markdown(RESULTS)):
        assert WARNING in text
        assert "supporting documents found" in text


def test_judge_without_a_card_still_names_its_scale(page):
    assert "Judge offline-people (marks as people do; no card" in page
    assert "Judge offline-people (marks as people do; no card" in markdown(RESULTS)


def test_example_marks_each_document_against_those_that_state_the_insight(page):
    missing = "○ 1 document not cited that states it:"
    row = examples_in(RESULTS["tables"])[0]
    assert chips(row, "before") == [
        ("right", "✓ 1 right citation:", ["2"]),
        ("wrong", "✗ 1 wrong citation:", ["7"]),
        ("missing", missing, ["5"]),
    ]
    assert chips(row, "after") == [("right", "✓ 2 right citations:", ["2", "5"])]
    assert len(re.findall(rf'<li class="missing">{missing}\s+5\s+</li>', page)) == 2
    assert "✓ 2 right citations: 2, 5" in markdown(RESULTS)
    assert "better: citation score 25 to 100" in page
    assert "Of 9 bullets that the judge linked to a covered insight" in page
    assert rows_of(page, 1) == [["offline-people marks as people do", kind, n] for kind, n in SHARES]


def test_example_quotes_the_found_document_or_says_why_not(page):
    assert page.count("<blockquote>In May fares fell.") == 1
    assert page.count("No document supports this bullet") == 1
    assert "Document 5 (states the insight) supports it best: In May fares fell." in markdown(RESULTS)


def test_texts_of_examples_never_become_elements(page):
    assert HOSTILE not in page
    assert "<img" not in page
    assert "<img" not in markdown(RESULTS)


def test_examples_link_to_summaries_only_where_the_page_has_them(page):
    assert "#summary=" not in page.split("<script>")[0]
    whole = html(RESULTS, file_of={"s&1": "summaries-0002.html"})
    assert 'href="summaries-0002.html#summary=s%261"' in whole


def test_runs_without_repair_have_no_such_section():
    assert 'id="repair"' not in html(HEAD)
    assert "repair" not in html(results_of(REPAIR | {"rows": []})).split("</style>")[1].split("<script>")[0]
    assert 'id="repair"' not in html(results_of(REPAIR | {"examples": []}))


def test_scale_stands_beside_the_judge_in_every_table():
    cell = {"setting": "oracle", "summarizer": "a", "judge": "offline-people", "joint": 1.0}
    judged = html(HEAD | {"cells": [cell], **JUDGES})

    assert '<td class="text">offline-people <small>marks as people do</small></td>' in judged


def test_section_names_the_judge_that_drove_the_citations():
    rows = [
        {**one, "faithfulness": {"value": 61.5, "low": 50.0, "high": 72.0, "n": 4}}
        for one in [row("alpha", change(30.0, 55.5), change(20.0, 35.0))]
    ]
    driven = {"by": "checker", "bullets": {"supported": 7, "best": 2, "unjudged": 1}, "rows": rows}
    told = markdown(results_of(REPAIR | driven))

    assert "Driven by support judge checker" in told
    assert "the documents that it calls supporting" in told
    assert "Of 10 bullets: how they came by their citations." in told
    assert "| cite what supports them | 7 70 % |" in told
    assert "| cite the best of what does not | 2 20 % |" in told
    assert "61.5" in told
    assert "Driven by matrix" in markdown(RESULTS)
    assert "Driven by matrix" not in told


def test_what_is_in_sample_is_said_and_marked_at_what_follows_from_it(page):
    told = "in sample: fitted on 3 of these 4 insights"
    fitted = markdown(results_of(REPAIR | {"in_sample": told}))

    assert f"The figures after repair are {told}." in fitted
    assert "citation: after (in sample)" in fitted
    assert "It saw none of the insights" in markdown(results_of(REPAIR | {"in_sample": None}))
    assert "There the figures are in sample." in markdown(RESULTS)
    assert "after (in sample)" not in page


def test_systems_written_elsewhere_are_marked():
    rows = [row("alpha", change(1.0, 2.0), change(1.0, 2.0)) | {"elsewhere": True}]

    assert "| alpha (written elsewhere) | oracle |" in markdown(results_of(REPAIR | {"rows": rows}))


def test_older_results_have_the_same_tables():
    driven = {"by": "checker", "label": "supporting documents found by checker", "bullets": {"supported": 7, "best": 2}}
    for found in (REPAIR, REPAIR | driven):
        tables = results_of(found)["tables"]
        bullets = tables["repair_citations"]["rows"] if "repair_citations" in tables else []
        assert {row["kind"]: row["n_bullets"] for row in tables["repair_changes"]["rows"]} == found["changes"]
        assert {row["how"]: row["n_bullets"] for row in bullets} == found.get("bullets", {})
        first, citation = tables["repair"]["rows"][0], found["rows"][0]["citation"]
        assert (first["measure"], first["before"], first["after"]) == (
            "citation",
            citation["before"],
            citation["after"],
        )
        example = tables["repair_examples"]["rows"][0]
        assert [example["f1_before"], example["f1_after"]] == EXAMPLE["f1"]
        assert example["before"] == [str(one["number"]) for one in EXAMPLE["before"]]


# ---------------------------------------------------------------- figure


def test_figure_tells_both_ends_and_leaves_unknown_changes_out():
    (plot,) = table_figures("table-repair", RESULTS)

    assert plot.alt.startswith("Before to after. alpha: citation 30.0 to 55.5, joint 20.0 to 35.0; beta:")
    assert "gamma: joint 0.0 to 0.0" in plot.alt
    assert "coverage" not in plot.alt
    assert "citation before" in plot.svg
    assert plot.caption.startswith("Setting oracle. Judge offline-people (")
    assert plot.caption.endswith("From what the summary cites to supporting documents found.")


def test_each_setting_has_its_figure_where_summarizers_are_more(page):
    assert page.count('<figure class="plot">') == 1
    settings = [row("alpha", change(1.0, 2.0), change(1.0, 2.0), setting=name) for name in ("full", "bm25", "full/top")]
    by_summarizer = html(results_of(REPAIR | {"rows": settings}))
    assert by_summarizer.count('<figure class="plot">') == 1
    assert "full: citation 1.0 to 2.0" in by_summarizer
