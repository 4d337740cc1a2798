"""`longform synthesize full`: the preset, sweeps, what stands beside the tables, and the samples in docs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.ingest import main as ingest
from jobs.synthesis.audits import read_facts, write_audit
from jobs.synthesis.haystacks import make_benchmark, read_config, synthesize
from jobs.synthesize import main
from longform.errors import UsageError
from longform.records import Document
from tests.places import ROOT

SAMPLES = ROOT / "docs" / "samples"
SMALL = ["documents=60", "words=200", "insights_per_document=5", "distractors=0", "most_share=0.5"]
ONE = [*SMALL, "haystacks=1"]


def contents(bench: Benchmark) -> list[Any]:
    documents = [d for haystack_id in bench.haystack_ids for d in bench.documents(haystack_id)]
    targets = [t for found in bench.targets.values() for t in found]
    queries = [query._replace(dataset=None) for query in bench.queries.values()]  # only what is read from files has one
    return [documents, queries, targets, sorted(map(tuple, bench.qrels))]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    url = str(tmp_path_factory.mktemp("full") / "bench")
    make_benchmark(read_config("full", SMALL), url)
    return Benchmark(url)


def test_the_preset_is_summhays_size() -> None:
    planned = list(read_config("full").planned())

    assert {(one.size.documents, one.size.words) for one in planned} == {(100, 750)}
    assert {one.topic for one in planned} == {"orchard", "railway"}


def test_it_has_a_haystack_of_each_kind_and_ten_subtopics(made: Benchmark) -> None:
    assert {query.domain for query in made.queries.values()} == {"conversation", "news"}
    assert len(made.queries) == 20
    assert all(5 <= len(found) <= 8 for found in made.targets.values())


def test_what_was_planted_and_how_stands_beside_the_tables(made: Benchmark) -> None:
    for haystack_id in made.haystack_ids:
        facts = read_facts(made.folder, haystack_id)
        assert facts is not None
        assert facts.settings["words"] == 200
        assert {(p.doc_id, p.target_id) for p in facts.planted} == {
            (q.doc_id, q.target_id) for q in made.qrels if q.doc_id in {d.doc_id for d in made.documents(haystack_id)}
        }


def test_the_exported_files_load_through_ingest(made: Benchmark, tmp_path: Path) -> None:
    folder = Path(made.folder.url) / "summhay"
    files = [str(folder / f"topic_{haystack_id}.json") for haystack_id in made.haystack_ids]

    assert ingest(["summhay", *files, "--out", str(tmp_path / "again")]) == 0
    assert contents(Benchmark(str(tmp_path / "again"))) == contents(made)


def test_the_audit_stands_in_the_folder_and_finds_every_statement(made: Benchmark) -> None:
    audit = made.folder.read_json("audit.json")

    assert audit["dataset_hash"] == made.manifest["dataset_hash"]
    assert [row["haystack_id"] for row in audit["haystacks"]] == made.haystack_ids
    for row in audit["haystacks"]:
        assert row["exact_search"]["found"] == row["exact_search"]["planted"] == 300
        assert row["near_duplicates"] == []
    assert audit["joint_ceiling"]["high"] > 99


def test_a_command_that_was_killed_before_the_audit_finishes_the_next_time(tmp_path: Path) -> None:
    """The tables are there, the rest is not: it is made, and the tables are left alone."""
    config = read_config("full", ONE)
    first = synthesize(config, str(tmp_path))
    assert not Folder(str(tmp_path)).has("audit.json")

    assert make_benchmark(config, str(tmp_path)) == first
    made_audit = Folder(str(tmp_path)).read_bytes("audit.json")
    make_benchmark(config, str(tmp_path))

    assert Folder(str(tmp_path)).read_bytes("audit.json") == made_audit
    assert len(Folder(str(tmp_path)).names("summhay")) == 1


def test_an_audit_of_another_dataset_is_made_again(tmp_path: Path) -> None:
    make_benchmark(read_config("full", ONE), str(tmp_path))
    folder = Folder(str(tmp_path))
    stale = folder.read_json("audit.json") | {"dataset_hash": "other"}
    folder.write_json("audit.json", stale)

    assert write_audit(str(tmp_path))["dataset_hash"] == Benchmark(str(tmp_path)).manifest["dataset_hash"]


# ---------------------------------------------------------------- sweeps


def test_lists_of_sizes_multiply_and_each_haystack_says_its_own(tmp_path: Path) -> None:
    changes = [*ONE, "topics=[railway]", "documents=[60, 70]", "distractors=[0, 2]", "words=280"]
    synthesize(read_config("full", changes), str(tmp_path))
    bench = Benchmark(str(tmp_path))
    settings = [read_facts(bench.folder, haystack_id).settings for haystack_id in bench.haystack_ids]  # type: ignore[union-attr]

    assert [(s["documents"], s["distractors"]) for s in settings] == [(60, 0), (60, 2), (70, 0), (70, 2)]
    assert [len(bench.documents(haystack_id)) for haystack_id in bench.haystack_ids] == [60, 60, 70, 70]


def test_haystacks_of_a_sweep_have_the_same_insights(tmp_path: Path) -> None:
    synthesize(read_config("full", [*ONE, "words=280", "distractors=[0, 2]"]), str(tmp_path))
    bench = Benchmark(str(tmp_path))
    one, other = ([t.text for t in bench.haystack_targets(haystack_id)] for haystack_id in bench.haystack_ids)

    assert sorted(one) == sorted(other)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param("documents=[]", "documents: Value should have at least 1", id="empty-list"),
        pytest.param("distractors=-1", "distractors.*greater than or equal to 0", id="negative"),
        pytest.param("insights_per_document={least: 1}", "most: Field required", id="half-a-bound"),
        pytest.param("writer=clauses", "writer: no such key", id="a-key-that-is-gone"),
        pytest.param("most_share=2", "most_share", id="share"),
        pytest.param("wrods=9", "wrods: no such key; did you mean 'words'", id="misspelt"),
    ],
)
def test_a_wrong_configuration_is_refused(change: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_config("full", [change])


def test_sizes_that_fail_half_way_leave_nothing_behind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changes = [argument for change in [*ONE, "documents=[60, 40]"] for argument in ("--set", change)]

    assert main(["full", "--out", str(tmp_path / "bench"), "--workers", "1", *changes]) == 2
    assert "ask for 53 documents" in capsys.readouterr().err
    assert not (tmp_path / "bench").exists()


def test_another_benchmark_in_the_folder_keeps_its_files(tmp_path: Path) -> None:
    make_benchmark(read_config("full", ONE), str(tmp_path))
    before = Folder(str(tmp_path)).names("haystacks")

    with pytest.raises(UsageError, match="stands here"):
        make_benchmark(read_config("full", [*ONE, "seed=1"]), str(tmp_path))
    assert Folder(str(tmp_path)).names("haystacks") == before


# ---------------------------------------------------------------- samples


def sample(document: Document, planted: Sequence[str]) -> str:
    """A document as Markdown, what it was made to state in bold."""
    text = document.text
    for statement in planted:
        text = text.replace(statement, f"**{statement}**")
    return text.replace("\n", "\n\n").replace("\n\n\n\n", "\n\n") + "\n"


def test_the_samples_in_docs_are_what_the_job_makes(tmp_path: Path) -> None:
    """`pytest -k samples` shows what to put there after a change of the writer."""
    synthesize(read_config("samples"), str(tmp_path))
    bench = Benchmark(str(tmp_path))
    for name, place, number in (("conversation", 0, 3), ("news-1", 1, 42), ("news-2", 1, 3)):
        haystack_id = bench.haystack_ids[place]
        facts = read_facts(bench.folder, haystack_id)
        assert facts is not None
        document = bench.documents(haystack_id)[number]
        planted = [one.text for one in facts.planted if one.doc_id == document.doc_id and one.kind == "insight"]
        made = sample(document, planted)
        assert (SAMPLES / f"{name}.md").read_text() == made


def test_json_is_one_document_on_standard_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [argument for change in ONE for argument in ("--set", change)]

    assert main(["full", "--out", str(tmp_path), "--json", *arguments]) == 0
    assert json.loads(capsys.readouterr().out)["n_haystacks"] == 1
