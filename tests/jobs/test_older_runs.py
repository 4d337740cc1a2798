"""
Runs that an older version made go on here: two finished, one killed while its judge was asked.

`tests/made/older` has them as commit 382b2498 wrote them, with benchmark (`tests/jobs/answers/town.py`), ledgers and
configurations; what were defaults then is written out.
"""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from actors.ledger.ledger import Ledger
from actors.storage.folder import Folder
from jobs import evaluate, report
from jobs.results.write import read_results
from longform.studies.schema_1 import with_tables
from tests.compare_results import numbers, numbers_apart, tables_of
from tests.places import ROOT

MOVED = ("tables.pairwise", "tables.retrieval_pairs", "tables.faithfulness_alignment", "tables.calls")
"""
Since then the tests of pairs are one family, p-values are rounded, the shipped aligner reads otherwise, and calls name
their judge.
"""
OF_LEDGER = "tables.cost"


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """The folder of a run, in a working directory of its own."""
    with tarfile.open(ROOT / "tests" / "made" / "older" / f"{request.param}.tar.xz") as kept:
        kept.extractall(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path / str(request.param)


def answered(run: Path) -> tuple[int, int]:
    """Return how many calls the ledger of a run has, and how many have an answer."""
    ledger = Ledger.existing(str(run.parent / f"{run.name}-ledger"))
    try:
        totals = ledger.totals()
    finally:
        ledger.close()
    return totals.calls, totals.answered


def apart(before: dict[str, Any], after: dict[str, Any], *moved: str) -> list[str]:
    """Return how the tables of results differ from older ones, which did not say how many values an estimate has."""
    known = numbers(tables_of(with_tables(before)))
    left_out = (*MOVED, *moved)
    kept = {one: known[one] for one in known if not one.name.startswith(left_out) and not one.column.endswith(".n")}
    assert len(kept) > 1000
    return [*numbers_apart(kept, numbers(tables_of(after)), tolerance=1e-9)]


def go_on(run: Path) -> dict[str, Any]:
    words = [f"{run.name}.yaml", "--bench", "bench", "--out", run.name, "--ledger", f"{run.name}-ledger"]
    assert evaluate.main([*words, "--workers", "0", "--no-vectors"]) == 0
    return dict(Folder(str(run)).read_json("results.json"))


def stages(results: dict[str, Any]) -> dict[str, int]:
    return {stage["name"]: stage["rows"] for stage in results["run"]["last_call"]["stages"]}


@pytest.mark.parametrize("opened", ["coverage", "chat"], indirect=True)
def test_a_finished_run_has_tables_and_a_report_without_any_work(opened: Path, tmp_path: Path) -> None:
    before = (opened / "results.json").read_bytes()

    assert report.main([opened.name, "--out", "pages"]) == 0

    results = read_results(Folder(str(opened)))
    assert (opened / "results.json").read_bytes() == before
    assert {"faithfulness", "judges", "retrieval"} <= {*results["tables"]}
    assert "joint score" in (tmp_path / "pages" / "report.md").read_text()


@pytest.mark.parametrize("opened", ["chat"], indirect=True)
def test_a_finished_run_goes_on_without_a_call_to_the_numbers_that_it_had(opened: Path) -> None:
    before, calls = json.loads((opened / "results.json").read_text()), answered(opened)

    after = go_on(opened)

    assert answered(opened) == calls
    assert stages(after)["summarize scripted"] == 0
    assert apart(before, after) == []


@pytest.mark.parametrize("opened", ["half"], indirect=True)
def test_a_run_that_was_killed_goes_on_with_the_calls_that_had_no_answer(opened: Path, tmp_path: Path) -> None:
    begun, had = answered(opened)

    after = go_on(opened)

    with tarfile.open(ROOT / "tests" / "made" / "older" / "chat.tar.xz") as kept:
        kept.extractall(tmp_path)
    whole, _ = answered(tmp_path / "chat")
    assert begun > had  # it was killed with calls under way
    assert answered(opened) == (begun + whole - had, whole)
    assert stages(after)["summarize scripted"] == 0
    finished = json.loads((tmp_path / "chat" / "results.json").read_text())
    assert not apart(finished, after, OF_LEDGER)
