"""Pages that are too large for one are cut, and lose nothing."""

from longform.report.parts import Section
from longform.report.plots import Plot
from longform.report.site import in_parts
from longform.report.tables import ShownTable
from longform.tables.cells import TextCell
from longform.tables.table import Column

COLUMNS = [Column("system")]
FIGURE = Plot("<svg/>", "alt", "caption")


def table(*names, twins=False):
    rows = []
    for name in names:
        rows.append({"system": TextCell(name)})
        if twins:
            rows.append({"system": TextCell(f"{name}'s twin", beside=True)})
    return ShownTable("Caption.", COLUMNS, rows)


def section(anchor, *tables):
    return Section(anchor, anchor, ["told once"], list(tables))


def render(shown):
    """Ten bytes for each row, figure and paragraph."""
    rows = sum(len(one.rows) for part, _ in shown for one in part.tables)
    return "0123456789" * (rows + sum(len(drawn) + len(part.paragraphs) for part, drawn in shown))


def rows_of(parts):
    return [row["system"].text for shown, _ in parts for one, _ in shown for own in one.tables for row in own.rows]


def test_what_fits_stays_on_one_page():
    ((shown, text),) = in_parts([(section("a", table("x", "y")), [FIGURE])], render, most_bytes=40)
    assert text == render(shown)


def test_sections_are_cut_apart_first():
    shown = [(section("a", table("x", "y")), ()), (section("b", table("z")), ())]
    parts = in_parts(shown, render, most_bytes=30)
    assert [[one.anchor for one, _ in shown] for shown, _ in parts] == [["a"], ["b"]]


def test_figures_tables_and_rows_are_cut_and_nothing_is_lost_or_told_twice():
    names = [f"s{number}" for number in range(9)]
    shown = [(section("a", table(*names[:3]), table(*names[3:])), [FIGURE])]
    parts = in_parts(shown, render, most_bytes=30)
    assert rows_of(parts) == names
    assert all(len(text) <= 30 for _, text in parts)
    assert sum(len(drawn) for shown, _ in parts for _, drawn in shown) == 1
    assert sum(len(one.paragraphs) for shown, _ in parts for one, _ in shown) == 1


def test_a_twin_stays_below_its_original():
    names = [f"s{number}" for number in range(5)]
    parts = in_parts([(section("a", table(*names, twins=True)), ())], render, most_bytes=50)
    assert len(parts) > 1
    for shown, _ in parts:
        assert not any(own.rows[0]["system"].beside for one, _ in shown for own in one.tables)


def test_one_row_has_a_page_whatever_its_size():
    parts = in_parts([(section("a", table("x")), ())], render, most_bytes=1)
    assert rows_of(parts) == ["x"]
