"""Classes of a user's own in a whole run: the code and the commands of docs/extending.md, as they stand there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from actors.storage.folder import Folder
from jobs.results.write import read_results
from tests.head import command, running_head
from tests.pages import commands, files_shown, run_commands
from tests.results import cells_of

PAGE = "docs/extending.md"
CLASSES = [file for file in files_shown(PAGE) if file.language == "python"]


@pytest.mark.parametrize("file", CLASSES, ids=lambda file: file.kind)
def test_a_class_of_ones_own_is_short(file: tuple[str, str, str]) -> None:
    assert len(file[2].splitlines()) < 40


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a reader who has copied the page's files and typed its commands."""
    found = tmp_path_factory.mktemp("extending")
    script = commands(PAGE, "")
    assert "--workers 2" in script
    done = run_commands(script, found)
    assert done.returncode == 0, done.stdout + done.stderr
    return found


@pytest.mark.ray
def test_every_class_of_the_page_works_in_a_run_on_two_workers(folder: Path) -> None:
    run = Folder(str(folder / "runs/mine"))
    summaries = run.read("summaries").to_pylist()
    rankings = run.read("rankings").to_pylist()

    mine = {row["doc_id"]: row["score"] for row in rankings if row["system"] == "mine"}
    assert mine == {"dam.txt#0": 1.0, "dam.txt#1": 1.0, "dam.txt#2": 0.0, "tram.txt#0": 1.0, "tram.txt#1": 0.0}
    assert {row["retriever"] for row in rankings if row["reranker"] == "mine"} == {"mine", "both"}
    assert {row["summarizer"] for row in summaries} == {"mine"}
    first = [row for row in summaries if (row["query_id"], row["setting"]) == ("dam.txt?", "mine")]
    assert [row["text"] for row in first] == [
        "- The dam on the river was finished in May [1]\n- The mill on the river was closed for good [2]"
    ]
    assert {row["prompt_version"] for row in summaries} == {"my_summarizer:FirstSentences@version 1"}
    verdicts = {
        (row["target_id"], row["summary_id"]): (row["answer"], row["linked_unit"])
        for row in run.read("verdicts").to_pylist()
        if row["judge"] == "mine"
    }
    assert {place for (target, _), place in verdicts.items() if target == "dam.txt!1"} == {("full", 0)}
    scores = {
        (row["measure"], row["judge"], row["query_id"]): (row["total"], row["n"])
        for row in run.read("scores").to_pylist()
    }
    assert scores["mentioned", "mention", "dam.txt?"] == (1.0, 2)
    assert scores["cited", None, "tram.txt?"] == (1.0, 1)
    cells = cells_of(read_results(run))
    assert {cell["judge"] for cell in cells if cell.get("mentioned") is not None} == {"mention"}
    assert {cell["cited"] for cell in cells} == {100.0}
    results = read_results(run)
    study = results["tables"]["hard_queries"]
    assert [column["unit"] for column in study["columns"]] == ["text", "points", "count"]
    *queries, every = study["rows"]
    assert {row["query"]: row["scores"] for row in study["rows"]} == {"dam.txt?": 12, "tram.txt?": 12, "all": 24}
    found = [row for row in run.read("scores").to_pylist() if row["measure"] == "coverage"]
    values = sum(row["value"] for row in found)
    assert sum(row["coverage"] * row["scores"] for row in queries) == pytest.approx(100 * values)
    assert queries == sorted(queries, key=lambda row: row["coverage"])
    pooled = 100 * sum(row["total"] for row in found) / sum(row["n"] for row in found)
    assert every["coverage"]["value"] == pytest.approx(pooled)
    assert every["coverage"]["low"] < pooled < every["coverage"]["high"]
    assert study["title"] == "Hard queries"
    assert "position" not in results["tables"]
    (answer, *_) = map(json.loads, (folder / "answers/dam.txt.jsonl").read_text().splitlines())
    assert answer["asked"] == "What was built on the river, and what does it cost?"
    assert answer["answer"] in {row["text"] for row in summaries}
    report = (folder / "runs/mine/report/report.md").read_text()
    assert "## Hard queries" in report
    assert study["told"] in report
    assert "| dam.txt? |" in report
    assert {work["workers"] for stage in run.read_json("run.json")["stages"] for work in stage["work"]} == {2}


@pytest.mark.ray
def test_a_benchmark_says_which_class_has_read_it(folder: Path) -> None:
    sources = json.loads((folder / "notes-bench/benchmark.json").read_text())["sources"]

    assert [(source["name"], source["class"], source["version"]) for source in sources] == [
        ("dam.txt", "my_format:Notes", "version 1"),
        ("tram.txt", "my_format:Notes", "version 1"),
    ]


@pytest.mark.slow
def test_a_submitted_job_brings_the_classes_along(tmp_path: Path) -> None:
    """The folder that is submitted holds a configuration and its modules; workers know it by its package alone."""
    given, out = tmp_path / "given", tmp_path / "out"
    (given / "configs").mkdir(parents=True)
    script = commands(PAGE, "").partition("longform ingest")[0]
    assert run_commands(script, given).returncode == 0
    for file in ("mine.yaml", "my_retriever.py", "my_summarizer.py"):
        (given / file).rename(given / "configs" / file)
    ingest = "longform ingest python notes --class my_format:Notes --out"
    assert run_commands(f"{ingest} {out}/bench", given).returncode == 0

    with running_head(cpus=2) as head:
        options = ["--address", head.address, "--working-dir", str(given)]
        verb = ["python", "-m", "jobs.evaluate", "configs/mine.yaml", "--bench", f"{out}/bench", "--out", f"{out}/run"]
        done = command("ray", "job", "submit", *options, "--", *verb)

    assert done.returncode == 0, done.stdout + done.stderr
    assert {row["summarizer"] for row in Folder(f"{out}/run").read("summaries").to_pylist()} == {"mine"}
