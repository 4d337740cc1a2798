"""The figure of docs/concepts.md has the numbers that the code computes, and the page says them."""

import pytest

from tests.pages import text_of
from tests.worked_figure import PICTURE, means, svg


def test_the_means_are_those_worked_out_by_hand() -> None:
    assert means() == pytest.approx({"coverage": 50.0, "citation": 175 / 3, "joint": (200 / 3 + 25) / 3})


def test_the_picture_is_up_to_date_and_the_page_says_its_numbers() -> None:
    assert PICTURE.read_text() == svg()
    page = text_of("docs/concepts.md")
    assert all(f"**{value:.1f}**" in page for value in means().values())
