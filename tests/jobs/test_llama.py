"""A real small model behind llama.cpp's own server answers the presets, end to end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from actors.ledger.ledger import Ledger
from actors.storage.folder import Folder
from jobs.evaluate import main
from jobs.ingest import main as ingest
from jobs.ledger import main as ledger
from jobs.results.write import read_results
from tests.results import checked_of
from tests.soak import ONLY_IN_SOAK

DOCUMENTS = [
    "The council voted to rebuild the Alder Street bridge. The works will cost 3.4 million euros.",
    "The library opens on Sundays from May. Volunteers are welcome at the front desk.",
    "The harbour will be dredged in autumn. Fishing boats must leave by the first of September.",
]
ORDERS = ("full", "full/top", "full/middle", "full/bottom")
STEPS = {
    "plain": 0, "focus-top": 0, "focus-middle": 0, "focus-bottom": 0, "hierarchical-pairwise": 3 + 1,
    "hierarchical-once": 3, "incremental": 2, "calibration-rotations": 3,
}  # fmt: skip
"""Method -> the summaries on its way to the last one."""


@pytest.mark.slow
@ONLY_IN_SOAK
def test_a_local_model_writes_by_every_method(
    llama_server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every method of the preset has a row with a score or the reason why there is none, and the report shows it."""
    example = {"document": DOCUMENTS, "summary": DOCUMENTS[0], "ranking": [1, 0, 2]}
    (tmp_path / "town.jsonl").write_text(json.dumps(example))
    bench, run = str(tmp_path / "bench"), Folder(str(tmp_path / "runs" / "methods"))
    assert ingest(["longformfact", str(tmp_path / "town.jsonl"), "--out", bench]) == 0
    model = f"model: smollm2, base_url: '{llama_server}', context_window: 8192, prefix_cache: slot, concurrency: 1"
    changes = [f"model={{{model}, max_tokens: 100, temperature: 0.0, timeout_s: 600}}", "unjudged_threshold=1.0"]
    arguments = [part for change in [*changes, "bullets=2"] for part in ("--set", change)]
    assert main(["positional_bias", "--bench", bench, "--out", run.url, "--limit", "1", *arguments]) == 0

    written: dict[str, list[str | None]] = {}
    for row in run.read("summaries").to_pylist():
        assert (row["text"] is None) == (row["failure"] is not None)
        written.setdefault(row["method"], []).append(row["step"])
    orders = len(ORDERS) - 1
    assert {method: len(steps) - 1 for method, steps in written.items()} == STEPS | {"plain": orders}
    cells = {row["setting"]: row for row in checked_of(read_results(run))}
    assert set(cells) == {*ORDERS, *(f"full/{method}" for method in STEPS if method != "plain")}
    assert all(row["faithfulness"]["value"] is not None or row.get("failures") for row in cells.values())
    assert any(row["faithfulness"]["value"] is not None for row in cells.values())
    page = run.read_bytes("report/faithfulness.html").decode()
    assert all(setting in page for setting in cells)


@pytest.mark.slow
def test_a_local_model_answers_the_preset(
    released: Path, llama_server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its texts are worth nothing, and some are cut: rows are answers or reasons, and each call is recorded."""
    bench, run = str(tmp_path / "bench"), tmp_path / "runs" / "small"
    assert ingest(["summhay", str(released / "summhay" / "topic_news3.json.gz"), "--out", bench]) == 0
    model = f"model: smollm2, base_url: '{llama_server}', context_window: 8192, prefix_cache: slot, concurrency: 1"
    changes = [
        "budget=600",
        "retrievers=[bm25]",
        f"model={{{model}, max_tokens: 60, temperature: 0.0, timeout_s: 600}}",
        f"judge={{{model}, max_tokens: 20, temperature: 0.0, timeout_s: 600, json_schema: true}}",
        "unjudged_threshold=1.0",
    ]
    arguments = [part for change in changes for part in ("--set", change)]
    arguments += ["--bench", bench, "--out", str(run), "--workers", "0"]
    assert main(["summhay", "--limit", "1", *arguments]) == 0

    summaries = Folder(str(run)).read("summaries").to_pylist()
    assert len(summaries) == 1
    assert all((row["text"] is None) == (row["failure"] is not None) for row in summaries)
    assert {row["model"] for row in summaries} != {None}
    totals = Ledger.existing(str(tmp_path / "runs" / "ledger")).totals()
    assert totals.open == 0
    assert totals.calls >= len(summaries)
    assert totals.input_tokens is not None
    capsys.readouterr()
    assert ledger([str(tmp_path / "runs" / "ledger"), "--by", "stage"]) == 0
    assert "summarize chat" in capsys.readouterr().out
