"""A real small model behind llama.cpp's own server writes the summaries and judges them, end to end."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.ledger import Ledger
from actors.storage import Folder
from jobs.evaluate import main
from jobs.ingest import main as ingest
from jobs.ledger import main as ledger


@pytest.mark.slow
def test_a_local_model_answers_the_preset(
    released: Path, llama_server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What it says is worth nothing, and some of it is cut: rows are answers or reasons, and each call is recorded."""
    bench, run = str(tmp_path / "bench"), tmp_path / "runs" / "small"
    assert ingest(["summhay", str(released / "summhay" / "topic_news3.json.gz"), "--out", bench]) == 0
    model = f"model: smollm2, base_url: '{llama_server}', context_window: 8192, prefix_cache: slot, concurrency: 1"
    changes = [
        "budget=2000",
        "retrievers=[bm25, oracle]",
        f"model={{{model}, max_tokens: 200, temperature: 0.0, timeout_s: 600}}",
        f"judge={{{model}, max_tokens: 40, temperature: 0.0, timeout_s: 600, json_schema: true}}",
        "unjudged_threshold=1.0",
    ]
    arguments = [part for change in changes for part in ("--set", change)]
    arguments += ["--bench", bench, "--out", str(run), "--workers", "1"]
    assert main(["summhay", "--limit", "1", *arguments]) == 0

    summaries = Folder(str(run)).read("summaries").to_pylist()
    assert len(summaries) == 2
    assert all((row["text"] is None) == (row["failure"] is not None) for row in summaries)
    assert {row["model"] for row in summaries} != {None}
    totals = Ledger.existing(str(tmp_path / "runs" / "ledger")).totals()
    assert totals.open == 0
    assert totals.calls >= len(summaries)
    assert totals.input_tokens is not None
    capsys.readouterr()
    assert ledger([str(tmp_path / "runs" / "ledger"), "--by", "stage"]) == 0
    assert "summarize chat" in capsys.readouterr().out
