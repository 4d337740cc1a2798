"""A table describes itself: its units decide what is shown everywhere, and it comes back from JSON as it was."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from longform.metrics.statistics import Estimate
from longform.report.answers import WIDTH, aligned
from longform.report.result_figures import table_figures
from longform.report.result_tables import shown_of, table_sections
from longform.results.results import Results
from longform.studies.schema_1 import with_tables
from longform.tables.cells import NOT_RECORDED, TextCell, cell_rows, row_cell, value_cell, with_beside
from longform.tables.files import csv_text, latex_tabular
from longform.tables.layout import laid_out, visible
from longform.tables.table import Axes, Column, Table, checked, table_of

TABLE = Table(
    "lengths",
    [
        Column("system"),
        Column("documents", "count"),
        Column("coverage", "points", "Coverage", "insights that are covered", "higher"),
        Column("cut", "share"),
        Column("cost", "usd"),
    ],
    [
        {"system": "a_1", "documents": 10, "coverage": Estimate(50.0, 45.25, 55.0, 12), "cut": 0.125, "cost": 0.5},
        {"system": "a_1", "documents": 20, "coverage": Estimate(40.0, None, None, 1), "cut": 0.25, "cost": None},
        {"system": "b", "documents": 10, "coverage": 30.0},
    ],
    title="Lengths",
    told="By the number of documents.",
    key=["system", "documents"],
    reasons=[{}, {"cost": "no price is known"}, {}],
    plot=Axes("line", "documents", "coverage", by="system"),
)


BARS: Any = "bars"
MORE: Any = "more"


def test_units_decide_digits_and_scale() -> None:
    rows = cell_rows(TABLE)

    assert [cell.text for cell in rows[0]] == ["a_1", "10", "50.0", "12.5 %", "$0.5000"]
    assert rows[0][2].detail == "[45.2, 55.0]"
    assert (rows[1][4].text, rows[1][4].reason) == (None, "no price is known")
    assert rows[2][3].reason == NOT_RECORDED


def test_numbers_among_texts_are_numbers() -> None:
    (column,) = table_of("t", [{"x": "a"}]).columns

    assert [value_cell(value, column).text for value in ("a", 2, 2.5, Estimate(1.0, 0.5, 2.0, 3), None)] == [
        *("a", "2", "2.5", "1.0", None)
    ]


def test_no_money_is_no_small_amount() -> None:
    assert [value_cell(value, Column("cost", "usd")).text for value in (0.0, 0.00004)] == ["$0", "$0.000040"]


def test_a_small_mean_of_counts_has_a_digit_and_a_count_has_none() -> None:
    mean, large = (value_cell(Estimate(of, 0.5 * of, 1.5 * of, 6), Column("x", "count")) for of in (0.83, 1200.4))

    assert (mean.text, mean.detail, large.text, large.detail) == ("0.8", "[0.4, 1.2]", "1,200", "[600, 1,801]")
    assert [value_cell(value, Column("x", "count")).text for value in (3, 3.0, 2.5, 99.5)] == ["3", "3", "2.5", "99.5"]
    assert value_cell(Estimate(None, 900, 1200, 1), Column("x", "count")).text == "[900, 1,200]"


@pytest.mark.parametrize(
    ("unit", "value", "shown"),
    [("difference", 2.5, "+2.5"), ("coefficient", 0.256, "0.26"), ("p", 0.03126, "0.0313"), ("stated", 0.5, "50.0 %")],
)
def test_each_unit_has_its_form(unit: Any, value: float, shown: str) -> None:
    row = {"x": value, "unit": "share"}

    assert row_cell(row, Column("x", unit)).text == shown


def test_a_count_has_its_share_of_another_column_and_an_unknown_the_reason_of_its_column() -> None:
    table = Table(
        "t",
        [Column("part", "count", of="all"), Column("all", "count", unknown="not counted")],
        [{"part": 3, "all": 12}, {}],
    )
    rows = cell_rows(table)

    assert (rows[0][0].text, rows[0][0].detail, rows[1][1].reason) == ("3", "25 %", "not counted")


def test_parts_stand_apart_and_a_column_becomes_heads() -> None:
    table = Table(
        "t",
        [Column("judge"), Column("system"), Column("measure"), Column("unit", shown=False), Column("score", "stated")],
        [
            {"judge": "j", "system": "a", "measure": "x", "unit": "points", "score": 5.0},
            {"judge": "k", "system": "a", "measure": "x", "unit": "points", "score": 6.0},
            {"judge": "j", "system": "a", "measure": "y", "unit": "share", "score": 0.25},
            {"judge": "j", "system": "b", "measure": "y", "unit": "share", "score": None},
        ],
        key=["judge", "system", "measure"],
        reasons=[{}, {}, {}, {"score": "lost"}],
        apart=["judge"],
        across="measure",
    )
    first, second = laid_out(table)

    assert (first.values, second.values) == ({"judge": "j"}, {"judge": "k"})
    assert [column.name for column in visible(first.table)] == ["system", "x", "y"]
    assert [[cell.text for cell in row] for row in cell_rows(first.table)] == [
        ["a", "5.0", "25.0 %"],
        ["b", None, None],
    ]
    assert first.table.reason(1, "y") == "lost"
    assert [column.name for column in visible(second.table)] == ["system", "x"]
    assert Table.from_json("t", json.loads(json.dumps(table.as_json())))._replace(apart=["judge"]) == table


def test_it_comes_back_from_json() -> None:
    assert Table.from_json("lengths", json.loads(json.dumps(TABLE.as_json()))) == TABLE


def test_csv_has_the_numbers_as_they_are_and_the_reasons() -> None:
    rows = list(csv.DictReader(io.StringIO(csv_text(TABLE))))

    assert list(rows[0]) == [
        *("system", "documents", "coverage", "coverage_low", "coverage_high", "cut", "cost", "cost_reason")
    ]
    assert (rows[0]["coverage_low"], rows[0]["cut"]) == ("45.25", "0.125")
    assert (rows[1]["cost"], rows[1]["cost_reason"]) == ("", "no price is known")


def test_latex_and_terminal_show_the_same_texts() -> None:
    assert r"a\_1 & 10 & 50.0 [45.2, 55.0] & 12.5 \% & \$0.5000 \\" in latex_tabular(TABLE)
    assert "{lrrrr}" in latex_tabular(TABLE)
    lines = list(aligned([column.head for column in visible(TABLE)], cell_rows(TABLE)))
    assert lines[1].split() == ["a_1", "10", "50.0", "[45.2,", "55.0]", "12.5", "%", "$0.5000"]


def test_a_table_that_is_too_wide_for_a_terminal_is_broken_at_words_of_its_texts_first() -> None:
    cells = [TextCell("a name of many words " * 4), TextCell("1.0", detail="[0.5, 1.5]"), TextCell("a note " * 9)]
    lines = list(aligned(["name", "score", "note"], [cells], texts=[0, 2]))
    assert max(map(len, lines)) <= WIDTH
    assert "1.0 [0.5, 1.5]" in lines[1], "a number and its interval stay together"
    assert " ".join(line[:30].strip() for line in lines[1:]).startswith("a name of many words a name")


def test_a_section_and_a_figure_are_made_of_the_table_alone() -> None:
    results: Results = {"tables": {"lengths": TABLE.as_json()}}
    (section,) = table_sections(results)
    (plot,) = table_figures(section.anchor, results)

    assert (section.title, section.tables) == ("Lengths", shown_of(results, TABLE))
    assert section.tables[0].how == "Coverage: insights that are covered. Higher is better: Coverage."
    assert plot.alt == "Coverage, of 100 by documents. a_1: 50.0, 40.0. b: 30.0."
    assert plot.caption == TABLE.told
    assert list(table_figures("table-others", results)) == []


def test_a_scatter_names_its_points_by_their_key() -> None:
    table = TABLE._replace(plot=Axes("scatter", "cut", "coverage"))
    (plot,) = table_figures("table-lengths", {"tables": {"lengths": table.as_json()}})

    assert "by cut, per cent." in plot.alt
    assert "a_1, 20 25.0 % and 40.0" in plot.alt


@pytest.mark.parametrize("key", [["system", "documents"], []])
def test_a_forest_loses_no_row_whose_band_has_the_same_name(key: list[str]) -> None:
    table = TABLE._replace(plot=Axes("forest", "coverage", "system"), key=key)
    (plot,) = table_figures("table-lengths", {"tables": {"lengths": table.as_json()}})

    assert all(f"{value:.1f}" in plot.alt for value in (50, 40, 30))


def test_results_of_an_older_version_are_shown_without_units() -> None:
    rows: list[dict[str, Any]] = [{"query": "q", "coverage": {"value": 1.0, "low": 0.5, "high": 2.0, "n": 3}}]
    (section,) = table_sections(with_tables({"own_studies": {"hard": {"title": "Hard", "told": "", "rows": rows}}}))

    assert [[cell.text for cell in row] for row in section.tables[0].cells] == [["q", "1.0"]]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (TABLE._replace(columns=[*TABLE.columns, Column("cut")]), "found cut more than once"),
        (
            TABLE._replace(columns=[Column("x", "metres")], rows=[], key=[], plot=None),
            "column x: expected .* as unit, found .*'metres'",
        ),
        (TABLE._replace(columns=[Column("x", better=MORE)], rows=[], key=[], plot=None), "'lower' as better, .*'more'"),
        (TABLE._replace(key=["sytem"]), "expected columns of .*, found sytem"),
        (TABLE._replace(plot=Axes("line", "documents", "recall")), "found recall"),
        (table_of("t", [{"x": float("inf")}]), "row 0, column x: expected a finite number"),
        (TABLE._replace(plot=Axes(BARS, "documents", "cut")), "expected a form of line, .*, found 'bars'"),
        (table_of("t", [{"x": Estimate(5.0, 6.0, 4.0, 3)}]), "row 0, column x: expected an interval from low to high"),
        (TABLE._replace(rows=[{"cut": "much"}]), "expected a number or an Estimate in share, found the text 'much'"),
    ],
)
def test_a_table_that_does_not_describe_itself_is_refused(table: Table, said: str) -> None:
    with pytest.raises((TypeError, ValueError), match=said):
        checked(table)


def test_rows_that_stand_in_files_alone_are_no_part_of_a_report() -> None:
    rows = [{**row, "why": "of little use" if row["documents"] == 20 else None} for row in TABLE.rows]
    table = TABLE._replace(columns=[*TABLE.columns, Column("why", shown=False)], rows=rows, aside="why")
    (section,) = table_sections({"tables": {"lengths": table.as_json()}})

    assert [row[1].text for row in section.tables[0].cells] == ["10", "10"]
    assert section.tables[0].how.endswith("Rows that stand in files alone: of little use.")
    assert "of little use" in csv_text(table)
    none = table._replace(rows=[{**row, "why": "of little use"} for row in rows])
    (section,) = table_sections({"tables": {"lengths": none.as_json()}})
    assert (section.tables, section.paragraphs) == ([], ["By the number of documents. Of little use."])


def test_a_figure_draws_the_first_measure_and_names_it() -> None:
    columns = [Column("measure"), Column("unit", shown=False), Column("n", "count"), Column("score", "stated")]
    rows = [
        {"measure": name, "unit": unit, "n": n, "score": n / 10}
        for name, unit in (("recall", "share"), ("others", "points"))
        for n in (1, 2)
    ]
    table = Table("t", columns, rows, key=["measure", "n"], plot=Axes("scatter", "n", "score", first=["measure"]))
    (plot,) = table_figures("table-t", {"tables": {"t": table.as_json()}})

    assert plot.alt.startswith("recall, per cent by n. ")
    assert "others" not in plot.alt


def test_a_number_beside_stands_there_also_if_it_is_the_same_and_a_text_does_not() -> None:
    columns = [Column("kept", "count", beside="left_out"), Column("left_out", "count", shown=False)]
    columns += [Column("first", beside="second"), Column("second", shown=False)]
    row = {"kept": 6, "left_out": 6, "first": "full", "second": "full"}
    table = Table("t", columns, [row], key=())
    shown = [with_beside(row_cell(row, column), row, column, table).detail for column in (columns[0], columns[2])]
    assert shown == ["left_out: 6", None]
