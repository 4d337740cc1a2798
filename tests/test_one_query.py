"""The page that follows a query through the code names files, and names in them, that are there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

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


def test_a_verdict_has_the_forms_that_the_page_names() -> None:
    product = [file for hall in ("longform", "actors", "jobs") for file in (ROOT / hall).rglob("*.py")]
    core = [file for file in product if "synthesis" not in file.parts and "Verdict" in file.read_text()]
    found = {(named(node), file) for file in core for node in nodes(file) if isinstance(node, ast.ClassDef)}
    forms = {(name, file.relative_to(ROOT).as_posix()) for name, file in found if re.search(r"Verdict(Row)?$", name)}
    assert forms == {(name, file) for name, file in NAMED if name.startswith("Verdict")}


# ---------------------------------------------------------------- from `evaluate` to the first stage

KNOWN = (ast.Import, ast.ImportFrom, ast.ClassDef, ast.Name, ast.alias)
AFTERWARDS = ("jobs/results/", "longform/results/", "longform/report/", "longform/studies/")
"""Rooms that read what stages have written."""


@cache
def nodes(file: Path) -> list[ast.AST]:
    return [node for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, KNOWN)]


def named(node: ast.AST) -> str:
    return str(getattr(node, "id", "") or getattr(node, "name", ""))


def imported(file: Path) -> Iterator[Path]:
    """Yield the files of the product that a file imports, also within functions."""
    for node in nodes(file):
        names = [one.name for one in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        above = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
        for name in [above.rstrip("."), *(f"{above}{one}" for one in names)]:
            place = ROOT / name.replace(".", "/")
            yield from (one for one in (place.with_suffix(".py"), place / "__init__.py") if name and one.is_file())


def test_few_files_meet_the_settings_of_an_experiment_before_the_first_stage() -> None:
    """A file meets them if it names their class; what reads a run when its stages are done is not walked."""
    waiting, seen = [ROOT / "jobs" / "evaluate.py"], set[Path]()
    while waiting:
        file = waiting.pop()
        if file not in seen and not file.relative_to(ROOT).as_posix().startswith(AFTERWARDS):
            seen.add(file)
            waiting += imported(file)
    meeting = sorted(file.relative_to(ROOT) for file in seen if "Experiment" in map(named, nodes(file)))
    assert ROOT / "jobs" / "stages" / "retrieve.py" in seen
    assert len(seen) > 200
    assert 10 < len(meeting) <= 35, meeting
