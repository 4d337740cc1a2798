"""`python -m longform` runs in a folder with packages of our names, and where Ray and the clients are not installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from longform.halls import HALLS
from tests.pages import commands
from tests.places import ROOT
from tests.without_packages import LACKED


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder with a package of the name of each of ours, that cannot be imported, and a corpus."""
    for name in HALLS:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(f"raise RuntimeError('the {name} of this folder')\n")
    script = commands("README.md", "").split("longform ingest")[0]
    subprocess.run(["bash", "-c", script], cwd=tmp_path, check=True)
    return tmp_path


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_a_verb_runs_beside_a_jobs_of_the_folder(hostile: Path) -> None:
    done = run(hostile, "-m", "longform", "ingest", "jsonl", "corpus", "--out", "bench")

    assert done.returncode == 0, done.stderr
    assert (hostile / "bench/benchmark.json").exists()
    assert run(hostile, "-c", "import jobs").returncode == 1  # it stands in front of ours


def test_python_finds_ours_too(hostile: Path) -> None:
    program = (
        "import longform\nprint(longform.judge('- It rained.', ['It rained.']).coverage, longform.compare.__module__)"
    )
    done = run(hostile, "-c", program)

    assert done.stdout == "1.0 jobs.results.compared\n", done.stderr


def test_a_package_that_was_imported_before_is_named(tmp_path: Path) -> None:
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs/__init__.py").write_text("")
    done = run(tmp_path, "-c", "import jobs, longform; longform.judge")

    assert done.returncode == 1
    assert "expected the package 'jobs' of longform" in done.stderr
    assert "import longform first" in done.stderr


@pytest.mark.slow
@pytest.mark.ray
def test_workers_find_ours(hostile: Path) -> None:
    (hostile / "town.yaml").write_text(
        "name: town\nseed: 1\nretrievers: {full: {kind: full}}\nsummarizers: {offline: {kind: offline}}\n"
        "judges: {offline: {kind: offline, calibration: people}}\n"
        "systems: [{retriever: full, budget_tokens: null, summarizer: offline}]\n"
    )
    assert run(hostile, "-m", "longform", "ingest", "jsonl", "corpus", "--out", "bench").returncode == 0
    words = ["evaluate", "town.yaml", "--bench", "bench", "--out", "run", "--workers", "1"]
    done = run(hostile, "-m", "longform", *words)

    assert done.returncode == 0, done.stderr
    assert "on 1 workers" in done.stderr


def without(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return run(folder, "-m", "tests.without_packages", LACKED, "--", *words)


def test_verbs_that_ask_no_model_need_no_ray_and_no_client(hostile: Path) -> None:
    (hostile / "theirs.jsonl").write_text('{"query_id": "bridge", "system": "rag", "text": "- It voted 7 to 2 [1]."}\n')
    verbs = (
        ["ingest", "jsonl", "corpus", "--out", "bench"],
        ["judge", "theirs.jsonl", "--bench", "bench", "--out", "runs/theirs"],
        ["report", "runs/theirs", "--out", "pages"],
        ["compare", "runs/theirs", "runs/theirs"],
        ["status", "runs/theirs"],
        ["status", "runs/theirs", "--watch"],
    )
    # one process for all: what is lacked is lacked each time that it is asked for
    program = f"from longform.__main__ import main\nfor words in {verbs!r}:\n    assert main(words) == 0, words\n"
    (hostile / "verbs.py").write_text(program)
    done = without(hostile, "verbs.py")
    assert done.returncode == 0, done.stderr
    assert (hostile / "pages/index.html").exists()


def test_what_is_lacking_is_named_with_its_extra(hostile: Path) -> None:
    assert without(hostile, "ingest", "jsonl", "corpus", "--out", "bench").returncode == 0
    (hostile / "theirs.jsonl").write_text('{"query_id": "bridge", "system": "rag", "text": "- It voted 7 to 2 [1]."}\n')
    done = without(hostile, "judge", "theirs.jsonl", "--bench", "bench", "--out", "runs/theirs", "--workers", "1")

    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].endswith(
        "expected the package ray, found none; install it with: pip install 'longform[ray]'"
    )
