"""Runs and answers are held against thresholds and baselines, and the exit code says what was found."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from actors.storage.folder import Folder
from jobs.command import FAILURES_ABOVE_THRESHOLD, USAGE, WORSE
from jobs.gate import main as gate
from jobs.ingest import main as ingest
from jobs.judge import main as judge
from longform.results.cells import table_rows
from tests.jobs.answers.town import answers, write_corpus
from tests.jobs.answers.town import town as town_bench

GITHUB = {"GITHUB_SERVER_URL": "https://git", "GITHUB_REPOSITORY": "a/b", "GITHUB_RUN_ID": "7"}


@pytest.fixture(autouse=True)
def _outside_of_github(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)


class Town:
    """Answers of a system, good and worse ones, with runs of both."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.bench = folder, town_bench()
        good = [line for line in answers() if line["system"] in ("notes", "terse")]
        worse = [{**line, "text": line["text"].split("\n")[0]} if line["system"] == "notes" else line for line in good]
        self.good, self.worse = self.write("good", good), self.write("worse", worse)
        self.run = str(folder / "good-run")
        assert self.judge(self.good, "--out", self.run) == 0

    def write(self, name: str, lines: list[dict[str, Any]]) -> str:
        path = self.folder / f"{name}.jsonl"
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        return str(path)

    def judge(self, outputs: str, *words: str) -> int:
        return judge([outputs, "--bench", self.bench, "--workers", "0", *words])


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Town:
    return Town(tmp_path_factory.mktemp("gate"))


def test_thresholds_end_with_their_exit_code_and_a_line_each(town: Town, capsys: pytest.CaptureFixture[str]) -> None:
    assert gate([town.run, "--fail-under", "notes:coverage=100", "--fail-under", "support=50"]) == 0
    assert "passed    coverage of notes, unknown by offline-people-vectors: 100.0" in capsys.readouterr().out
    assert gate([town.run, "--fail-under", "coverage=80"]) == WORSE
    said = capsys.readouterr().out
    assert "failed    coverage of terse, unknown by offline-people-vectors: 50.0" in said
    assert "gate: FAILED (2 checks: 1 passed, 1 failed)" in said


def test_worse_answers_fail_against_a_file_of_earlier_ones(town: Town, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(town.folder / "worse-run")
    assert town.judge(town.worse, "--out", out, "--against", town.good, "--json") == WORSE
    found = json.loads(capsys.readouterr().out)["gate"]
    failed = {(one["system"], one["measure"]) for one in table_rows(found, "checks") if one["verdict"] == "failed"}
    assert failed == {("notes, unknown", "coverage"), ("notes, unknown", "joint")}
    assert found["failed"] == 2
    assert gate([out, "--against", f"{out}-baseline"]) == WORSE
    assert gate([out, "--against", f"{out}-baseline", "--against-measure", "citation"]) == 0


def test_the_same_and_better_answers_pass(town: Town) -> None:
    assert town.judge(town.good, "--out", town.run, "--against", town.run) == 0
    assert town.judge(town.good, "--out", str(town.folder / "better"), "--against", town.worse) == 0


def test_files_for_ci_are_written(town: Town, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    for name, value in {**GITHUB, "GITHUB_STEP_SUMMARY": str(summary)}.items():
        monkeypatch.setenv(name, value)
    junit = tmp_path / "new" / "gate.xml"

    assert gate([town.run, "--fail-under", "coverage=80", "--junit", str(junit), "--github-summary"]) == WORSE

    root = ET.parse(junit).getroot()
    assert (root.get("tests"), root.get("failures")) == ("2", "1")
    text = summary.read_text()
    assert text.startswith("before\n")
    assert "| offline-people-vectors | terse | failed | coverage | 50.0" in text
    assert "https://git/a/b/actions/runs/7#artifacts" in text


def test_too_much_unjudged_goes_before_worse(town: Town, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run"
    run.mkdir()
    for name in ("results.json", "run.json"):
        content = Folder(town.run).read_json(name)
        for row in content.get("tables", {}).get("cells", {"rows": []})["rows"]:
            row["value"] = 0.6 if row["measure"] == "unjudged_share" else row["value"]
        Folder(str(run)).write_json(name, content)
    junit = tmp_path / "gate.xml"

    words = [str(run), "--junit", str(junit), "--fail-under"]
    assert gate([*words, "coverage=80"]) == FAILURES_ABOVE_THRESHOLD
    assert gate([*words, "coverage=1"]) == FAILURES_ABOVE_THRESHOLD
    assert "NO EVIDENCE" in capsys.readouterr().out
    assert ET.parse(junit).getroot().get("errors") == "1"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--fail-under", "citatoin=3"], "did you mean 'citation'"),
        (["--fail-under", "rouge_1=3"], "expected a measure of this run"),
        (["--fail-under", "nobody:citation=3"], "no such system"),
        (["--fail-under", "citation=abc"], "expected a number"),
        (["--against", "nothing"], "expected the folder of a run"),
        (["--junit", "x.xml"], "expected --fail-under MEASURE=NUMBER or --against BASELINE"),
        (["--systems", "a=b"], "expected --against BASELINE"),
        (["--against", "good", "--against-measure", "citatoin"], "did you mean 'citation'"),
        (["--against", "good", "--systems", "nobody=notes"], "no such system"),
        (["--against", "good", "--systems", "notes"], "expected A=B"),
        (["--against", "run", "--against-measure", "rouge_1"], "expected a measure of"),
        (["--github-summary"], "GITHUB_STEP_SUMMARY is not set"),
    ],
)
def test_what_cannot_be_held_is_refused_before_any_judging(
    town: Town, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    named = [{"good": town.good, "run": town.run}.get(word, word) for word in words]
    assert town.judge(town.good, "--out", str(tmp_path / "run"), *named) == USAGE
    assert told in capsys.readouterr().err
    assert not [*tmp_path.glob("run*/verdicts")]


def test_without_insights_support_is_held_and_the_others_are_refused_with_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = write_corpus(tmp_path / "town")
    (corpus / "insights.jsonl").unlink()
    bench, file = str(tmp_path / "bench"), tmp_path / "a.jsonl"
    assert ingest(["jsonl", str(corpus), "--out", bench]) == 0
    file.write_text("".join(f"{json.dumps(line)}\n" for line in answers() if line["system"] == "terse"))
    words = [str(file), "--bench", bench, "--workers", "0", "--out", str(tmp_path / "run"), "--against", str(file)]
    capsys.readouterr()

    assert judge([*words, "--fail-under", "citation=1"]) == USAGE
    assert "No query that is answered has insights" in capsys.readouterr().err
    assert judge([*words, "--fail-under", "support=1"]) == 0
    assert "passed    faithfulness" in capsys.readouterr().out


def test_a_baseline_on_other_queries_is_refused_before_any_judging(
    town: Town, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [{**line, "query_id": f"other-{line['query_id']}"} for line in answers() if line["system"] == "terse"]
    corpus = write_corpus(tmp_path / "town")
    for name in ("queries", "insights"):
        path = corpus / f"{name}.jsonl"
        path.write_text(path.read_text().replace('"query_id": "', '"query_id": "other-'))
    (tmp_path / "other.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    bench = str(tmp_path / "bench")
    assert ingest(["jsonl", str(corpus), "--out", bench]) == 0
    other = str(tmp_path / "other-run")
    assert judge([str(tmp_path / "other.jsonl"), "--bench", bench, "--workers", "0", "--out", other]) == 0
    capsys.readouterr()

    assert town.judge(town.good, "--out", str(tmp_path / "run"), "--against", other) == USAGE
    assert "expected a baseline on queries of" in capsys.readouterr().err
    assert not (tmp_path / "run" / "verdicts").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_file_that_may_not_be_written_is_refused_before_any_judging(town: Town, tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o500)
    words = ["--junit", str(tmp_path / "closed" / "gate.xml"), "--fail-under", "coverage=1"]
    assert town.judge(town.good, "--out", str(tmp_path / "run"), *words) == USAGE


def test_a_folder_in_place_of_a_file_is_refused(town: Town, tmp_path: Path) -> None:
    assert gate([town.run, "--fail-under", "coverage=1", "--junit", str(tmp_path)]) == USAGE


def test_a_share_is_warned_of(town: Town, capsys: pytest.CaptureFixture[str]) -> None:
    assert gate([town.run, "--fail-under", "coverage=0.8"]) == 0
    assert "scores are 0 to 100" in capsys.readouterr().err
