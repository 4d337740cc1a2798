"""Pages of finished runs, made again; and snapshots of summaries written over time, from a user's own files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jobs.evaluations.replay import ReplaySettings, replay
from jobs.ingest import ingest
from jobs.report import main
from jobs.stages.cluster import Cluster
from tests.longform.report.pages import long_texts
from tests.made.demo import two_systems
from tests.results import by_measure, cells_of

FILES: dict[str, list[dict[str, Any]]] = {
    "documents": [{"doc_id": "a", "text": "It cost 5."}, {"doc_id": "b", "text": "It cost 5, said Ann."}],
    "queries": [{"query_id": "q", "text": "What did it cost?"}],
    "insights": [{"insight_id": "i", "query_id": "q", "text": "It cost 5.", "doc_ids": ["a", "b"]}],
    "summaries": [
        {"summary_id": f"s{minute}", "query_id": "q", "summarizer": "Bo", "setting": "oracle", "text": text,
         "elapsed_minutes": minute}
        for minute, text in ((10, "- It cost something"), (20, "- It cost 5 [1]"), (30, "- It cost 5 [1][2]"))
    ],
    "labels": [
        {"summary_id": f"s{minute}", "insight_id": "i", "coverage": coverage, "bullet": 1, "annotator": "human"}
        for minute, coverage in ((10, "partial"), (20, "full"), (30, "full"))
    ],
}  # fmt: skip


@pytest.fixture
def replayed(tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for name, rows in FILES.items():
        (corpus / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    ingest("jsonl", [str(corpus)], str(tmp_path / "bench"))
    cluster = Cluster(address=None, workers=0)
    return tmp_path, replay(
        str(tmp_path / "bench"), str(tmp_path / "run"), ReplaySettings(resamples=100), cluster=cluster
    )


def test_snapshots_make_a_curve_and_only_the_last_a_cell(replayed: tuple[Path, dict[str, Any]]) -> None:
    results = replayed[1]

    assert [(p["minutes"], p["coverage"], round(p["joint"], 1)) for p in by_measure(results, "curve")] == [
        (10.0, 50.0, 0.0),
        (20.0, 100.0, 66.7),
        (30.0, 100.0, 100.0),
    ]
    assert [(cell["n_summaries"], cell["joint"]) for cell in cells_of(results)] == [(1, 100.0)]


def test_pages_of_a_finished_run_are_the_same_pages(
    replayed: tuple[Path, dict[str, Any]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = replayed[0]
    monkeypatch.chdir(folder)

    assert main([str(folder / "run"), "--out", "pages"]) == 0
    assert capsys.readouterr().out.startswith(f"{folder}/pages/index.html: findings, with links to all tables")
    again, first = (
        {path.name: path.read_bytes() for path in place.iterdir() if path.suffix in {".html", ".md"}}
        for place in (folder / "pages", folder / "run" / "report")
    )
    assert again == first
    assert {"index.html", "report.md", "scores.html", "summaries-0001.html", "provenance.html"} <= set(again)


def test_pages_of_another_layout_are_gone_and_files_of_others_stay(replayed: tuple[Path, dict[str, Any]]) -> None:
    report = replayed[0] / "run" / "report"
    for name in ("report.html", "report-summaries-0007.html", "documents-0003.html", "mine.html"):
        (report / name).write_text("of an older version")

    assert main([str(replayed[0] / "run"), "--out", str(report)]) == 0
    left = {path.name for path in report.glob("*.html")}
    assert "mine.html" in left
    assert not left & {"report.html", "report-summaries-0007.html", "documents-0003.html"}


def test_folder_without_results_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path), "--out", str(tmp_path / "pages")]) == 2
    assert "results.json" in capsys.readouterr().err


def test_twins_stand_below_their_originals_over_several_runs(
    replayed: tuple[Path, dict[str, Any]], tmp_path: Path
) -> None:
    settings, cluster = ReplaySettings(citations="matrix", resamples=100), Cluster(address=None, workers=0)
    for name in ("one", "other"):
        replay(str(tmp_path / "bench"), str(tmp_path / name), settings, cluster=cluster)

    assert main([str(tmp_path / "one"), str(tmp_path / "other"), "--out", str(tmp_path / "both")]) == 0

    page = (tmp_path / "both" / "index.md").read_text()
    lines = page.partition("## All systems")[2].splitlines()
    shown = [line.split(" | ")[:3] for line in lines if line.startswith(("| Bo |", "| ↳ "))]
    twin = "| ↳ repaired twin: supporting documents found"
    of_each = [[name, "oracle", run] for run in ("one", "other") for name in ("| Bo", twin)]
    assert shown[:4] == of_each


def test_no_paragraph_is_long_and_no_table_is_prose() -> None:
    report = Path(two_systems()) / "report"
    ours = [path for path in report.glob("*.html") if not path.name.startswith(("summaries", "documents", "matrix"))]
    assert len(ours) > 8
    assert {path.name: found for path in ours if (found := long_texts(path.read_text()))} == {}
