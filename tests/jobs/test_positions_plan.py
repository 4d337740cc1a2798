"""The size of a study of positions, from `--plan` to the verdict of a run of that size under every kind of judge."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from actors.storage.folder import Folder
from jobs import evaluate
from jobs.results.write import read_results
from longform.results.cells import table_rows
from tests.jobs.planted_bench import bench
from tests.soak import ONLY_IN_SOAK

_SCRIPTED = "{provider: scripted, model: %s, script: %s}"
_JUDGE = _SCRIPTED % ("judge", "obedient")


def given(*judges: str) -> list[str]:
    """Two writers, one with a planted U, judged by *judges*."""
    writers = ", ".join(
        f"{name}: {{kind: chat, prompt: summarize_sentences, chat: {_SCRIPTED % ('m', f'profile-{name}')}}}"
        for name in ("u", "flat")
    )
    sets = [
        f"summarizers={{{writers}}}",
        f"support_judges={{{', '.join(judges)}}}",
        "systems=[{retriever: full, budget_tokens: null, summarizer: [u, flat]}]",
        "bullets=5",
    ]
    return [word for change in sets for word in ("--set", change)]


TOLD = f"told: {{kind: chat, chat: {_JUDGE}}}"
WORD = f"word: {{kind: chat, probability: false, chat: {_JUDGE}}}"
LEXICAL = "lexical: {kind: offline}"


def planned(url: str, out: Path, capsys: pytest.CaptureFixture[str], *judges: str) -> list[dict[str, Any]]:
    arguments = ["positional_bias", "--bench", url, "--out", str(out), "--plan", "--depth", "40", "--json"]
    capsys.readouterr()
    assert evaluate.main([*arguments, *given(*judges)]) == 0
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["positions"]
    return rows


def test_a_plan_recommends_a_size_for_every_judge(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = planned(bench(tmp_path, n=4), tmp_path / "run", capsys, TOLD, LEXICAL)
    assert [(row["judge"], row["accuracy_from"], row["n_summaries"]) for row in rows] == [
        ("told", "assumed", 4),
        ("lexical", "card", 4),
    ]
    told, lexical = (row["sizes"][0]["summaries"] for row in rows)
    assert told == 242
    assert lexical > told  # its card: 60 % of sentences
    assert {(row["n_documents"], row["n_sentences"], row["n_curves"]) for row in rows} == {(5, 5.0, 2)}


def test_a_depth_is_for_plans_and_a_number_of_points(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["positional_bias", "--bench", "none", "--out", str(tmp_path / "run")]
    assert evaluate.main([*arguments, "--depth", "5"]) == 2
    assert "expected --plan beside it" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        evaluate.main([*arguments, "--plan", "--depth", "101"])
    assert "expected points above 0 and up to 100, found '101'" in capsys.readouterr().err


@ONLY_IN_SOAK
@pytest.mark.slow
def test_a_run_of_the_recommended_size_finds_the_u_and_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = planned(bench(tmp_path, n=4), tmp_path / "plan", capsys, TOLD, WORD)
    size = max(row["sizes"][0]["summaries"] for row in rows)
    (tmp_path / "whole").mkdir()
    arguments = ["positional_bias", "--bench", bench(tmp_path / "whole", n=size), "--out", str(tmp_path / "run")]
    assert evaluate.main([*arguments, *given(TOLD, WORD), "--workers", "0"]) == 0
    rows = table_rows(read_results(Folder(str(tmp_path / "run"))), "faithfulness_shapes")
    shapes = {(row["judge"], row["summarizer"]): row["shape"] for row in rows if row["measure"] == "faithfulness"}
    assert shapes == {
        (judge, writer): "U-shaped" if writer == "u" else "not distinguishable from flat"
        for judge in ("told", "word")
        for writer in ("u", "flat")
    }


@pytest.mark.slow
def test_a_judge_that_cannot_place_what_it_calls_unsupported_is_said_to_test_nothing(tmp_path: Path) -> None:
    """Its own attribution is named, and there is no other: a curve would be 100 at every place."""
    arguments = ["positional_bias", "--bench", bench(tmp_path, n=8), "--out", str(tmp_path / "run"), "--workers", "0"]
    named = ["--set", "faithfulness={attribution: word}"]
    assert evaluate.main([*arguments, *given(WORD), *named]) == 0
    text = (tmp_path / "run" / "report" / "report.md").read_text()
    section = text[text.index("## Faithfulness and coverage by place") :]
    section = section[: section.index("\n## ")]
    assert "| cannot be tested with this judge |" in section
    assert "| word (scripted) | word (scripted) |" in section
    assert "A sentence stands" not in section
    assert "distance from flat" not in section
