"""A docstring starts with a verb or with the thing, never with a clause that stands in place of a sentence."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.places import ROOT

CLAUSE = re.compile(r"\s*(What|How|Of|Whether|As|Those|That|Who|With|Where|When|Which|Why|From)\b")
QUOTED = re.compile(f"[\"']{CLAUSE.pattern}")
"""Words of a file that may have such a docstring; the others are not parsed."""
HALLS = ("longform", "actors", "jobs", "serve", "lab", "tests")


def docstrings(path: Path) -> Iterator[str]:
    """Yield every text that stands as a statement: of modules, classes and functions, and below constants."""
    source = path.read_text()
    for node in ast.walk(ast.parse(source)) if QUOTED.search(source) else ():
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield text.strip()


@pytest.mark.parametrize("hall", HALLS)
def test_docstrings_start_with_a_verb_or_with_the_thing(hall: str) -> None:
    clauses = [
        f"{path.relative_to(ROOT)}: {text.splitlines()[0]}"
        for path in sorted((ROOT / hall).rglob("*.py"))
        for text in docstrings(path)
        if CLAUSE.match(text)
    ]

    assert clauses == []
