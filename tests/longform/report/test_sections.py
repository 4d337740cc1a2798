"""Sections of a report: the right number in the right cell, and unknowns with reasons."""

import re

import pytest

from longform.axes import SystemAxes
from longform.errors import LongformError
from longform.repair.twins import LABEL
from longform.report.findings import findings
from longform.report.provenance import flatten
from longform.report.sections import SECTIONS
from longform.report.tables import is_position_row, summarizers_by_joint
from longform.studies.schema_1 import with_tables
from longform.tables.cells import number
from tests.longform.report.pages import Page, html, markdown, only, pipe_tables, with_twins


def test_main_table_has_summarizers_by_oracle_joint_and_measures_by_setting(page):
    groups, names, *rows = page.tables["scores"][0]
    assert groups == ["", "coverage", "citation", "joint"]
    assert names == ["summarizer", *["random", "oracle", "full"] * 3]
    by_name = {row[0]: row[1:] for row in rows}
    assert [row[0] for row in rows][:2] == ["beta", "alpha"]
    assert by_name["alpha"][:9] == ["41.2", "71.5", "62.7", "11.3", "52.6", "21.8", "5.6", "40.4", "13.9"]
    assert by_name["beta"][:9] == ["39.1", "76.3", "–", "12.4", "55.7", "–", "4.5", "44.9", "–"]


def test_what_is_known_besides_stands_below_the_scores_with_a_row_a_system(page):
    heads, *rows = page.tables["scores"][1]
    assert heads == ["setting", "summarizer", "words a bullet", "share cut", "share unjudged"]
    by_system = {tuple(row[:2]): row[2:] for row in rows}
    assert by_system["oracle", "beta"] == ["31.2", "3.1 %", "40.0 %"]
    assert by_system["random", "beta"] == ["28.4", "3.1 %", "0.0 %"]
    assert by_system["full", "beta"][0] == "–"


def test_a_system_that_nobody_could_judge_counts_as_unjudged(results):
    """It has no judged insight, so a mean weighted by those alone would hide it."""
    cell = results["cells"][1]
    blind = cell | {"setting": "full", "joint": None, "n_insights": 0, "n_unjudged": 20, "unjudged_share": 1.0}
    rows = Page(html(only(results) | {"cells": [cell, blind]})).tables["scores"][1]
    assert [row[-1] for row in rows if row[0] == "full"] == ["100.0 %"]


def test_each_judge_has_its_own_block_with_its_card(results, page):
    assert len(page.tables["scores"]) == 2 * len(results["judges"])
    second = page.tables["scores"][2]
    assert [row[:2] for row in second[1:]] == [["oracle", "beta"], ["oracle", "alpha"]]
    assert second[1][2].startswith("74.4 [")  # one setting alone: rows with intervals, no grid
    report = markdown(results)
    assert "Judge offline (its card stands under Judges)" in report
    assert "(no card: its agreement with people is not known)" in report
    judges = [row | {"worth": "agrees little"} for row in results["judges"]]
    assert "Judge offline (agrees little)" in markdown(results | {"judges": judges})
    assert page.tags.count("details") > len(page.tables["scores"])


def test_settings_that_are_positions_stay_out_of_the_main_table(page):
    shown = {text for table in page.tables["scores"] for row in table for text in row[:10]}
    assert not {"full/top", "fl-ctxt-sort"} & shown
    assert {row[1] for row in page.tables["cells"][0]} >= {"full/top", "fl-ctxt-sort"}


@pytest.mark.parametrize(
    ("axes", "expected"),
    [
        (SystemAxes("full", order="top"), True),
        (SystemAxes("bm25", order="random"), True),
        (SystemAxes("random"), False),
        (SystemAxes("minilm/top"), False),
        (SystemAxes("full", order="permuted", permutation=1), False),
    ],
)
def test_position_rows_are_known_by_their_order(axes, expected):
    assert is_position_row({"setting": axes.words(with_budget=False), "axes": axes._asdict()}) is expected


def test_one_summarizer_and_many_settings_become_one_row_a_system_with_intervals(results):
    cells = [cell for cell in results["cells"] if cell["summarizer"] == "alpha" and cell["judge"] == "offline"]
    head, *rows = Page(html(only(results) | {"cells": cells})).tables["scores"][0]
    assert head[:5] == ["setting", "summarizer", "coverage", "citation", "joint"]
    assert [row[0] for row in rows] == ["oracle", "full", "random"]
    assert rows[0][2:5] == ["71.5 [67.2, 75.8]", "52.6 [48.4, 56.9]", "40.4 [36.1, 44.6]"]


def test_without_an_oracle_the_best_joint_score_decides():
    cells = [
        {"summarizer": name, "setting": setting, "joint": joint}
        for name, setting, joint in [("a", "bm25", 20.0), ("b", "full", 30.0), ("c", "bm25", None), ("a", "full", 25.0)]
    ]
    assert summarizers_by_joint(cells) == ["b", "a", "c"]


def test_every_cell_is_told_per_summary_too_unless_the_run_averages_so_already(results):
    lists = only(results, "cells", "per_summary_cells")
    pooled, per_summary = pipe_tables(markdown(lists).split("## Every system")[1])[:2]
    assert (pooled[2][3], per_summary[2][3]) == ("76.3 [72.0, 80.5]", "75.6 [72.0, 80.5]")
    told = markdown(lists | {"aggregate": "per_summary"}).split("## Every system")[1].split("## How")[0]
    assert len(pipe_tables(told)) == 3, "below the scores stands what they rest on, in two parts"
    assert "Pooled:" not in told


def test_judges_that_give_other_measures_stand_in_tables_of_their_own(results):
    tables = with_tables(only(results, "cells"))["tables"]
    cells, measures = tables["cells"], tables["measures"]
    share = {**cells["rows"][0], "judge": "checker", "measure": "supported", "per_summary": None}
    cells = cells | {"rows": [*cells["rows"], share], "reasons": [*cells["reasons"], {}]}
    supported = {"name": "supported", "title": "supported", "unit": "points", "better": "higher", "told": ""}
    measures = measures | {"rows": [*measures["rows"], supported]}
    shown = markdown(only(results) | {"tables": tables | {"cells": cells, "measures": measures}})
    lists = pipe_tables(shown.split("## Every system")[1].split("## How")[0])
    checked = [table for table in lists if any("checker" in row for row in table)]
    assert [table[0] for table in checked] == [["summarizer", "setting", "judge", "supported"]]
    assert [len(table) - 2 for table in checked] == [1]


def test_every_section_holds_its_numbers(page):
    position = page.tables["table-position"][0]
    assert position[0] == [
        *("summarizer", "setting", "judge", "top", "middle", "bottom", "given", "random"),
        *("sensitivity", "by chance", "p", "finding", "independent", "share cut"),
    ]
    assert position[1][3:] == [
        *("17.2", "14.4", "24.3", "13.9", "–", "10.4", "3.1", "0.0160", "exceeds chance", "12", "3.1 %"),
    ]
    retrieval = page.tables["table-retrieval"][0]
    assert retrieval[0][2:] == ["recall at budget", "P@5", "nDCG@10", "share cut"]
    assert retrieval[1] == ["bm25", "15,000", "61.3 % [55.0, 68.0]", "40.0 %", "51.2 %", "3.1 %"]
    assert retrieval[2][1] == "no limit"
    citation = page.tables["citation"][0]
    assert citation[0] == ["", "precision", "recall", "F1 (citation)"]
    assert next(row for row in citation if row[0] == "alpha")[1:7] == ["66.2", "30.8", "51.3", "19.7", "52.6", "21.8"]
    assert [row[3] for row in page.tables["table-curve"][0][1:]] == ["10", "20", "30", "120"]
    assert page.tables["table-curve"][0][3][5:] == ["35.5", "–", "–", "–", "–"]
    assert page.tables["table-failure-modes"][0][1][2:5] == ["offline", "40", "28 70 %"]
    assert page.tables["table-failure-modes"][0][2][2:5] == ["offline", "0", "0"]
    assert page.tables["table-comparisons"][0][1:] == [
        ["alpha", "oracle", "40.4", "-4.5 [-9.7, +0.6]", "0.0815", "not distinguishable"],
        ["alpha", "full", "13.9", "-31.0 [-38.0, -24.0]", "0.0005", "worse the same summaries: alpha, full/top"],
    ]


def test_how_the_numbers_were_made_is_told(page):
    facts = dict(row[:2] for row in page.tables["made"][0])
    assert "fidelity" not in facts
    assert facts["unreadable or missing judgements"].startswith("unknown")
    assert facts["benchmark: hash of its content"] == "0123456789abcdef0123"
    assert facts["run: versions: numpy"] == "2.3.1"
    assert facts["run: git: commit"] == "c937c86"
    assert facts["run: cost usd"] == "–"


def test_empty_and_missing_lists_leave_their_sections_out(results):
    bare = only(results) | {"cells": [], "drilldown": {"queries": {}, "summaries": []}}
    assert set(Page(html(bare)).tables) == {"made"}
    assert re.findall("^## (.*)$", markdown(bare), re.MULTILINE) == ["Findings", "How the numbers were made"]


def test_twin_stands_below_its_original_in_every_table(results):
    """Its citations were given to it: where it ranks above released systems, the first table misleads."""
    plain = [cell for cell in results["cells"] if cell["judge"] == "offline"]
    doubled = only(results) | {"cells": with_twins(plain)}
    page, before = Page(html(doubled)), Page(html(only(results) | {"cells": plain}))

    for section, name in (("scores", 0), ("citation", 0), ("cells", 0)):
        rows, originals = page.tables[section][0], before.tables[section][0]
        heads = len([row for row in rows if row[0] in ("", "summarizer")])
        assert [row[name] for row in rows[heads::2]] == [row[name] for row in originals[heads:]]
        assert {row[name] for row in rows[heads + 1 :: 2]} == {f"↳ repaired twin: {LABEL}"}
    more = sum(len(rows) for found in page.tables.values() for rows in found)
    more -= sum(len(rows) for found in before.tables.values() for rows in found)
    assert page.attributes.count(("tr", "class", "beside")) == more


def test_twins_do_not_change_the_form_of_the_first_table(results):
    """One summarizer in three settings is a list, with its twins, too."""
    one = [cell for cell in results["cells"] if (cell["judge"], cell["summarizer"]) == ("offline", "alpha")]
    assert [row[:2] for row in Page(html(only(results) | {"cells": with_twins(one)})).tables["scores"][0][:3]] == [
        ["setting", "summarizer"],
        ["oracle", "alpha"],
        ["oracle", f"↳ repaired twin: {LABEL}"],
    ]


def test_in_sample_figures_are_marked_where_they_stand(results):
    plain = [cell for cell in results["cells"] if cell["judge"] == "offline"]
    twins = [cell | {"in_sample": ["summarizer"] if cell["twin_of"] else []} for cell in with_twins(plain)]
    page = Page(html(only(results) | {"cells": twins}))

    for section in ("scores", "citation", "cells"):
        marked = {row[0] for row in page.tables[section][0] if "in sample" in row[0]}
        assert marked == {f"↳ repaired twin: {LABEL} (in sample)"}
    fitted = [cell | {"in_sample": ["setting"] if cell["setting"] == "oracle" else []} for cell in plain]
    judges = [row | {"in_sample": "in sample: fitted on 4 of these 4 insights"} for row in results["judges"]]
    report = markdown(only(results) | {"cells": fitted, "judges": judges})
    assert "joint (in sample): oracle (in sample)" in report
    assert "Judge offline (in sample: fitted on 4 of these 4 insights; " in report
    assert "Such figures are higher than on other data." in report


def test_brackets_are_announced_only_where_there_are_some(results):
    """One query has no interval."""
    one = [cell for cell in results["cells"] if (cell["judge"], cell["summarizer"]) == ("offline", "alpha")]
    alone = [cell | {"intervals": {name: [None, None] for name in cell["intervals"]}} for cell in one]
    some, none = (markdown(only(results) | {"cells": cells}) for cells in (one, alone))

    assert "Brackets: 95 % interval." in some
    assert "Brackets" not in none
    assert "No interval: that takes two or more independent queries." in none


def test_column_of_which_nothing_is_known_is_left_out_and_named(results):
    cells = [cell | {"cut_share": None} for cell in results["cells"] if cell["joint"] is not None]
    report = markdown(only(results) | {"cells": cells})

    assert "| share cut |" not in report
    assert "Left out: share cut (what the prompts held is not known" in report
    assert "no reason recorded" not in report
    assert "of the retrieved tokens" not in report


def test_unknowns_are_dashes_with_their_reason_and_never_zero(page):
    assert {
        "every summary failed",
        "not run with this setting",
        "no insight was covered",
        "this order was not run",
    } <= set(page.titles)


def test_an_unknown_without_a_recorded_reason_says_so():
    assert number(None).reason == "no reason recorded"
    assert number(None, reason="late").text is None


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_number_that_is_none_is_refused(value):
    with pytest.raises(LongformError, match="expected a finite number or None"):
        number(value)


def test_numbers_round_without_a_negative_zero():
    assert number(-0.04).text == "0.0"
    assert number(0.04, sign=True).text == "+0.0"


def test_half_an_interval_is_no_interval():
    assert number(1.0, interval=[0.5, None]).detail is None


def test_nested_facts_are_flattened_by_the_names_on_the_way():
    assert list(flatten({"a": {"b": 1, "c": [1, 2]}, "d": None}, "run")) == [
        ("run: a: b", "1"),
        ("run: a: c", "1, 2"),
        ("run: d", None),
    ]


def test_comparison_of_one_query_says_that_there_is_nothing_to_test(results):
    row = {"system": "b, full", "same": [], "score": 60.0, "difference": 10.0, "low": None, "high": None, "p": 1.0}
    row |= {"summarizer": "b", "setting": "full"}
    row |= {"n_clusters": 1, "finding": "too few clusters (1): no difference could be shown"}
    family = results["comparisons"][0] | {"n_clusters": 1, "n_sign_changes": 2, "rows": [row], "without_score": []}
    report = markdown(with_tables(only(results) | {"comparisons": [family]}))

    assert "too few clusters (1): no difference could be shown" in report
    assert "Brackets" not in report


def test_results_that_an_older_rule_compared_are_not_shown_as_if_this_one_had(results):
    old = {"a": "x", "b": "y", "measure": "joint", "judge": "j", "difference": 1.0, "p_holm": 0.2, "verdict": "v"}

    (found,) = findings(with_tables(only(results) | {"comparisons": [old]}))
    assert "longform aggregate RUN compares them again" in found.best


def test_the_frontier_is_marked_beside_the_cost_of_each_system(results):
    cells = [cell | {"usd_a_summary": 0.01} for cell in results["cells"] if not is_position_row(cell)]
    judge = cells[0]["judge"]
    points = [
        {
            "summarizer": cell["summarizer"],
            "setting": cell["setting"],
            "cost": 0.01,
            "quality": {"value": 1.0, "low": None, "high": None, "n": 4},
            "on_frontier": cell["setting"] == "oracle",
            "beaten_by": None,
            "not_distinguishable_from": [],
        }
        for cell in cells
        if cell["judge"] == judge
    ]
    frontier = {"judge": judge, "dataset": None, "measure": "joint", "currency": "usd_a_summary", "points": points}
    frontier["cluster"] = "query"
    cost = {"frontiers": [frontier | {"left_out": []}], "judges": [], "systems": []}
    scores, beside, *_ = Page(html(only(results) | {"cells": cells, "cost": cost})).tables["scores"]
    heads, *rows = beside

    assert "frontier" not in scores[0], "a table of scores with all of it would be too wide"
    assert heads[-2:] == ["dollars a summary", "frontier"]
    assert {row[0]: row[-2:] for row in rows if row[1] == "alpha"} == {
        "random": ["$0.01000", "no"],
        "oracle": ["$0.01000", "yes"],
        "full": ["$0.01000", "no"],
    }


def test_one_system_alone_has_its_interval(results):
    cell = next(cell for cell in results["cells"] if cell["setting"] == "oracle")
    names, *_ = Page(html(only(results) | {"cells": [cell]})).tables["scores"][0]
    assert names[:2] == ["setting", "summarizer"]


def test_tables_of_studies_stand_before_every_system():
    names = [made.__name__ for made in SECTIONS]
    assert names.index("score_sections") < names.index("sections_of_tables") < names.index("every_cell")


def test_what_has_no_better_direction_ranks_no_systems(results):
    tables = with_tables(only(results, "cells"))["tables"]
    cells, measures = tables["cells"], tables["measures"]
    words = cells["rows"][0] | {"judge": "checker", "per_summary": None}
    first = words | {"measure": "refused", "value": {"value": 90.0}}
    second = words | {"measure": "supported", "value": {"value": 50.0}}
    cells = cells | {"rows": [first, second], "reasons": [{}, {}]}
    described = [{"title": name, "unit": "points", "told": "", "name": name} for name in ("refused", "supported")]
    described = [described[0] | {"better": None}, described[1] | {"better": "higher"}]
    shown = markdown(only(results) | {"tables": tables | {"cells": cells, "measures": measures | {"rows": described}}})
    assert "Rows by supported, best first" in shown
