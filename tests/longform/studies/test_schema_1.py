"""Results as older versions wrote them are read as tables, and no number of theirs is lost."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator
from typing import Any

import pytest

from longform.studies.schema_1 import with_tables
from tests.longform.report.pages import FIXTURE
from tests.places import ROOT

BESIDE = frozenset({"drilldown", "run", "tables", "size", "clusters", "benchmark", "half"})
"""Names of what stands in no table; of a pair, half of an interval is told by its ends."""


def older(name: str) -> Any:
    if name == "fixture":
        return json.loads(FIXTURE.read_text("utf-8"))
    with tarfile.open(ROOT / "tests" / "made" / "older" / f"{name}.tar.xz") as kept:
        file = kept.extractfile(f"{name}/results.json")
        assert file is not None
        return json.load(file)


def fractions(value: Any, name: str = "") -> Iterator[tuple[str, float]]:
    """Yield the numbers that are no counts, with the names that lead to them."""
    if isinstance(value, dict):
        for key, one in value.items():
            if key not in BESIDE:
                yield from fractions(one, f"{name}.{key}")
    elif isinstance(value, list):
        for one in value:
            yield from fractions(one, name)
    elif isinstance(value, float) and not value.is_integer():
        yield name, round(value, 9)


@pytest.mark.parametrize("name", ["coverage", "chat", "fixture"])
def test_every_number_of_older_results_stands_in_a_table(name: str) -> None:
    before = older(name)
    there = {value for _, value in fractions(with_tables(before)["tables"])}

    known = list(fractions(before))
    assert len({value for _, value in known}) > 100
    assert {(where, value) for where, value in known if value not in there} == set()
