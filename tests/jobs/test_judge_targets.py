"""Judges of key points and of references, from a benchmark of one's own to verdicts, their means and a card."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.calibrate import main as calibrate
from jobs.evaluate import main as evaluate
from jobs.ingest import ingest
from jobs.stages.judge import SummaryToJudge, judged_summary
from longform.judges.kinds.errors import ERRORS
from longform.judges.kinds.reference import REFERENCE

CHAT = {"provider": "scripted", "model": "scripted", "script": "obedient", "max_tokens": 100}
FILES = {
    "documents": [
        {"haystack": "dam", "doc_id": "a", "text": "The dam was closed in May. Farmers asked for water."},
        {"haystack": "dam", "doc_id": "b", "text": "The dam was closed in May. Repairs went on all summer."},
        {"haystack": "dam", "doc_id": "c", "text": "Farmers asked for water. The dam was closed in May."},
    ],
    "queries": [{"query_id": "q", "haystack": "dam", "text": "What happened at the dam?"}],
    "insights": [
        {"insight_id": "k1", "query_id": "q", "kind": "key_point", "text": "The dam was closed in May."},
        {"insight_id": "k2", "query_id": "q", "kind": "key_point", "text": "Swans nest by the harbour."},
        {"insight_id": "r", "query_id": "q", "kind": "reference", "text": "The dam was closed in May for repairs."},
    ],
}
JUDGES: dict[str, Any] = {
    "words": {"task": "key_point", "kind": "offline"},
    "asked": {"task": "key_point", "kind": "chat", "chat": CHAT},
    "both": {"task": "key_point", "kind": "mean", "of": ["words", "asked"]},
    "rated": {"task": "reference", "kind": "chat", "chat": CHAT},
    "errors": {"task": "errors", "kind": "chat", "chat": CHAT},
    "missed": {"task": "misses", "kind": "chat", "chat": CHAT},
}


CONTENT = {
    "name": "targets",
    "seed": 1,
    "retrievers": {"full": {"kind": "full"}},
    "summarizers": {"offline": {"kind": "offline"}},
    "judges": JUDGES,
    "systems": [{"retriever": "full", "budget_tokens": None, "summarizer": "offline"}],
    "resamples": 100,
}


@pytest.fixture
def bench(tmp_path: Path) -> str:
    (tmp_path / "files").mkdir()
    for name, rows in FILES.items():
        (tmp_path / "files" / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    ingest("jsonl", [str(tmp_path / "files")], str(tmp_path / "bench"))
    return str(tmp_path / "bench")


def test_key_points_and_references_are_judged(bench: str, tmp_path: Path) -> None:
    (tmp_path / "targets.yaml").write_text(json.dumps(CONTENT))
    call = [str(tmp_path / "targets.yaml"), "--bench", bench, "--out", str(tmp_path / "run"), "--workers", "0"]

    assert evaluate(call) == 0
    rows = Folder(str(tmp_path / "run")).read("verdicts").to_pylist()
    found = {(row["judge"], row["target_id"]): row for row in rows}

    assert {(row["judge"], row["target_kind"]) for row in rows} == {
        *((name, "key_point") for name in ("words", "asked", "both")),
        ("rated", "reference"),
        ("errors", "reference"),
        ("missed", "key_point"),
    }
    for name, unsaid in (("words", "not_entailed"), ("asked", "neutral"), ("both", "not_entailed")):
        assert found[name, "k1"]["answer"] == "entailed"
        assert found[name, "k2"]["answer"] == unsaid
    halves = [found[name, "k1"]["probability"] for name in ("words", "asked")]
    assert found["both", "k1"]["probability"] == pytest.approx(sum(halves) / 2, abs=1e-6)
    assert found["rated", "r"]["answer"] in {"3", "4", "5"}
    assert 0.5 < found["rated", "r"]["probability"] < 1
    assert found["rated", "r"]["prompt_version"].startswith("judge_reference@")
    scores = {(row["judge"], row["measure"]): row for row in Folder(str(tmp_path / "run")).read("scores").to_pylist()}
    assert (scores["both", "key_point_recall"]["n"], scores["rated", "reference_rating"]["n"]) == (2, 1)
    assert found["errors", "r"]["answer"] in ERRORS.counts
    assert (scores["errors", "error_free"]["n"], scores["errors", "error_hallucination"]["n"]) == (1, 1)
    assert (found["missed", "k1"]["answer"], found["missed", "k2"]["answer"]) == ("said", "missing")
    assert [scores["missed", f"miss_{way}"]["value"] for way in ("incomplete", "missing")] == [0.0, 1.0]
    assert scores["asked", "KPR"]["value"] == 0.5
    assert scores["rated", "reference_rating"]["value"] == pytest.approx(found["rated", "r"]["probability"])


def test_a_judge_of_key_points_is_calibrated_as_one_of_insights(
    bench: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Folder(bench)
    texts = ["The dam was closed in May.", "Swans nest by the harbour.", "Nothing is known."]
    shared = {"query_id": "q", "haystack_id": "dam", "summarizer": "m", "setting": "s"}
    summaries = [shared | {"summary_id": f"s{n}", "text": text} for n, text in enumerate(texts)]
    labels = [
        {
            "summary_id": f"s{n}", "target_kind": "key_point", "target_id": target, "mode": "full", "repeat": 0,
            "annotator": "human", "answer": "entailed" if said in text else "not_entailed",
        }
        for n, text in enumerate(texts)
        for target, said in (("k1", "dam"), ("k2", "Swans"))
    ]  # fmt: skip
    for table, rows in (("summaries", summaries), ("labels", labels)):
        folder.commit(table, [folder.write_part(table, rows, work_ids=["people"])])
    config = tmp_path / "judges.yaml"
    config.write_text(json.dumps(CONTENT))
    card = tmp_path / "card.json"

    assert calibrate([bench, "--judge", "words", "--config", str(config), "--out", str(card)]) == 0
    made = json.loads(card.read_text())
    assert (made["kind"], made["n"], made["n_unjudged"]) == ("key_point", 6, 0)
    assert made["judged_by"]["backend"] == "offline"
    assert made["kappa"]["value"] == 1.0
    assert "r 1.00" in capsys.readouterr().out or made["pearson"]["value"] > 0.9


def test_the_query_is_shown_to_kinds_that_show_it(bench: str) -> None:
    item: SummaryToJudge = {
        "work_id": "w", "summary_id": "s", "query_id": "q", "haystack_id": "dam", "failure": None,
    }  # fmt: skip
    shown = {
        kind.task: judged_summary(kind, item, ["It was closed."], Benchmark(bench)) for kind in (ERRORS, REFERENCE)
    }

    assert {task: judged.query for task, judged in shown.items()} == {
        "errors": "What happened at the dam?",
        "reference": "",
    }
