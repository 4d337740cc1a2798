"""Shipped texts as systems of `evaluate`: beside what a run writes, judged, repaired, over minutes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.evaluate import main
from jobs.files.outputs import BARE, copy_benchmark
from jobs.ingest import main as ingest
from jobs.results.write import read_results
from longform.results.cells import table_rows
from tests.jobs.answers.town import TOPICS, answers, town
from tests.made.store import copied
from tests.results import by_measure, cells_of

CHAT = {"provider": "scripted", "model": "scripted", "script": "obedient"}
CONFIG: dict[str, Any] = {
    "name": "shipped",
    "seed": 1,
    "retrievers": {"bm25": {"kind": "bm25"}},
    "summarizers": {"written": {"kind": "shipped"}, "scripted": {"kind": "chat", "chat": CHAT}},
    "judges": {"offline": {"kind": "offline", "calibration": "people"}},
    "systems": [{"summarizer": "written"}],
    "resamples": 100,
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The town with the answers of two systems, and a third that wrote its answers over an hour."""
    folder = tmp_path_factory.mktemp("town")
    url = str(folder / "bench")
    rows = [row for row in answers() if row["system"] in {"notes", "agent"}]
    for place, topic in enumerate(TOPICS):
        for minutes, text in ((10, ""), (20, topic.first), (40, f"{topic.first}\n{topic.second}")):
            rows.append({"query_id": f"q{place}", "system": "person", "elapsed_minutes": minutes, "text": text})
    (folder / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    copied(town(), folder / "bench")
    assert ingest(["outputs", str(folder / "answers.jsonl"), "--bench", url]) == 0
    return url


def run(tmp_path: Path, bench: str, *words: str, **changes: Any) -> int:
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(json.loads(json.dumps(CONFIG)) | changes))
    out = ["--out", str(tmp_path / "run"), "--workers", "0", "--no-vectors"]
    return main([str(tmp_path / "c.yaml"), "--bench", bench, *out, *words])


def results(tmp_path: Path) -> dict[str, Any]:
    return dict(read_results(Folder(str(tmp_path / "run"))))


def test_they_stand_beside_what_the_run_writes_and_are_marked(tmp_path: Path, bench: str) -> None:
    systems = [*CONFIG["systems"], {"retriever": "bm25", "budget_tokens": 200, "summarizer": "scripted"}]
    assert run(tmp_path, bench, systems=systems) == 0

    found = results(tmp_path)
    cells = {(cell["summarizer"], cell["setting"]): cell for cell in cells_of(found)}
    assert set(cells) == {("scripted", "bm25"), ("notes", "unknown"), ("agent", "unknown"), ("person", "unknown")}
    assert {key for key, cell in cells.items() if cell.get("elsewhere")} == set(cells) - {("scripted", "bm25")}
    assert cells["person", "unknown"]["n_summaries"] == len(TOPICS)  # the last snapshot counts
    page = Folder(str(tmp_path / "run")).read_bytes("report/report.md").decode()
    assert "| notes (written elsewhere) |" in page
    compared = page.partition("## Comparisons with one system")[2].partition("\n## ")[0]
    assert "Joint compared with notes, unknown. " in compared
    assert "| person (written elsewhere) | unknown | 0.0 |" in compared
    assert "| notes (written elsewhere) | unknown | joint | 100.0 |" in compared
    assert "scripted, bm25 (written elsewhere)" not in page
    frontier = page.partition("## Quality beside cost")[2].partition("\n## ")[0]
    assert "| notes (written elsewhere) | unknown |" in frontier
    assert {row["retriever"] for row in table_rows(found, "retrieval")} <= {"bm25"}


def test_snapshots_make_the_curve_over_minutes(tmp_path: Path, bench: str) -> None:
    assert run(tmp_path, bench) == 0

    points = {row["minutes"]: row["coverage"] for row in by_measure(results(tmp_path), "curve")}
    assert points == {10.0: 0.0, 20.0: 50.0, 30.0: 50.0, 40.0: 100.0}


@pytest.mark.parametrize("citations", ["matrix", "support"])
def test_their_citations_are_repaired_and_told_as_written_elsewhere(tmp_path: Path, bench: str, citations: str) -> None:
    judges = CONFIG["judges"] | {"support": {"kind": "offline", "task": "support"}}
    systems = [*CONFIG["systems"], {"retriever": "bm25", "budget_tokens": 200, "summarizer": "scripted"}]
    assert run(tmp_path, bench, "--citations", citations, judges=judges, systems=systems) == 0

    cells = {cell["summarizer"]: cell for cell in cells_of(results(tmp_path))}
    twin = next(cell for cell in cells.values() if cell["twin_of"] == "agent")
    assert cells["agent"]["precision"] == 75.0
    assert twin["precision"] > 90.0
    assert twin["coverage"] == cells["agent"]["coverage"]
    page = Folder(str(tmp_path / "run")).read_bytes("report/report.md").decode()
    repaired = page.partition("## Citations before and after repair")[2]
    assert "| agent (written elsewhere) | unknown |" in repaired
    assert "| scripted (scripted) | bm25 |" in repaired


def test_a_chat_model_judges_them_and_the_plan_counts_its_calls(
    tmp_path: Path, bench: str, capsys: pytest.CaptureFixture[str]
) -> None:
    judges = {"chat": {"kind": "chat", "chat": CHAT}, "checks": {"kind": "chat", "task": "support", "chat": CHAT}}
    writers = {"written": {"kind": "shipped", "name": "agent"}, "scripted": CONFIG["summarizers"]["scripted"]}
    assert run(tmp_path, bench, "--plan", "--json", judges=judges, summarizers=writers) == 0

    planned = {stage["stage"]: stage["calls"] for stage in json.loads(capsys.readouterr().out)["stages"]}
    assert planned == {"judge chat": 20, "check checks": 40}  # an insight a call; 2 sentences by 2 documents
    assert run(tmp_path, bench, judges=judges, summarizers=writers) == 0
    assert {cell["summarizer"] for cell in cells_of(results(tmp_path))} == {"agent"}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"systems": [{"summarizer": "scripted"}]}, "'scripted' is of kind chat and writes from documents"),
        ({"systems": [{"summarizer": "written", "order": "top"}]}, "takes no order"),
        (
            {"systems": [{"retriever": "bm25", "budget_tokens": None, "summarizer": "written"}]},
            "expected `name` of one summarizer beside a retriever",
        ),
        ({"systems": [{"retriever": "bm25", "summarizer": "scripted"}]}, "expected budget_tokens beside a retriever"),
        ({"summarizers": {"written": {"kind": "shipped", "name": "nobody"}}}, "which ships those of ['agent', "),
        ({"compare_with": "nobody"}, "found no such system. Systems: notes, unknown"),
    ],
)
def test_wrong_configurations_are_refused_before_any_work(
    changes: dict[str, Any], expected: str, tmp_path: Path, bench: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, bench, **changes) == 2
    assert expected in capsys.readouterr().err
    assert not (tmp_path / "run" / "run.json").exists()


def test_two_systems_of_one_name_are_refused(tmp_path: Path, bench: str, capsys: pytest.CaptureFixture[str]) -> None:
    systems = [*CONFIG["systems"], {"retriever": "unknown", "budget_tokens": None, "summarizer": "agent"}]
    writers = {"written": {"kind": "shipped"}, "agent": {"kind": "offline"}}
    given = {"systems": systems, "summarizers": writers, "retrievers": {"unknown": {"kind": "full"}}}
    assert run(tmp_path, bench, **given) == 2
    assert "agent, unknown: the benchmark ships texts of this name" in capsys.readouterr().err


# ---------------------------------------------------------------- released summaries


@pytest.fixture(scope="module")
def news(released: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    url = str(tmp_path_factory.mktemp("news"))
    assert ingest(["summhay", str(released / "summhay" / "topic_news3.json.gz"), "--out", url]) == 0
    return url


def judged_as_gpt_4o(tmp_path: Path, bench: str) -> dict[tuple[str, str], dict[str, Any]]:
    assert run(tmp_path, bench, judges={"offline-gpt-4o": {"kind": "offline", "calibration": "gpt-4o"}}) == 0
    return {(cell["summarizer"], cell["setting"]): cell for cell in cells_of(results(tmp_path))}


@pytest.mark.slow
def test_released_summaries_have_the_same_scores_by_way_of_ingested_outputs(news: str, tmp_path: Path) -> None:
    rows = [row for batch in Benchmark(news).folder.batches("summaries") for row in batch.to_pylist()]
    fields = {"query_id": "query_id", "summarizer": "system", "setting": "setting", "text": "text"}
    lines = [json.dumps({name: row[column] for column, name in fields.items()}) for row in rows]
    (tmp_path / "answers.jsonl").write_text("\n".join(lines))
    bare = str(tmp_path / "bare")
    copy_benchmark(Folder(news), Folder(bare), BARE)
    assert ingest(["outputs", str(tmp_path / "answers.jsonl"), "--bench", bare]) == 0
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    shipped, ingested = judged_as_gpt_4o(tmp_path / "a", news), judged_as_gpt_4o(tmp_path / "b", bare)

    assert len(shipped) == 78
    assert shipped.keys() == ingested.keys()
    for key, cell in shipped.items():
        for measure in ("coverage", "citation", "joint", "precision", "recall", "n_summaries"):
            assert cell[measure] == ingested[key][measure], (key, measure)
