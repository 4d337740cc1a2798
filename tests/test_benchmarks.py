"""Benchmarks of `python -m tests.bench` can be begun: what they time may move."""

from __future__ import annotations

import importlib
import re

import pytest

from tests.places import ROOT

NAMES = [
    path.stem
    for path in sorted((ROOT / "tests/bench").glob("*.py"))
    if re.search(r"^def figures", path.read_text(), re.MULTILINE)
]


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_has_figures(name: str) -> None:
    assert callable(importlib.import_module(f"tests.bench.{name}").figures)
