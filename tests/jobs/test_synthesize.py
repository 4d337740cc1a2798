"""`longform synthesize`: the command, its configuration, and what it leaves behind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from actors.storage.benchmark import Benchmark
from jobs.stages.cluster import Cluster
from jobs.synthesis.haystacks import read_config, synthesize, wants_workers
from jobs.synthesize import main
from longform.errors import UsageError
from longform.records import gold_documents


def test_the_demo_has_a_haystack_of_each_kind(tmp_path: Path) -> None:
    manifest = synthesize(read_config("demo"), str(tmp_path / "bench"))
    bench = Benchmark(str(tmp_path / "bench"))

    assert manifest["rows"] == {
        "documents": 80,
        "queries": 12,
        "targets": 60,
        "qrels": 320,
        "rankings": 0,
        "summaries": 0,
        "labels": 0,
        "released_scores": 0,
    }
    assert {query.domain for query in bench.queries.values()} == {"conversation", "news"}
    assert {len(bench.documents(haystack_id)) for haystack_id in bench.haystack_ids} == {40}
    gold = gold_documents(bench.qrels)
    assert min(len(documents) for documents in gold.values()) >= read_config("demo").least_documents == 5
    assert len(gold) == 60


def test_further_haystacks_of_a_topic_are_other_haystacks(tmp_path: Path) -> None:
    synthesize(read_config("demo", ["haystacks=5"]), str(tmp_path))
    bench = Benchmark(str(tmp_path))
    texts = [document.text for haystack_id in bench.haystack_ids for document in bench.documents(haystack_id)]

    assert [haystack_id.rsplit("-", 1)[0] for haystack_id in bench.haystack_ids] == [
        "orchard-0",
        "railway-0",
        "orchard-1",
        "railway-1",
        "orchard-2",
    ]
    assert len(set(texts)) == len(texts) == 200


def test_two_runs_give_the_same_dataset_and_another_seed_another(tmp_path: Path) -> None:
    hashes = [
        synthesize(read_config("demo", changes), str(tmp_path / name))["dataset_hash"]
        for name, changes in [("one", []), ("two", []), ("three", ["seed=1"])]
    ]

    assert hashes[0] == hashes[1] != hashes[2]


def test_the_same_configuration_again_changes_nothing_and_another_is_refused(tmp_path: Path) -> None:
    first = synthesize(read_config("demo"), str(tmp_path))

    assert synthesize(read_config("demo"), str(tmp_path)) == first
    with pytest.raises(UsageError, match="with other contents or settings, or by another version, stands here"):
        synthesize(read_config("demo", ["seed=1"]), str(tmp_path))
    with pytest.raises(UsageError, match=r"made from \['topic orchard', 'topic railway'\] stands here"):
        synthesize(read_config("demo", ["topics=[railway]"]), str(tmp_path))


def test_sizes_that_do_not_fit_leave_nothing_behind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["demo", "--out", str(tmp_path / "bench"), "--set", "documents=20", "--workers", "1"])

    assert code == 2
    assert "ask for 38 documents" in capsys.readouterr().err
    assert not list(tmp_path.rglob("*.parquet"))
    assert not list(tmp_path.rglob("benchmark.json"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(
            "documents=[40, 20]", "topic 'orchard': 20 documents x 4 insights = 80 statements", id="of-a-sweep"
        ),
        pytest.param("subtopics=11", "subtopics: topic 'orchard' has 10, got 11", id="subtopics"),
        pytest.param("insights=9", "insights: topic 'orchard' has 6 a subtopic at most, got 9", id="insights"),
        pytest.param(
            "most_share=0.1",
            "40 documents x most_share 0.1 = 4 documents that may state an insight, but least_documents is 5; "
            "ask for 50 documents",
            id="share",
        ),
        pytest.param("insights_per_document=31", "31 insights a document, of 30 insights", id="more-than-there-are"),
    ],
)
def test_sizes_that_do_not_fit_are_refused_before_anything_starts(change: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_config("demo", [change]).check_sizes()


@pytest.mark.parametrize("preset", ["demo", "full", "prose", "samples"])
def test_sizes_of_the_presets_fit(preset: str) -> None:
    read_config(preset).check_sizes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param("docments=50", "docments: no such key; did you mean 'documents'", id="misspelt"),
        pytest.param("topics=[moon]", "expected topics of", id="unknown-topic"),
        pytest.param("topics=[orchard, orchard]", "each topic once", id="topic-twice"),
        pytest.param("haystacks=0", "haystacks: Input should be greater than 0", id="none"),
    ],
)
def test_a_wrong_configuration_is_refused(change: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_config("demo", [change])


@pytest.mark.parametrize(
    ("preset", "changes", "workers", "wanted"),
    [
        pytest.param("demo", [], 2, False, id="written-before-ray-starts"),
        pytest.param("full", ["haystacks=20"], 2, False, id="half-of-thirteen-seconds"),
        pytest.param("full", ["haystacks=20"], 8, True, id="most-of-thirteen-seconds"),
        pytest.param("full", ["haystacks=100"], 2, True, id="many"),
        pytest.param("full", ["haystacks=100"], 1, False, id="one-worker"),
        pytest.param("prose", ["haystacks=2"], 2, True, id="a-model-is-slow"),
        pytest.param("prose", [], 2, False, id="one-haystack"),
    ],
)
def test_workers_write_where_they_are_done_sooner(
    preset: str, changes: list[str], workers: int, wanted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    assert wants_workers(read_config(preset, changes), Cluster(address=None, workers=workers)) is wanted


def test_a_cluster_that_is_named_is_used() -> None:
    assert wants_workers(read_config("demo"), Cluster(address="ray://head:10001", workers=2))


def test_json_is_one_document_on_standard_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--out", str(tmp_path), "--json", "--workers", "1"]) == 0

    document = json.loads(capsys.readouterr().out)
    assert document["n_haystacks"] == 2
    assert document["benchmark"] == str(tmp_path)
