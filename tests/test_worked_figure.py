"""The worked figure of docs/concepts.md: the project's code gives its numbers, and the page states the same."""

from __future__ import annotations

import re

import pytest

from tests.pages import text_of
from tests.worked_figure import BULLETS, FIGURE, INSIGHTS, figure, insight_scores, scores

PAGE = "docs/concepts.md"


def test_numbers_are_those_of_a_calculation_by_hand() -> None:
    assert scores() == pytest.approx({"coverage": 50, "citation": 65, "joint": 35})
    assert [one.joint for one in insight_scores()] == pytest.approx([0.8, 0.25, 0])


def test_the_picture_is_up_to_date() -> None:
    assert FIGURE.read_text() == figure(), "draw it again: python -m tests.worked_figure"


def test_a_worse_link_moves_the_scores_and_the_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    moved = [INSIGHTS[0]._replace(linked_unit=2), *INSIGHTS[1:]]
    monkeypatch.setattr("tests.worked_figure.INSIGHTS", moved)
    assert scores()["citation"] < 65
    assert figure() != FIGURE.read_text()


def test_the_page_states_the_numbers_of_the_picture() -> None:
    page = text_of(PAGE)
    for name, value in scores().items():
        assert f"{name} {value:.0f}" in page
    assert re.findall(r"or (\d+)\.", page) == [f"{value:.0f}" for value in scores().values()]
    cited = re.search(r"citations = (\[.*\])  #", page)
    assert cited is not None
    assert cited[1] == repr([line.cited for line in BULLETS])
