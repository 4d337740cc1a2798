"""`longform synthesize-models` on long documents with queries: chapters, queries, gold, and what is told of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.synthesize_models import main
from longform.records import Qrel
from longform.report.provenance import audit_sections

SOURCES: list[dict[str, Any]] = [
    {
        "id": "whale",
        "text": "<p>Ann sails.</p><hr class='chap'><p>The captain hides the golden compass under a stair.</p>",
        "queries": [
            {"query_id": "w1", "query": "What does the captain hide?", "answers": ["The golden compass."]},
            {"query_id": "w2", "query": "Describe the ship.", "answers": ["Small.", "A small ship."]},
        ],
    },
    {
        "id": "mill",
        "text": "<p>Bo grinds corn.</p><hr class='chap'><hr class='chap'>",
        "queries": [{"query_id": "m1", "query": "What does Bo hide?", "answers": ["He hides corn."]}],
    },
]
CLUSTERED = ["html=true", "cut={tags: [hr.chap]}", "cluster.threshold=0.9"]
WRITER = 'writer={{provider: scripted, script: synthesis, model: "scripted-writer:{}", max_tokens: 300}}'
VERIFIER = "verifier={provider: scripted, script: synthesis, model: scripted-verifier, max_tokens: 300}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sources.jsonl").write_text("\n".join(map(json.dumps, SOURCES)))
    return tmp_path


def command(folder: Path, preset: str, *changes: str, out: str = "bench", options: Sequence[str] = ()) -> list[str]:
    sets = [part for change in (f"sources={folder}", *changes) for part in ("--set", change)]
    ledger = ["--ledger", str(folder / "ledger")]
    return [preset, "--out", str(folder / out), *sets, *ledger, "--workers", "0", *options]


def account(folder: Path, out: str = "bench") -> dict[str, Any]:
    (found,) = Folder(str(folder / out)).read_json("synthesis.json")["haystacks"]
    return dict(found)


def embed(_: str, texts: Sequence[str]) -> NDArray[np.float32]:
    """Two kinds of queries: those that hide, and others."""
    return np.array([[1, 0] if "hide" in text else [0, 1] for text in texts], dtype=np.float32)


# ---------------------------------------------------------------- stories


def test_chapters_are_documents_and_all_of_a_source_are_gold_of_both_variants(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command(folder, "multi_source_stories")) == 0
    made = Benchmark(str(folder / "bench"))
    (rewritten,) = [query for query in made.queries.values() if query.query_id == "w1"]

    assert [document.doc_id for document in made.documents("stories")] == ["whale:001", "whale:002", "mill:001"]
    assert {query.query_id: query.dataset for query in made.queries.values()} == {
        **dict.fromkeys(("w1", "w2", "m1"), "stories"),
        **dict.fromkeys(("w1:original", "w2:original", "m1:original"), "stories:original"),
    }
    assert rewritten.text.startswith("What does the captain hide in a text about ")
    assert made.queries["w1:original"].text == "What does the captain hide?"
    for query_id in ("w1", "w1:original"):
        gold = [qrel for qrel in made.qrels if qrel.query_id == query_id]
        assert gold == [Qrel(query_id, None, "whale:001", 1), Qrel(query_id, None, "whale:002", 1)]
    assert [target.text for target in made.targets["w2"]] == ["Small.", "A small ship."]
    assert (account(folder)["empty_chapters"], account(folder)["single_document_sources"]) == (2, 1)
    assert "rewrite verified" in capsys.readouterr().out


def test_a_query_that_no_try_got_right_is_left_out_told_and_ends_with_3(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command(folder, "multi_source_stories", WRITER.format("omissions=1"))) == 3
    made = Benchmark(str(folder / "bench"))
    attempts = Folder(str(folder / "bench")).read("attempts").to_pylist()
    said = capsys.readouterr().out

    assert {query.dataset for query in made.queries.values()} == {"stories:original"}
    assert [row["rewritten"] for row in account(folder)["rewritten"]] == [None] * 3
    assert sum(row["verdict"] == "exhausted" for row in attempts) == 3
    assert len({row["number"] for row in attempts if row["check"] == "rewrite keeps the query"}) == 4  # tries
    assert "given up: 3" in said
    assert "the question's words are gone: captain, hide" in said


def test_originals_need_no_model_and_another_cut_is_another_benchmark(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = ["rewrite=null", "writer=null", "verifier=null"]
    assert main(command(folder, "multi_source_stories", *plain)) == 0
    assert {query.text for query in Benchmark(str(folder / "bench")).queries.values()} == {
        query["query"] for source in SOURCES for query in source["queries"]
    }
    assert main(command(folder, "multi_source_stories", *plain, options=["--plan"])) == 0
    assert "no model is called" in capsys.readouterr().out
    assert main(command(folder, "multi_source_stories", *plain, "cut=null")) == 2
    assert "with other contents or settings" in capsys.readouterr().err


def test_again_nothing_is_asked_and_caps_of_clients_are_no_part_of_the_key(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command(folder, "multi_source_stories")) == 0
    before = (folder / "bench" / "benchmark.json").read_bytes()
    assert main(command(folder, "multi_source_stories", "writer.concurrency=2")) == 0
    assert (folder / "bench" / "benchmark.json").read_bytes() == before
    assert "of 3" not in capsys.readouterr().err


@pytest.mark.parametrize(("faults", "bound"), [("seed=1", "lowest"), ("refusals=1", "highest")])
def test_the_plan_bounds_the_calls(faults: str, bound: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changes = (WRITER.format(faults),)
    assert main(command(folder, "multi_source_stories", *changes, options=["--plan", "--json"])) == 0
    planned = json.loads(capsys.readouterr().out)
    assert main(command(folder, "multi_source_stories", *changes)) in (0, 3)
    n_written = sum(
        row["check"] == "rewrite read" for row in Folder(str(folder / "bench")).read("attempts").to_pylist()
    )

    (writer,) = [row for row in planned["steps"] if row["role"] == "writer"]
    assert n_written == writer[bound]


# ---------------------------------------------------------------- meetings


def test_likes_become_one_query_whose_gold_is_the_union(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("actors.synthesis.models.embed", embed)
    assert main(command(folder, "multi_source_meetings", *CLUSTERED, "cluster.least=1")) == 0
    made = Benchmark(str(folder / "bench"))
    first = made.queries["meetings:001"]

    assert first.text == "Answer these together: (1) What does the captain hide? (2) What does Bo hide?"
    assert {qrel.doc_id for qrel in made.qrels if qrel.query_id == first.query_id} == {
        "whale:001",
        "whale:002",
        "mill:001",
    }
    assert [target.text for target in made.targets[first.query_id]] == ["The golden compass.\n\nHe hides corn."]
    clusters = account(folder)["clusters"]
    assert clusters["members"] == [["w1", "m1"], ["w2"]]
    assert (clusters["sizes"], clusters["of_one_source"], clusters["unplaced"]) == ({"1": 1, "2": 1}, 1, [])


def test_a_query_without_room_is_told_and_what_a_writer_merges_badly_a_rule_merges(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.synthesis.models.embed", embed)
    models = [WRITER.format("vague=1"), VERIFIER, "cluster.merge=writer", "cluster.most=2"]
    assert main(command(folder, "multi_source_meetings", *CLUSTERED, *models)) == 3
    said = capsys.readouterr().out
    clusters = account(folder)["clusters"]

    assert (clusters["unplaced"], clusters["texts_by_rules"]) == (["w2"], 1)
    assert "queries without room: 1" in said
    assert "no cluster that is alike has room for it" in said


# ---------------------------------------------------------------- used, and refused


def test_a_report_tells_of_its_checks_though_nothing_is_audited(folder: Path) -> None:
    assert main(command(folder, "multi_source_stories", WRITER.format("omissions=1"))) == 3
    results: Any = {"synthesis": Folder(str(folder / "bench")).read_json("synthesis.json")}
    (section,) = audit_sections(results)
    made, checks, given_up = section.tables

    assert "no judge has looked at them" in section.paragraphs[0]
    assert [row["queries_of_sources"].text for row in made.rows] == ["3"]
    names = ["rewrite read", "rewrite is one request", "rewrite keeps the query"]
    assert [row["check"].text for row in checks.rows] == names
    assert [row["subject"].text for row in given_up.rows] == ["w1", "w2", "m1"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param(["sources=nowhere"], "nowhere/sources.jsonl", id="no-file"),
        pytest.param(["rewrite.leak_words=0"], "rewrite.leak_words", id="setting"),
        pytest.param(["cut.tags=[hr]", "html=false"], "expected html: true", id="html"),
        pytest.param(["cut={lines: ['.*']}"], "text outside its marks", id="all-marks"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_is_written(
    changes: list[str], message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command(folder, "multi_source_stories", *changes)) == 2
    assert message in capsys.readouterr().err
    assert not (folder / "bench").exists()


def test_a_kind_that_is_none_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "novel.yaml").write_text("kind: novel")
    assert main([str(folder / "novel.yaml"), "--out", str(folder / "bench")]) == 2
    assert "expected kind written or multi_source or key_points, found 'novel'" in capsys.readouterr().err
