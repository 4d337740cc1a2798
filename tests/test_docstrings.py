"""A docstring starts with a verb or with the thing, never with a clause that stands in place of a sentence."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.places import ROOT

CLAUSE = re.compile(r"\s*(What|How|Of|Whether|As|Those|That|Who|With|Where|When|Which|Why|From)\b")
ENTRY = re.compile(r"^ +\*{0,2}\w+: (Of|Its|Whether|That|With|By|Whose|What)\b.*", re.MULTILINE)
SECTION = re.compile(r"^(?:Args|Attributes):\n(?:(?: .*)?\n?)*", re.MULTILINE)
SUSPECTS = re.compile(f"[\"']{CLAUSE.pattern}|{ENTRY.pattern}", re.MULTILINE)
"""Words of a file that may have such a docstring; the others are not parsed."""
HALLS = ("longform", "actors", "jobs", "serve", "lab", "tests")


def docstrings(path: Path) -> Iterator[str]:
    """Yield every text that stands as a statement: of modules, classes and functions, and below constants."""
    source = path.read_text()
    for node in ast.walk(ast.parse(source)) if SUSPECTS.search(source) else ():
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield inspect.cleandoc(text)


def clauses(text: str) -> Iterator[str]:
    """Yield the first line of a docstring, and the entries of its arguments and attributes, that are clauses."""
    if CLAUSE.match(text):
        yield text.splitlines()[0]
    for section in SECTION.finditer(text):
        yield from (entry[0].strip() for entry in ENTRY.finditer(section[0]))


@pytest.mark.parametrize("hall", HALLS)
def test_docstrings_and_their_entries_start_with_a_verb_or_with_the_thing(hall: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}: {clause}"
        for path in sorted((ROOT / hall).rglob("*.py"))
        for text in docstrings(path)
        for clause in clauses(text)
    ]

    assert found == []
