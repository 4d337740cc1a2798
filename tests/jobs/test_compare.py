"""`longform compare`: a run beside itself, one with another judge, half of one, and one on another benchmark."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.compare import main
from jobs.evaluate import main as evaluate
from jobs.ingest import main as ingest
from jobs.report import main as report
from jobs.results.write import read_results
from longform.report.findings import findings
from longform.results.cells import table_rows
from tests.made.demo import railway
from tests.results import by_measure, cells_of


def configuration(**changes: Any) -> dict[str, Any]:
    return {
        "name": "town",
        "seed": 1,
        "retrievers": {"bm25": {"kind": "bm25"}, "oracle": {"kind": "oracle"}},
        "summarizers": {"offline": {"kind": "offline"}},
        "judges": {"j": {"kind": "offline", "calibration": "people"}},
        "systems": [{"retriever": ["bm25", "oracle"], "budget_tokens": 300, "summarizer": "offline"}],
        "resamples": 100,
        **changes,
    }


def made(folder: Path, bench: str, name: str, *more: str, **changes: Any) -> str:
    config = folder / f"{name}.yaml"
    config.write_text(json.dumps(configuration(**changes)))
    assert evaluate([str(config), "--bench", bench, "--out", str(folder / name), "--workers", "0", *more]) in (0, 3)
    return str(folder / name)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("compared")


@pytest.fixture(scope="module")
def town(folder: Path, bench: str) -> str:
    return made(folder, bench, "town")


def compared(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    capsys.readouterr()
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert main(list(words)) == 2
    return capsys.readouterr().err


def test_a_run_beside_itself_differs_by_nothing(town: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = Path(town, "run.json").read_bytes()
    found = compared(capsys, town, town)

    assert {row["difference"]["value"] for row in table_rows(found, "differences")} == {0}
    assert {row["first_system"] for row in table_rows(found, "differences")} == {"offline, bm25", "offline, oracle"}
    assert not any("better" in row["finding"] for row in table_rows(found, "differences"))
    assert len(found["conclusion"]) == 3
    assert table_rows(found, "settings") == []
    assert table_rows(found, "costs")[0]["difference"] == 0
    assert "Both are the same run, so every difference is 0." in found["cautions"]
    assert any("They are not: they share the documents of 1 haystack" in one for one in found["cautions"])
    assert Path(town, "run.json").read_bytes() == before, "it only reads"


def test_scores_are_those_of_the_run_s_own_report(town: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = compared(capsys, town, town, "--measure", "coverage")
    cells = cells_of(read_results(Folder(town)))
    own = {f"{cell['summarizer']}, {cell['setting']}": cell["coverage"] for cell in cells}

    assert {row["first_system"]: row["first"] for row in table_rows(found, "differences")} == pytest.approx(own)


def test_settings_that_differ_are_told_and_systems_may_be_named(
    folder: Path, bench: str, town: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    small = made(folder, bench, "small", systems=[{"retriever": "bm25", "budget_tokens": 60, "summarizer": "offline"}])
    found = compared(capsys, town, small)

    assert {row["first_system"] for row in table_rows(found, "differences")} == {"offline, bm25"}
    assert {"key": "systems.0.budget_tokens.0", "first": "300", "second": "60"} in table_rows(found, "settings")
    assert any("oracle" in caution for caution in found["cautions"])

    crossed = compared(capsys, town, small, "--systems", "oracle=bm25", "--out", str(tmp_path))
    assert {(row["first_system"], row["second_system"]) for row in table_rows(crossed, "differences")} == {
        ("offline, oracle", "offline, bm25")
    }
    page = (tmp_path / "compare.html").read_text()
    assert crossed["conclusion"][1] in page
    assert "default-src 'none'" in page
    assert (tmp_path / "compare.md").read_text().startswith("# Comparison of town and small")
    assert "expected one system" in refused(capsys, town, small, "--systems", "nobody=bm25")


def test_rankings_are_compared_too_and_alone_if_asked_for(town: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The two rankers stand in one run, whose report has their recall."""
    pair = ["--systems", "bm25=oracle"]
    whole, alone = compared(capsys, town, town, *pair), compared(capsys, town, town, *pair, "--measure", "R@5")

    in_report = {row["system"]: row["R@5"] for row in by_measure(report_of(town), "retrieval")}
    (row,) = table_rows(alone, "retrieval")
    assert (table_rows(alone, "differences"), row["p"] is None) == ([], False)
    assert (row["first"], row["second"]) == (
        pytest.approx(100 * in_report["bm25"]),
        pytest.approx(100 * in_report["oracle"]),
    )
    assert "R@5" in {one["measure"] for one in table_rows(whole, "retrieval")}
    assert "retrieval" not in {one["measure"] for one in table_rows(whole, "differences")}
    assert "R@5 of bm25 against oracle is" in " ".join(alone["conclusion"])
    assert main([town, town, *pair, "--measure", "R@5"]) == 0
    assert "bm25 against oracle" in capsys.readouterr().out


def report_of(run: str) -> Any:
    return read_results(Folder(run))


def test_another_judge_of_the_same_name_is_not_compared(
    folder: Path, bench: str, town: str, capsys: pytest.CaptureFixture[str]
) -> None:
    other = made(folder, bench, "other-judge", judges={"j": {"kind": "offline", "calibration": "gpt-4o"}})
    found = compared(capsys, town, other)

    assert {row["judge"] for row in table_rows(found, "differences")} == {None}
    assert any("calibration is people in town and gpt-4o in other-judge" in one for one in found["cautions"])


def test_a_half_finished_run_is_compared_on_what_it_has_and_says_so(
    folder: Path, bench: str, town: str, capsys: pytest.CaptureFixture[str]
) -> None:
    half = made(folder, bench, "half", "--limit", "3")
    found = compared(capsys, town, half)
    assert found["n_common"] == 3
    assert {row["finding"] for row in table_rows(found, "differences")} <= {"too few", "none"}

    unscored = made(folder, bench, "unscored", "--until", "split")
    assert "found none yet" in refused(capsys, town, unscored)
    record = Folder(half).read_json("run.json")
    record["stages"][-1]["wanted"] += 7
    shutil.rmtree(Path(half, "progress"))
    Folder(half).write_json("run.json", record)
    assert any("half is not finished (score" in one for one in compared(capsys, town, half)["cautions"])


def test_runs_on_other_benchmarks_are_refused_with_the_reason(
    folder: Path, town: str, capsys: pytest.CaptureFixture[str]
) -> None:
    other = made(folder, railway(), "other-bench", "--limit", "1")

    assert "other benchmarks" in refused(capsys, town, other)


def test_several_runs_have_a_page_over_all_of_them(
    folder: Path, bench: str, town: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    second = made(folder, bench, "second", retrievers={"bm25": {"kind": "bm25", "k1": 0.5}},
                  systems=[{"retriever": "bm25", "budget_tokens": 300, "summarizer": "offline"}])  # fmt: skip
    third = made(folder, bench, "third", judges={"j": {"kind": "offline", "calibration": "gpt-4o"}})

    assert report([town, second, third, "--out", str(tmp_path)]) == 0

    html, text = ((tmp_path / f"index.{kind}").read_text() for kind in ("html", "md"))
    assert '<a href="town/index.html">town</a>' in html
    assert "[second](<second/index.html>)" in text
    assert "default-src 'none'" in html
    assert "Runs town, second. Judge j." in text
    assert "Runs third. Judge j." in text, "another judge of the name stands apart"
    assert "Judge j is not the same in all runs" in text
    assert [one.name for one in tmp_path.glob("*.html")] == ["index.html"]
    assert {one.parent.name for one in tmp_path.glob("*/index.html")} == {"town", "second", "third"}
    own = read_results(Folder(str(Path(second))))
    assert findings(own)[0].best not in text, "the groups alone say which systems differ"
    for page in (tmp_path / "second").glob("*.html"):
        assert '<a href="../index.html">All 3 runs</a>' in page.read_text(), f"{page.name} leads back"
    assert "All 3 runs" not in (Path(second) / "report" / "index.html").read_text(), "the run's own report is alone"


def test_pages_of_several_runs_show_support_and_say_what_was_written_elsewhere(
    folder: Path, bench: str, town: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = [
        {"query_id": one, "system": "rag", "text": "Nothing is known."} for one in list(Benchmark(bench).queries)[1:]
    ]
    answers += [{"query_id": next(iter(Benchmark(bench).queries)), "system": "rag", "failure": "timed out"}]
    (folder / "answers.jsonl").write_text("".join(json.dumps(one) + "\n" for one in answers))
    answered = str(folder / "answered")
    assert ingest(["outputs", str(folder / "answers.jsonl"), "--bench", bench, "--out", answered]) == 0
    both = made(folder, answered, "both", "--limit", "3",
                summarizers={"offline": {"kind": "offline"}, "rag": {"kind": "shipped"}},
                systems=[{"retriever": "bm25", "budget_tokens": 300, "summarizer": "offline"}, {"summarizer": "rag"}],
                judges={**configuration()["judges"], "s": {"kind": "offline", "task": "support"}})  # fmt: skip
    assert report([town, both, "--out", str(tmp_path)]) == 0

    text = (tmp_path / "index.md").read_text()
    assert "Written elsewhere, and taken as they were. both: rag, unknown." in text
    supported = (
        text.partition("Runs both. Judge s.")[2].partition("\n\n| summarizer")[2].partition("\n\n")[0].splitlines()
    )
    assert "sentences supported | mean probability of support" in supported[0]
    assert next(row for row in supported if row.startswith("| rag | unknown")).endswith("| 2 |"), "one failed"
    assert "no reason recorded" not in text
    cautions = compared(capsys, town, both)["cautions"]
    assert "Written elsewhere, and taken by both as they were: rag, unknown." in cautions


def test_one_run_has_no_page_over_all(town: str, tmp_path: Path) -> None:
    (tmp_path / "index.md").write_text("of several runs before")
    assert report([town, "--out", str(tmp_path)]) == 0
    assert not (tmp_path / "index.md").exists()
    assert (tmp_path / "report.md").exists()
