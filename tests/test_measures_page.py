"""docs/measures.md has a row for each measure that a configuration can name, and for no other."""

from __future__ import annotations

import re

from longform import measures
from tests.pages import text_of

PAGE = "docs/measures.md"


def rows() -> dict[str, list[str]]:
    """Return the cells of each measure of the table of formulas."""
    table = text_of(PAGE).partition("## How each measure is computed")[2].partition("\n## ")[0]
    lines = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| `")]
    return {name: cells for cells in lines for name in re.findall("`([^`]+)`", cells[0])}


def test_every_measure_has_a_row_and_every_row_a_measure() -> None:
    assert set(rows()) == {one.name for one in (*measures.SHIPPED, *measures.RANKING)}


def test_every_row_has_a_formula_a_unit_a_source_and_when_it_is_unknown() -> None:
    assert {name: len(cells) for name, cells in rows().items() if len(cells) != 5 or not all(cells)} == {}


def test_units_are_those_of_the_code() -> None:
    units = {one.name: one.unit for one in measures.SHIPPED}
    told = {name: cells[2] for name, cells in rows().items() if name in units}
    assert {name: unit for name, unit in told.items() if units[name] not in unit and unit != "as above"} == {}
