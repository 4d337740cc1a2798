"""The functions of `import longform` give the numbers of `evaluate`, and the examples of their page run."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

import longform
from actors.storage.folder import Folder
from jobs.compare import main as compare
from jobs.evaluate import main as evaluate
from jobs.ingest import main as ingest
from jobs.judge import main as judge_outputs
from longform.errors import UsageError
from longform.results.cells import table_rows
from tests.jobs.answers.town import town, write_corpus
from tests.pages import commands, files_shown, printed
from tests.results import cells_of, checked_of

SYSTEM = {"retriever": "full", "budget_tokens": None, "summarizer": "offline"}
CONFIGURATION = {
    "name": "same numbers",
    "seed": 1,
    "retrievers": {"full": {"kind": "full"}},
    "summarizers": {"offline": {"kind": "offline"}},
    "judges": {
        "people": {"kind": "offline", "calibration": "people"},
        "gpt": {"kind": "offline", "calibration": "gpt-4o"},
        "near": {"kind": "offline", "calibration": "people", "features": "vectors"},
        "support": {"kind": "offline", "task": "support"},
    },
    "systems": [SYSTEM],
    "bullets": 3,
    "citations": "matrix",
    "resamples": 100,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an evaluated run of the town."""
    folder = tmp_path_factory.mktemp("town")
    (folder / "town.yaml").write_text(yaml.safe_dump(CONFIGURATION))
    words = [str(folder / "town.yaml"), "--bench", town(), "--out", str(folder / "run"), "--workers", "0"]
    assert evaluate(words) == 0
    return folder


@pytest.fixture(scope="module")
def bench() -> longform.Benchmark:
    return longform.Benchmark(town())


@pytest.fixture(scope="module")
def run(folder: Path) -> longform.Run:
    return longform.Run(folder / "run")


def originals(run: longform.Run) -> list[dict[str, Any]]:
    return [row for row in run.summaries.to_pylist() if row["step"] is None and row["cited_by"] is None]


def texts(bench: longform.Benchmark, haystack_id: str) -> list[str]:
    return [document.text for document in bench.documents(haystack_id)]


@pytest.mark.parametrize(
    ("judge", "calibration", "features"),
    [("people", "people", "words"), ("gpt", "gpt-4o", "words"), ("near", "people", "vectors")],
)
def test_scores_are_those_of_evaluate_to_the_last_digit(
    bench: longform.Benchmark, run: longform.Run, judge: str, calibration: str, features: str
) -> None:
    stored = {(one["summary_id"], one["measure"]): one for one in run.scores.to_pylist() if one["judge"] == judge}
    verdicts = {(one["summary_id"], one["target_id"]): one for one in run.verdicts.to_pylist() if one["judge"] == judge}
    compared, probabilities = 0, set()
    for summary in originals(run):
        targets = bench.targets[summary["query_id"]]
        gold = bench.gold_numbers(summary["haystack_id"]) or {}
        found = longform.judge(
            summary["text"],
            [longform.Insight(target.text, sorted(gold[target.target_id])) for target in targets],
            background=[target.text for target in bench.haystack_targets(summary["haystack_id"])],
            calibration=calibration,
            features=features,
        )
        for name, score in found.scores.items():
            row = stored[summary["summary_id"], name]
            assert (score.value, score.total, score.n) == (row["value"], row["total"], row["n"])
            compared += 1
        for target, insight in zip(targets, found.insights, strict=True):
            verdict = verdicts[summary["summary_id"], target.target_id]
            assert (insight.answer, insight.bullet) == (verdict["answer"], verdict["linked_unit"])
            assert insight.probability == verdict["probability"]
            probabilities.add(insight.probability)

    assert compared == 6 * len(bench.queries)
    assert len(probabilities) > 2  # not all alike


def test_verdicts_on_sentences_are_those_of_evaluate(bench: longform.Benchmark, run: longform.Run) -> None:
    rows = [row for row in run.verdicts.to_pylist() if row["judge"] == "support"]
    totals = []
    for summary in originals(run):
        documents = texts(bench, summary["haystack_id"])
        found = longform.check(summary["text"].splitlines(), documents)
        number = {document.doc_id: place for place, document in enumerate(bench.documents(summary["haystack_id"]))}
        stored = [row for row in rows if row["summary_id"] == summary["summary_id"]]
        assert len(stored) == found.probabilities.size
        for row in stored:
            assert found.probabilities[number[row["target_id"]], row["unit_index"]] == row["probability"]
        totals.append(found.faithfulness)
    (cell,) = (one for one in checked_of(run.results) if one["judge"] == "support")

    mean = sum(one.total for one in totals) / sum(one.n for one in totals)
    assert cell["faithfulness"]["value"] == pytest.approx(100 * mean, abs=1e-9)


def test_summaries_are_those_of_evaluate(bench: longform.Benchmark, run: longform.Run) -> None:
    for summary in originals(run):
        query = bench.queries[summary["query_id"]]
        found = longform.summarize(query.text, texts(bench, query.haystack_id), subtopic=query.subtopic, bullets=3)
        assert found.text == summary["text"]


def test_citations_are_those_of_the_twin(bench: longform.Benchmark, run: longform.Run) -> None:
    twins = {row["parents"][0]: row["text"] for row in run.summaries.to_pylist() if row["cited_by"] is not None}

    assert twins
    for summary in originals(run):
        cited = longform.cite(summary["text"], texts(bench, summary["haystack_id"]))
        assert cited.text == twins[summary["summary_id"]]


def test_systems_and_comparisons_are_those_of_the_results(run: longform.Run) -> None:
    systems = run.systems.to_pylist()
    (checked,) = (one for one in systems if one["judge"] == "support")
    of_coverage = [one for one in systems if one is not checked]

    assert [one["coverage"] for one in of_coverage] == [cell["coverage"] for cell in cells_of(run.results)]
    (cell,) = (one for one in checked_of(run.results) if one["judge"] == "support")
    assert checked["sentences_supported"] == cell["supported"]["value"]
    assert {"coverage_low", "coverage_high", "retriever", "order"} <= set(run.systems.column_names)
    assert run.comparisons.num_rows == len(table_rows(run.results, "comparisons"))
    assert {"difference", "low", "high", "p", "finding"} <= set(run.comparisons.column_names)  # also without a row


def test_frames_have_the_scores_and_the_names_of_the_results(run: longform.Run) -> None:
    means = run.frames.scores.filter(pl.col("measure") == "coverage").group_by("judge", "summarizer", "setting")
    total = means.agg(100 * pl.col("total").sum() / pl.col("n").sum()).collect()

    assert {row[:3]: pytest.approx(row[3]) for row in total.iter_rows()} == {
        (cell["judge"], cell["summarizer"], cell["setting"]): cell["coverage"]
        for cell in cells_of(run.results)
        if cell.get("coverage") is not None
    }
    assert run.frames.verdicts.select(pl.len()).collect().item() == run.verdicts.num_rows
    assert run.frames.qrels.select(pl.len()).collect().item() > 0


def test_examples_of_the_page_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The README's files, evaluated in this process, are beside them."""
    monkeypatch.chdir(tmp_path)
    for name, text in re.findall(
        r"^cat > (\S+) <<'END'\n(.*?)^END$", commands("README.md", ""), re.MULTILINE | re.DOTALL
    ):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)
    assert ingest(["jsonl", "corpus", "--out", "bench"]) == 0
    assert evaluate(["town.yaml", "--bench", "bench", "--out", "runs/town", "--workers", "0"]) == 0
    assert judge_outputs(["theirs.jsonl", "--bench", "bench", "--out", "runs/theirs", "--workers", "0"]) == 0
    capsys.readouterr()

    examples = files_shown("docs/python.md")
    for example in examples:
        assert len(example.text.split("\n\n")[1].splitlines()) == 4  # below the import
        exec(compile(example.text, example.kind, "exec"), {})
    shown = capsys.readouterr().out.splitlines()

    assert len(examples) == 9
    assert set(printed("docs/python.md", "")) <= set(shown)


def test_compare_has_the_numbers_of_the_command(folder: Path, run: longform.Run) -> None:
    other = folder / "gpt"
    changed = ["--workers", "0", "--set", "bullets=2"]
    assert evaluate([str(folder / "town.yaml"), "--bench", town(), "--out", str(other), *changed]) == 0
    found = longform.compare(run, other)

    assert compare([str(folder / "run"), str(other), "--out", str(folder / "compared")]) == 0
    written = json.loads((folder / "compared/compare.json").read_text())
    assert found.document == written
    assert found.differences.column("difference").to_pylist() == [
        row["difference"] and row["difference"]["value"] for row in table_rows(written, "differences")
    ]
    assert any(found.differences.column("difference").to_pylist())
    assert "bullets" in found.settings.column("key").to_pylist()
    assert " ".join(str(found).split()).startswith(found.conclusion[0])


def test_compare_says_what_it_expected(run: longform.Run) -> None:
    with pytest.raises(UsageError, match="second: expected a run or its folder, found a value of type int"):
        longform.compare(run, 3)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="no run at 'nowhere'"):
        longform.compare(run, "nowhere")
    with pytest.raises(UsageError, match="measures: expected a list"):
        longform.compare(run, run, measures="joint")


def test_explain_adds_up_to_the_scores(run: longform.Run) -> None:
    stored = {(one["summary_id"], one["measure"]): one for one in run.scores.to_pylist() if one["judge"] == "people"}
    n_bullets = 0
    for summary in run.summaries.to_pylist():
        rows = run.explain(summary["summary_id"], "people").to_pylist()
        weights = {"full": 1.0, "partial": 0.5, "none": 0.0}
        score = stored[summary["summary_id"], "coverage"]
        assert sum(weights[row["answer"]] for row in rows) == score["total"]
        assert len(rows) == score["n"]
        for row in rows:
            assert (row["bullet"] is None) == (row["cited"] is None)
            if row["bullet"] is not None:
                n_bullets += 1
                assert set(row["wrong"]) == set(row["cited"]) - set(row["gold"])
                assert set(row["missed"]) == set(row["gold"]) - set(row["cited"])
    assert n_bullets


def test_explain_names_what_it_lacks(run: longform.Run) -> None:
    summary_id = run.summaries.column("summary_id").to_pylist()[0]
    with pytest.raises(
        UsageError, match=r"judged insights of summary .* found 'nobody'; the run's judges: gpt, near, people"
    ):
        run.explain(summary_id, "nobody")
    with pytest.raises(UsageError, match="summary_id: expected one of the summaries"):
        run.explain("nothing", "people")


def test_explain_follows_a_benchmark_that_moved_and_takes_no_other(run: longform.Run, tmp_path: Path) -> None:
    summary_id = run.summaries.column("summary_id").to_pylist()[0]
    for source, to in ((run.folder.url, "run"), (run.folder.read_json("run.json")["benchmark"]["url"], "moved")):
        shutil.copytree(source, tmp_path / to)
    record = Folder(str(tmp_path / "run")).read_json("run.json")
    record["benchmark"]["url"] = str(tmp_path / "gone")
    Folder(str(tmp_path / "run")).write_json("run.json", record)
    (tmp_path / "other").mkdir()
    write_corpus(tmp_path / "other" / "corpus")
    (tmp_path / "other" / "corpus" / "insights.jsonl").write_text("")
    assert ingest(["jsonl", str(tmp_path / "other" / "corpus"), "--out", str(tmp_path / "other" / "bench")]) == 0
    moved = longform.Run(tmp_path / "run")

    there = moved.explain(summary_id, "people", bench=str(tmp_path / "moved"))

    assert there.equals(run.explain(summary_id, "people"))
    with pytest.raises(UsageError, match=r"its benchmark is not at .*gone'; name where it is with bench="):
        moved.explain(summary_id, "people")
    with pytest.raises(UsageError, match=r"bench: expected the benchmark of .*, found another one"):
        moved.explain(summary_id, "people", bench=str(tmp_path / "other" / "bench"))
