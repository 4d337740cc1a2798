"""A run that is written as SummHay's files, read again and replayed has the scores that it had."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from actors.storage.folder import Folder
from jobs.evaluate import main as evaluate
from jobs.evaluations.replay import ReplaySettings, replay
from jobs.evaluations.stored import export
from jobs.export import main
from jobs.ingest import ingest
from jobs.results.write import read_results
from jobs.stages.cluster import Cluster
from longform.errors import UsageError
from tests.results import cells_of

SCRIPTED = "{provider: scripted, model: m, script: obedient}"
SAME = ("coverage", "citation", "joint", "precision", "recall", "n_insights", "n_covered", "n_unjudged")
ORDERS = {"top": "fl-ctxt-sort", "middle": "fl-ctxt-middle", "bottom": "fl-ctxt-rev-sort"}
RENAMED = {"Full": "full"} | {f"Full/{order}": key for order, key in ORDERS.items()}


@pytest.fixture(scope="module")
def bench(released: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    url = str(tmp_path_factory.mktemp("bench"))
    ingest("summhay", [str(released / "summhay" / "topic_news5.json.gz")], url)
    return url


def run(bench: str, out: Path, preset: str, *changes: str) -> str:
    given = [f"model={SCRIPTED}", f"judge={SCRIPTED}", "resamples=100", *changes]
    words = [word for change in given for word in ("--set", change)]
    options = ["--limit", "1", "--workers", "0", "--ledger", str(out.parent / "ledger")]
    assert evaluate([preset, "--bench", bench, "--out", str(out), *options, *words]) == 0
    return str(out)


def again(url: str, tmp_path: Path, **settings: Any) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the cells of the replay of what was exported, by setting and summarizer."""
    ingest("summhay", [url], str(tmp_path / "bench"))
    results = replay(
        str(tmp_path / "bench"),
        str(tmp_path / "again"),
        ReplaySettings(resamples=100, **settings),
        cluster=Cluster(address=None, workers=0),
    )
    return {(cell["setting"], cell["summarizer"]): cell for cell in cells_of(results)}


def cells_by(run_url: str, judge: str) -> list[dict[str, Any]]:
    cells = cells_of(read_results(Folder(run_url)))
    return [cell for cell in cells if cell["judge"] == judge and not cell.get("twin_of")]


def test_retrievers_and_orders_come_back_to_the_last_digit(bench: str, tmp_path: Path) -> None:
    positions = "systems.0={retriever: Full, budget_tokens: null, order: [given, top, bottom], summarizer: chat}"
    made = run(bench, tmp_path / "run", "summhay_paper", positions, "systems.1.retriever=[Rand, Vect, Orac]")

    told = export(made, str(tmp_path / "files"), form="summhay", judge=None)
    found = again(str(tmp_path / "files"), tmp_path)

    before = cells_by(made, "chat")
    assert (told["summaries"], told["judge"], told["left_out"]) == (6, "chat", {})
    assert len(found) == len(before) == 6
    for cell in before:
        after = found[RENAMED.get(cell["setting"], cell["setting"]), cell["summarizer"]]
        assert {name: after.get(name) for name in SAME} == {name: cell.get(name) for name in SAME}
        assert after["judge"] == "chat"
    (file,) = (tmp_path / "files").glob("topic_*.json")
    content = json.loads(file.read_bytes())
    keys = {key for subtopic in content["subtopics"] for key in subtopic["summaries"]}
    assert {"summary_subtopic_chat", "summary_subtopic_fl-ctxt-sort_chat", "summary_subtopic_Rand_chat"} <= keys


def test_what_the_layout_cannot_express_is_told_and_one_judge_is_chosen(
    bench: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = run(
        bench,
        tmp_path / "run",
        "summhay_paper",
        "retrievers=[KWs]",
        "budget=2000",
        "partial_score=0.25",
        "judges.lexical={task: support, kind: offline}",
        "judges.other={kind: offline, calibration: gpt-4o}",
        "citations=matrix",
    )
    with pytest.raises(UsageError, match=r"judges of coverage chat, other; expected --judge with one of them"):
        export(made, str(tmp_path / "files"), form="summhay", judge=None)
    with pytest.raises(UsageError, match=r"found --judge lexical"):
        export(made, str(tmp_path / "files"), form="summhay", judge="lexical")
    capsys.readouterr()

    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "topic_old.json").write_text("{}")

    assert main([made, "--as", "summhay", "--out", str(tmp_path / "files"), "--judge", "other"]) == 0

    (tmp_path / "files" / "topic_old.json").unlink()

    said = capsys.readouterr().out
    assert "1 summaries with the labels of other" in said
    assert "1 summaries with repaired citations" in said
    assert "not of this run: topic_old.json" in said
    assert "verdicts of lexical" in said
    assert "verdicts of chat" in said
    assert "--set partial_score=0.25 in a replay" in said
    (cell,) = cells_by(made, "other")
    found = again(str(tmp_path / "files"), tmp_path, partial_score=0.25)
    assert found["KWs", "chat"]["joint"] == cell["joint"]
    assert found["KWs", "chat"]["coverage"] == cell["coverage"]
