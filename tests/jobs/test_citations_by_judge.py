"""Citations by the stored verdicts of a support judge, through the main job: what drives them, and what is asked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from actors.ledger.ledger import Ledger
from actors.storage.folder import Folder
from jobs.evaluate import main
from jobs.results.write import read_results
from longform.repair.twins import METHOD, twin_label
from longform.results.cells import table_rows
from longform.text.citations import bullets
from tests.made.demo import one_haystack
from tests.results import cells_of, checked_of


def chat(script: str) -> dict[str, object]:
    return {"provider": "scripted", "model": "scripted", "script": script}


CONFIG: dict[str, Any] = {
    "name": "cited",
    "seed": 1,
    "retrievers": {"oracle": {"kind": "oracle"}},
    "summarizers": {"scripted": {"kind": "chat", "chat": chat("obedient")}},
    "judges": {"marks": {"kind": "chat", "chat": chat("obedient")}},
    "support_judges": {"letter": {"kind": "chat", "chat": chat("profile-flat"), "probability": True}},
    "systems": [{"retriever": "oracle", "budget_tokens": 1500, "summarizer": "scripted"}],
    "faithfulness": {"mode": "document"},
    "resamples": 100,
}
THRESHOLD = 0.5  # of a chat model's yes and no


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("cited")
    (folder / "c.yaml").write_text(json.dumps(CONFIG))
    paths = [str(folder / "c.yaml"), "--bench", one_haystack(), "--out", str(folder / "run")]
    return [*paths, "--limit", "3", "--workers", "0"]


def n_calls(url: str) -> int:
    ledger = Ledger.existing(f"{url}-ledger")
    try:
        return ledger.totals().calls
    finally:
        ledger.close()


def expected(verdicts: Mapping[int, float]) -> list[int]:
    """Return the documents of one bullet by the judge's verdict on each."""
    reached = sorted(number for number, value in verdicts.items() if value >= THRESHOLD)
    best = max(verdicts.values())
    return reached or [min(number for number, value in verdicts.items() if value == best)]


def test_stored_verdicts_drive_the_citations_and_nothing_is_asked_again(
    config: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = config[config.index("--out") + 1]
    monkeypatch.setenv("LONGFORM_LEDGER", f"{url}-ledger")
    assert main(config) == 0
    asked = n_calls(url)

    assert main([*config, "--citations", "letter"]) == 0

    run = Folder(url)
    results = read_results(run)
    assert n_calls(url) == asked > 0
    assert {stage["name"] for stage in results["run"]["last_call"]["stages"] if stage["rows"]} <= {
        "repair", "split twins", "copy verdicts", "score",
    }  # fmt: skip
    assert_cited_by_verdicts(run)
    assert_side_by_side(results)
    assert "Driven by support judge letter" in run.read_bytes("report/report.md").decode()


def assert_cited_by_verdicts(run: Folder) -> None:
    numbers = {
        doc_id: number
        for context in run.read("contexts").to_pylist()
        for doc_id, number in zip(context["doc_ids"], context["doc_numbers"], strict=True)
    }
    said: dict[tuple[str, int], dict[int, float]] = {}
    for row in run.read("verdicts").to_pylist():
        if row["judge"] == "letter":
            said.setdefault((row["summary_id"], row["unit_index"]), {})[numbers[row["target_id"]]] = row["probability"]
    twins = [row for row in run.read("summaries").to_pylist() if row["method"] == METHOD]
    cited = {
        (row["parents"][0], index): bullet.citations
        for row in twins
        for index, bullet in enumerate(bullets(row["text"]))
    }

    assert len(twins) == 3
    assert cited == {key: expected(verdicts) for key, verdicts in said.items()}
    assert len({tuple(numbers) for numbers in cited.values()}) > 1


def assert_side_by_side(results: Mapping[str, Any]) -> None:
    """Coverage, citation and faithfulness of one system, before and after."""
    cells = {cell["summarizer"]: cell for cell in cells_of(results)}
    twin = cells[f"scripted, {twin_label('letter')}"]
    (checked,) = checked_of(results)
    rows = {row["measure"]: row for row in table_rows(results, "repair")}
    bullets = {row["how"]: row["n_bullets"] for row in table_rows(results, "repair_citations")}

    assert twin["coverage"] == cells["scripted"]["coverage"] is not None
    assert (rows["citation"]["before"], rows["citation"]["after"]) == pytest.approx(
        (cells["scripted"]["citation"], twin["citation"])
    )
    assert rows["citation"]["faithfulness"] == checked["faithfulness"]
    assert rows["citation"]["faithfulness"]["value"] is not None
    assert {row["cited_by"] for row in rows.values()} == {"letter"}
    assert bullets["unjudged"] == 0 < sum(bullets.values())


def test_unknown_name_lists_what_is_possible(config: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*config, "--citations", "letters"]) == 2

    told = capsys.readouterr().err
    assert "citations names 'letters'" in told
    assert "['letter', 'matrix', 'written']" in told


@pytest.mark.parametrize("change", ["faithfulness.mode=full", "units=sentences"])
def test_citations_by_a_judge_need_a_verdict_on_each_bullet_and_document(
    config: list[str], change: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*config, "--citations", "letter", "--set", change]) == 2

    assert "expected units statements or bullets and faithfulness.mode document" in capsys.readouterr().err
