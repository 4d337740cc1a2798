"""Shipped texts are found by query, summarizer and setting; what is not shipped fails, or is told before any work."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from actors.storage.folder import Folder
from jobs.evaluate import main
from jobs.ingest import main as ingest
from tests.results import cells_of


@pytest.fixture
def bench(tmp_path: Path) -> str:
    folder, url = tmp_path / "town", str(tmp_path / "bench")
    folder.mkdir()
    rows = {
        "documents": [{"id": "a", "text": "The bridge is closed."}, {"id": "b", "text": "Bread is dear."}],
        "queries": [
            {"query_id": "1", "query": "What of the bridge?", "gold_documents": ["a"], "answer": "It is closed."},
            {"query_id": "2", "query": "What of bread?", "gold_documents": [], "answer": "It is dear."},
        ],
        "outputs": [{"setting": "oracle", "model": "m", "query_id": "1", "summary": "It is closed."}],
    }
    for name, lines in rows.items():
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert ingest(["msrs", str(folder), "--out", url]) == 0
    return url


def arguments(tmp_path: Path, bench: str, name: str) -> list[str]:
    config = {
        "name": "town",
        "seed": 1,
        "retrievers": {"oracle": {"kind": "gold"}},
        "summarizers": {"shipped": {"kind": "released", "name": name}},
        "systems": [{"retriever": "oracle", "budget_tokens": None, "summarizer": "shipped"}],
        "measures": ["rouge_1"],
        "bullets": 3,
        "resamples": 100,
    }
    (tmp_path / "town.yaml").write_text(json.dumps(config))
    out = str(tmp_path / "run")
    return [str(tmp_path / "town.yaml"), "--bench", bench, "--out", out, "--workers", "0", "--no-vectors", "--json"]


def test_a_query_without_a_text_fails_and_its_gold_free_prompt_is_empty(
    tmp_path: Path, bench: str, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(arguments(tmp_path, bench, "m")) == 0
    results = json.loads(capsys.readouterr().out)
    (cell,) = cells_of(results)
    assert (cell["rouge_1"], cell["n_summaries"], cell["n_failed"]) == (100.0, 2, 1)
    rows = Folder(str(tmp_path / "run")).read("summaries", columns=["query_id", "failure"]).to_pylist()
    assert {row["query_id"]: row["failure"] for row in rows} == {"1": None, "2": "not_shipped"}


def test_a_summarizer_that_nobody_ships_is_told_before_any_work(
    tmp_path: Path, bench: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments(tmp_path, bench, "gpt-5")) == 2
    assert "expected summaries of 'gpt-5'" in (told := capsys.readouterr().err)
    assert "which ships those of ['m']" in told
    assert not (tmp_path / "run" / "run.json").exists()


def test_a_text_whose_order_is_stated_is_of_systems_with_this_order_alone(released: Path, tmp_path: Path) -> None:
    """SummHay ships summaries of four orders of all documents by some models, and of one by the others."""
    bench = str(tmp_path / "bench")
    assert ingest(["summhay", str(released / "summhay/topic_news3.json.gz"), "--out", bench]) == 0
    shipped = Folder(bench).read("summaries", columns=["query_id", "summarizer", "setting", "text"]).to_pylist()
    texts = {(row["query_id"], row["summarizer"], row["setting"]): row["text"] for row in shipped}
    summarizers = ["gpt-4o", "command-r"]
    run = tmp_path / "orders"
    changes = [
        f"summarizers={{{', '.join(f'{name}: {{kind: released, name: {name}}}' for name in summarizers)}}}",
        f"systems.0.summarizer=[{', '.join(summarizers)}]",
    ]
    settings = [part for change in changes for part in ("--set", change)]
    arguments = ["--bench", bench, "--out", str(run), "--until", "summarize", "--limit", "2", "--workers", "0"]
    assert main(["bias_summhay", *arguments, *settings]) in (0, 3)
    rows = Folder(str(run)).read("summaries").to_pylist()
    settings_of = {"given": "full", "top": "fl-ctxt-sort", "middle": "fl-ctxt-middle", "bottom": "fl-ctxt-rev-sort"}
    assert len(rows) == 2 * 2 * 4
    for row in rows:
        expected = texts.get((row["query_id"], row["summarizer"], settings_of[row["order"]]))
        assert row["text"] == expected
        assert row["failure"] == (None if expected else "not_shipped")
    assert {row["failure"] for row in rows if row["summarizer"] == "gpt-4o"} == {None}
    assert len({row["text"] for row in rows if row["summarizer"] == "gpt-4o"}) == 8
