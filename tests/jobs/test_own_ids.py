"""Ids are a user's own text: whatever stands in them comes back whole, from the files to the report."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from actors.storage.folder import Folder
from jobs.evaluate import main as evaluate
from jobs.ingest import main as ingest
from jobs.results.documents import kept_unfolded
from longform.repair.twins import METHOD
from longform.text.citations import bullets

DOCUMENTS = ["https://town.example/dam#june", "https://town.example/dam#july#2", "# 50 % ü/日本 +|:", "#", "a&b <i>\"'"]
QUERY, INSIGHT, HAYSTACK = "https://q.example/?a=1#who asks+now", "http://i.example/%23#1", "corpus #1/2#0"
TEXTS = [
    "The dam was closed on 3 May. Two crews stayed for repairs of the dam.",
    "After the dam was closed in May, the farmers of the valley asked for water in August.",
    "Farmers met twice in summer and asked for more water. The repairs of the dam went on.",
    "The mayor opened the market. The farmers asked for water there, too.",
    "The repairs of the dam ended in autumn. The farmers had water again. " + "Nobody met any more. " * 60,
]
CONFIG: dict[str, Any] = {
    "name": "own ids",
    "seed": 1,
    "retrievers": {"with+plus": {"kind": "full"}},
    "summarizers": {"scripted": {"kind": "chat", "chat": {"provider": "scripted", "model": "m", "script": "obedient"}}},
    "judges": {"marks": {"kind": "chat", "chat": {"provider": "scripted", "model": "m", "script": "obedient"}}},
    "support_judges": {"words": {"kind": "offline"}},
    "systems": [{"retriever": "with+plus", "budget_tokens": 300, "summarizer": "scripted"}],  # the last one is cut
    "resamples": 100,
}


def write_lines(file: Path, rows: Sequence[dict[str, Any]]) -> None:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def own_bench(tmp_path: Path) -> str:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    texts = zip(DOCUMENTS, TEXTS, strict=True)
    write_lines(corpus / "documents.jsonl", [{"doc_id": i, "text": text, "haystack": HAYSTACK} for i, text in texts])
    write_lines(corpus / "queries.jsonl", [{"query_id": QUERY, "text": "Who asked for water?", "haystack": HAYSTACK}])
    gold = {"insight_id": INSIGHT, "query_id": QUERY, "text": "Farmers asked for water.", "doc_ids": DOCUMENTS[1:4]}
    write_lines(corpus / "insights.jsonl", [gold])
    assert ingest(["jsonl", str(corpus), "--out", str(tmp_path / "bench")]) == 0
    return str(tmp_path / "bench")


def test_ids_with_any_characters_stay_whole_in_verdicts_citations_and_report(own_bench: str, tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(json.dumps(CONFIG))
    command = [str(tmp_path / "c.yaml"), "--bench", own_bench, "--out", str(tmp_path / "run")]
    command += ["--ledger", str(tmp_path / "ledger"), "--workers", "0"]
    assert evaluate(command) == 0
    assert evaluate([*command, "--citations", "words"]) == 0

    run = Folder(str(tmp_path / "run"))
    (context,) = run.read("contexts").to_pylist()
    assert context["doc_chars"][-1] < len(TEXTS[-1])
    verdicts = run.read("verdicts").to_pylist()
    assert {row["target_id"] for row in verdicts if row["target_kind"] == "document"} == set(DOCUMENTS)
    assert {row["target_id"] for row in verdicts if row["target_kind"] == "insight"} == {INSIGHT}
    (twin,) = [row for row in run.read("summaries").to_pylist() if row["method"] == METHOD]
    assert twin["query_id"] == QUERY
    assert any(bullet.citations for bullet in bullets(twin["text"]))
    unfolded = list(kept_unfolded(run))
    assert {summary["query_id"] for summary, _ in unfolded} == {QUERY}
    assert all([target["target_id"] for target in query["targets"]] == [INSIGHT] for _, query in unfolded)
    assert html.escape(INSIGHT) in run.read_bytes("report/summaries-0001.html").decode()
