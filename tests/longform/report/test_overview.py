"""The head of a report: what was run, on how much, when, and what it cost; and its one figure."""

import re
from typing import Any

from longform.report.first_page import forest
from longform.report.overview import facts, size_told
from longform.results.differences import NOT_DISTINGUISHABLE, TOO_FEW
from tests.longform.report.test_findings import JUDGE, cell, family, results, row

MAKER = {"verb": "evaluate", "git_commit": None, "versions": {"longform": "1.2"}, "began_at": 0.0}
STAGES = [
    {"name": "score", "seconds": 90.0, "pieces_untold": 0},
    {"name": "judge", "seconds": 60.0, "pieces_untold": 0},
]
SIZE = {"n_queries": 1, "haystacks": ["h1", "h2", "h3"], "n_documents": 1200, "n_summaries": 2}
RUN: dict[str, Any] = {"commands": {"c": MAKER}, "stages": STAGES, "jobs": []}
CELLS = [cell("a, full", 50.0), cell("a, top", 50.0, order="top"), cell("a, twin, full", 60.0, twin_of="a")]


def told(**more: Any) -> dict[str, str | None]:
    """Return the facts of a run by their names; those that are unknown have their reason in brackets."""
    found = facts(results(**{"cells": CELLS, "run": RUN, "size": SIZE, **more}))
    return {name: fact.text if fact.text is not None else f"({fact.reason})" for name, fact in found.items()}


def test_a_run_is_told_by_names_and_numbers() -> None:
    assert told(haystack_topics={"h1": "eels", "h2": "eels", "h3": "tea", "h4": "not run"}) == {
        "Systems": (
            "2: 1 summarizer (a), 2 settings (full, top); 1 with documents ordered on purpose, on the page Position; "
            "beside 1 of them a repaired twin, which nobody runs"
        ),
        "Judges": "j",
        "On": "1 query, 3 haystacks (eels (2); tea) of 1,200 documents, 2 summaries",
        "When": "1970-01-01 00:00 UTC, longform 1.2",
        "Took": "2 min of work in stages",
        "Cost": "$0: no chat model was called",
    }


def test_queries_without_a_score_are_counted_with_the_reason() -> None:
    size: Any = SIZE | {"n_queries": 12, "n_systems": 3, "unscored_queries": {"no insights": 5}, "n_repeating": 4}
    counted = "12 queries, 7 of them scored (5: no insights)"
    assert told(size=size)["On"].startswith(counted)
    assert told(size=size)["On"].endswith("2 summaries, and 4 summaries that repeat some in another order of documents")
    assert size_told(size) == f"3 systems on {counted}"


def test_an_unknown_has_its_reason() -> None:
    old = {name: value for name, value in MAKER.items() if name != "began_at"}
    run = {"commands": {"c": old}, "stages": [], "jobs": [{"job": "c"}]}
    found = facts(results(run=run, judges=[]))
    unknown = {name: fact.reason for name, fact in found.items() if fact.text is None}
    assert set(unknown) == {"Systems", "On", "When", "Took", "Cost"}
    assert all(unknown.values())
    assert unknown["Cost"] == "the ledger of the calls cannot be read"


def test_work_that_no_command_recorded_makes_a_least_time() -> None:
    killed = [{**STAGES[0], "pieces_untold": 4}]
    assert told(run=RUN | {"stages": killed})["Took"].startswith("at least 2 min")


def test_given_summaries_are_not_said_to_be_free() -> None:
    replayed = RUN | {"commands": {"c": MAKER | {"verb": "replay"}}}
    assert told(run=replayed)["Cost"] == "$0: no chat model was called; what the given summaries cost is not recorded"


def test_the_figure_has_twins_beside_originals_and_no_ordered_system() -> None:
    cells = [
        cell("b, full", 40.0),
        cell("a, full", 50.0),
        cell("a, top", 70.0, order="top"),
        cell("a, with sources, full", 90.0) | {"setting": "full", "summarizer": "a, with sources", "twin_of": "a"},
    ]
    drawn = forest(results(family(row("b, full", 40.0, "worse")), cells=cells))
    assert drawn is not None
    plot, n_more = drawn
    assert plot.alt == "Joint score of 2 systems, the best first: a, full 50.0; b, full 40.0."
    assert "Pale diamond, dashed: its repaired twin, the same summaries" in plot.caption
    assert "with sources" not in plot.svg
    assert n_more == 0


def test_the_figure_marks_the_system_alone_that_the_findings_name_as_the_best() -> None:
    shown = {"cells": [cell("b, full", 47.0), cell("a, full", 50.0)]}
    named, alike = (
        forest(results(family(row("b, full", 47.0, finding)), **shown)) for finding in ("worse", NOT_DISTINGUISHABLE)
    )

    assert named is not None
    assert alike is not None
    assert "Blue, filled: the best. Grey" in named[0].caption
    assert "Blue, filled: the best, and systems that cannot be told from it. Grey" in alike[0].caption
    assert named[0].svg != alike[0].svg


def test_the_figure_marks_nobody_if_queries_are_too_few_to_tell_any_system_from_another() -> None:
    drawn = forest(
        results(family(row("b, full", 10.0, f"{TOO_FEW} (3)")), cells=[cell("b, full", 10.0), cell("a, full", 50.0)])
    )
    assert drawn is not None
    assert "Blue" not in drawn[0].caption


def test_systems_whose_names_begin_alike_have_a_line_each() -> None:
    long = "a-model-whose-name-is-longer-than-a-figure-has-place-for"
    cells = [cell(f"{long}-{n}, {setting}", 10.0 * n) for n in (1, 2, 3) for setting in ("full", "bm25")]
    drawn = forest(results(cells=cells))
    assert drawn is not None
    points = re.findall(r'<use xlink:href="#forest-m\w+" x="[\d.]+" y="([\d.]+)" style="fill-opacity', drawn[0].svg)
    assert len({*points}) == len(cells)
    assert all(f"{long}-{n}" in drawn[0].alt for n in (1, 2, 3))
    assert all(f"-{n}, full" in drawn[0].svg for n in (1, 2, 3)), "a name is cut in its middle"


def test_the_figure_of_many_systems_fits_a_screen_and_counts_the_others() -> None:
    drawn = forest(results(cells=[cell(f"s{n}, full", float(n)) for n in range(40)]))
    assert drawn is not None
    assert drawn[1] == 24
    assert "s39" in drawn[0].svg, "the half of the name that is the same for all is left out"
    assert "s39, full" not in drawn[0].svg
    assert "s1 " not in drawn[0].alt


def test_figures_in_sample_bear_their_mark_in_the_figure() -> None:
    drawn = forest(results(cells=[cell("a, full", 50.0, in_sample=["summarizer"])], judges=[JUDGE]))
    assert drawn is not None
    assert "a, full (in sample)" in drawn[0].svg


def test_no_score_makes_no_figure() -> None:
    assert forest(results(cells=[cell("a, full", None)])) is None
    assert forest(results()) is None
