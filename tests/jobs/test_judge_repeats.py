"""A judge that is asked several times: its calls, its scores, and its agreement with itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from actors.storage.folder import Folder
from jobs.evaluate import main
from jobs.results.write import read_results
from longform.results.cells import table_rows
from tests.results import cells_of

SYSTEM = "{retriever: bm25, budget_tokens: 3500, summarizer: offline}"
JUDGE = "{kind: chat, repeats: %d, chat: {provider: scripted, model: m, script: wavering}}"


def evaluated(out: Path, repeats: int, *more: str) -> int:
    judges = ["--set", "judges={again: " + JUDGE % repeats + "}", "--set", f"systems=[{SYSTEM}]"]
    return main(["demo", "--out", str(out), "--limit", "2", *judges, *more])


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "run"
    assert evaluated(out, 2) == 0
    return out


def verdicts(run: Path) -> list[dict[str, Any]]:
    return Folder(str(run)).read("verdicts").to_pylist()


def results(run: Path) -> dict[str, Any]:
    return dict(read_results(Folder(str(run))))


def test_each_repeat_is_a_call_and_has_verdicts_and_scores_of_its_own(run: Path) -> None:
    rows = verdicts(run)
    calls = {row["call_id"] for row in rows}

    assert len(calls) == len(rows)
    assert sorted({row["repeat"] for row in rows}) == [0, 1]
    scores = Folder(str(run)).read("scores").to_pylist()
    assert {row["repeat"] for row in scores if row["judge"] == "again"} == {0, 1}


def test_the_report_has_the_judges_agreement_with_itself_and_one_score_a_summary(run: Path) -> None:
    found = results(run)
    (row,), (cell,) = table_rows(found, "retest"), cells_of(found)

    rows = verdicts(run)
    pairs: dict[tuple[str, str], set[str]] = {}
    for one in rows:
        pairs.setdefault((one["summary_id"], one["target_id"]), set()).add(one["answer"])
    same = sum(len(answers) == 1 for answers in pairs.values()) / len(pairs)
    assert row["n_pairs"] == len(pairs)
    assert row["same"]["value"] == pytest.approx(same)
    assert 0 < same < 1
    assert (cell["n_summaries"], cell["n_insights"], cell["n_judge_repeats"]) == (2, len(pairs), 2)
    assert cell["spread"]["joint"]["judge"] is not None
    assert "same answer again" in (run / "report" / "report.md").read_text()


def test_a_greater_number_asks_for_the_new_repeats_alone(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {(row["work_id"], row["target_id"]): row["answer"] for row in verdicts(run)}
    capsys.readouterr()
    assert evaluated(run, 3, "--plan", "--json") == 0
    (stage,) = json.loads(capsys.readouterr().out)["stages"]
    assert stage["calls"] == len(before) / 2

    assert evaluated(run, 3) == 0
    after = {(row["work_id"], row["target_id"]): row["answer"] for row in verdicts(run)}
    assert before.items() <= after.items()
    assert len(after) == 3 * len(before) / 2
