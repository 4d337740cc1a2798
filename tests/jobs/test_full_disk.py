"""A disk that is full or read-only costs one sentence and exit code 1; with room the same command goes on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from actors.storage.folder import Folder
from jobs.evaluate import main as evaluate
from jobs.ingest import main as ingest
from tests.jobs.run_content import assert_same_tables
from tests.made.demo import railway

if TYPE_CHECKING:  # the plugin is to be loaded by pytest
    from tests.small_disk import SmallDisk

pytest_plugins = ["tests.small_disk"]
MakeDisk = Callable[[int], "SmallDisk"]
SCRIPTED = {"kind": "chat", "chat": {"provider": "scripted", "model": "m", "script": "obedient"}}
CONFIG: dict[str, Any] = {
    "name": "disk",
    "seed": 1,
    "retrievers": {"bm25": {"kind": "bm25"}},
    "summarizers": {"scripted": SCRIPTED},
    "judges": {"marks": SCRIPTED},
    "systems": [{"retriever": "bm25", "budget_tokens": [600, 1200], "summarizer": "scripted"}],
    "resamples": 100,
}


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Configuration and benchmark of a command."""
    folder = tmp_path_factory.mktemp("disk")
    (folder / "c.yaml").write_text(json.dumps(CONFIG))
    return [str(folder / "c.yaml"), "--bench", railway(), "--workers", "1"]


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    folder = tmp_path / "corpus"
    folder.mkdir()
    rows = [{"doc_id": f"d{n}", "text": f"{os.urandom(40_000).hex()}"} for n in range(2)]
    (folder / "documents.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "queries.jsonl").write_text('{"query_id": "q", "text": "What?"}\n')
    return str(folder)


def sentence(capsys: pytest.CaptureFixture[str]) -> str:
    """Return a command's last sentence on standard error."""
    last = capsys.readouterr().err.strip().splitlines()[-1]
    assert last.startswith("longform ")
    return last


@pytest.mark.parametrize("place", ["{file}", "{file}/run", "{file}/deep/run", "/dev/null/run", "/proc/nothing/run"])
def test_output_folder_that_cannot_be_made_is_one_sentence(
    place: str, experiment: list[str], corpus: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("a user's own")
    out = place.format(file=tmp_path / "file")

    assert evaluate([*experiment, "--out", out, "--ledger", str(tmp_path / "ledger"), "--workers", "0"]) == 1
    assert f"longform evaluate: {out}: cannot be written: " in sentence(capsys)
    assert ingest(["jsonl", corpus, "--out", out]) == 1
    assert f"longform ingest: {out}: cannot be " in sentence(capsys)
    assert (tmp_path / "file").read_text() == "a user's own"


def test_read_only_output_is_one_sentence(
    experiment: list[str], corpus: str, small_disk: MakeDisk, capsys: pytest.CaptureFixture[str]
) -> None:
    disk = small_disk(200)
    disk.set("ro")
    for verb in (
        lambda: evaluate([*experiment, "--out", f"{disk.folder}/run", "--workers", "0"]),
        lambda: ingest(_ingest(corpus, disk)),
    ):
        assert verb() == 1
        assert "cannot be written: the disk is read-only; name a folder on another one" in sentence(capsys)


def _ingest(corpus: str, disk: SmallDisk) -> list[str]:
    return ["jsonl", corpus, "--out", f"{disk.folder}/bench"]


@pytest.mark.parametrize("kilobytes", [8, 60])
def test_benchmark_that_does_not_fit_leaves_nothing_and_is_written_once_there_is_room(
    kilobytes: int, corpus: str, small_disk: MakeDisk, capsys: pytest.CaptureFixture[str]
) -> None:
    """A disk on which the documents do not fit, and one on which nothing does."""
    disk = small_disk(kilobytes)

    assert ingest(_ingest(corpus, disk)) == 1
    assert "the disk is full; make room there; the same command goes on" in sentence(capsys)
    assert list(disk.folder.iterdir()) == []

    disk.set("size=1000k")
    assert ingest(_ingest(corpus, disk)) == 0
    assert Folder(f"{disk.folder}/bench").read("documents").num_rows == 2


@pytest.mark.slow
@pytest.mark.ray
@pytest.mark.parametrize("workers", [0, 2])
def test_run_that_fills_its_disk_in_a_stage_goes_on_once_there_is_room(
    *,
    workers: int,
    experiment: list[str],
    small_disk: MakeDisk,
    tmp_path: Path,
    ray_session: None,
    capsys: pytest.CaptureFixture[str],
) -> None:
    disk = small_disk(300)
    command = [*experiment, "--ledger", str(tmp_path / "ledger"), "--workers", str(workers), "--out"]

    assert evaluate([*command, f"{disk.folder}/run"]) == 1
    assert "the disk is full; make room there; the same command goes on" in sentence(capsys)
    assert disk.unfinished() == []
    if not workers:  # workers fill it faster than the command can commit
        assert Folder(f"{disk.folder}/run").locate("rankings")

    disk.set("size=4000k")
    assert evaluate([*command, f"{disk.folder}/run"]) == 0
    assert evaluate([*command, str(tmp_path / "whole")]) == 0
    assert_same_tables(Folder(f"{disk.folder}/run"), Folder(str(tmp_path / "whole")))


@pytest.mark.ray
@pytest.mark.parametrize("state", ["ro", "full"])
def test_ledger_that_cannot_be_written_is_one_sentence(
    *,
    state: str,
    experiment: list[str],
    small_disk: MakeDisk,
    tmp_path: Path,
    ray_session: None,
    capsys: pytest.CaptureFixture[str],
) -> None:
    disk = small_disk(20)
    if state == "ro":
        disk.set("ro")

    assert evaluate([*experiment, "--out", str(tmp_path / "run"), "--ledger", f"{disk.folder}/ledger"]) == 1
    found = "read-only" if state == "ro" else "full"
    assert f"{disk.folder}/ledger/calls.sqlite: cannot be written: the disk is {found}" in sentence(capsys)
    assert disk.unfinished() == []


def test_ray_is_not_started_on_a_full_disk(experiment: list[str], small_disk: MakeDisk, tmp_path: Path) -> None:
    """Its workers would die and start again without end."""
    environment = os.environ | {"RAY_TMPDIR": str(small_disk(200).folder)}
    command = [sys.executable, "-m", "jobs.evaluate", *experiment, "--out", str(tmp_path / "run")]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    assert ended.returncode == 1
    assert "Traceback" not in ended.stderr
    assert "0.2 MB left and Ray needs 50 MB; make room there" in ended.stderr.splitlines()[-1]
