"""The page that follows a query through the code names files, and names in them, that are there."""

from __future__ import annotations

import re

import pytest

from tests.places import ROOT

PAGE = (ROOT / "docs" / "one-query.md").read_text()
ROWS = re.findall(r"^\| \d+ \| `([^`]+)` \| (.*) \|$", PAGE, re.MULTILINE)
NAMED = re.findall(r"`([A-Za-z_.]+)`(?:,? (?:and|to) `[A-Za-z_]+`)? of `([a-z_/]+\.py)`", PAGE)


def test_it_follows_ten_files() -> None:
    assert len(ROWS) == 10


@pytest.mark.parametrize("path", re.findall(r"`((?:longform|actors|jobs)/[a-z_/]+(?:\.py)?)`", PAGE))
def test_each_place_is_there(path: str) -> None:
    assert (ROOT / path).exists()


@pytest.mark.parametrize(("file", "told"), ROWS)
def test_a_file_has_the_first_name_that_its_row_says(file: str, told: str) -> None:
    first = re.search(r"`([A-Za-z0-9_]+)(?:\.([a-z]+))?`", told)
    assert first is not None
    source = (ROOT / file).read_text()
    for name in filter(None, first.groups()):
        assert re.search(rf"(def|class) {name}\b", source), f"{name} is not defined in {file}"


@pytest.mark.parametrize(("name", "file"), NAMED)
def test_an_answer_names_what_is_there(name: str, file: str) -> None:
    assert re.search(rf"(def|class) {name.rpartition('.')[2]}\b", (ROOT / file).read_text())


def test_the_answers_name_something() -> None:
    assert {name for name, _ in NAMED} >= {"pooled_mean", "head_of", "ChatPool._answer"}
