"""Contents of the package that `ray job submit --working-dir .` takes from a checkout in use."""

from __future__ import annotations

import logging
import subprocess
import zipfile
from pathlib import Path

import pytest

from jobs.stages.starting_ray import LARGE_BYTES, large_package
from tests.places import ROOT

CODE = ("actors", "jobs", "longform", "serve")
SUBMITTED = {"working_dir": "gcs://_ray_pkg_0.zip"}


def packaged(folder: Path, target: Path) -> set[str]:
    """The files that Ray would send."""
    from ray._private.runtime_env.packaging import create_package

    create_package(str(folder), target, include_gitignore=True, logger=logging.getLogger("packaged"))
    with zipfile.ZipFile(target) as package:
        return {name for name in package.namelist() if not name.endswith("/")}


LEFT = [
    *("corpus/documents.jsonl", "bench/documents/part.parquet", "runs/town/run.json", "runs/ledger/calls.sqlite"),
    *("summhay/manifest.json", "human/labels/part.parquet", "abstracts/x.parquet", "three/x", "made/audit.json"),
    *("full/x.parquet", "models/judge.json", "pages/rehearsal.html", "topic_news3.json.gz", "fake.txt", ".env"),
    *(".venv/lib/site.py", "notes.ipynb", "build/lib/longform/x.py", "longform/__pycache__/x.pyc"),
]
"""Files that commands leave in a checkout."""
OWN = [
    "town.yaml",
    "prices.yml",
    "my_module.py",
    "configs/town.yaml",
    "configs/mine.py",
    "configs/prompts/summarize.md",
]
"""Configurations of one's own."""


def test_a_package_holds_all_code_and_own_configurations_and_nothing_that_commands_leave(tmp_path: Path) -> None:
    """The code as git has it, under the ignore files that stand in the repository."""
    folder = tmp_path / "checkout"
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    kept = listed.stdout.splitlines()
    for name in (*kept, *LEFT, *OWN):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")
    for name in (".gitignore", ".rayignore"):
        (folder / name).write_bytes((ROOT / name).read_bytes())

    found = packaged(folder, tmp_path / "package.zip")

    code = {name for name in kept if name.partition("/")[0] in CODE}
    assert code <= found
    assert found - code == {"README.md", "cluster.yaml", "constraints.txt", "pyproject.toml", *OWN}


def test_a_large_package_is_said_with_its_largest_folders(tmp_path: Path) -> None:
    for name, size in (("bench/a.parquet", LARGE_BYTES), ("summhay/b.parquet", 2_000_000), ("jobs/c.py", 1000)):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(bytes(size))

    said = large_package(SUBMITTED, tmp_path)

    assert said is not None
    assert "22.0 MB unpacked" in said
    assert "bench 20.0 MB, summhay 2.0 MB" in said
    assert ".rayignore" in said
    assert large_package({}, tmp_path) is None, "no job was submitted: nothing was sent"


def test_a_package_of_code_is_not_worth_a_word(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(bytes(LARGE_BYTES))

    assert large_package(SUBMITTED, tmp_path) is None


def test_files_that_go_while_they_are_counted_cost_no_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers of the node compile into the same folder, and rename what they have written."""
    listed = [(str(tmp_path), ["__pycache__"], ["a.py", "gone.tmp"])]
    monkeypatch.setattr("os.walk", lambda _: listed)
    (tmp_path / "a.py").write_bytes(bytes(LARGE_BYTES + 1))

    said = large_package(SUBMITTED, tmp_path)

    assert said is not None
    assert "gone" not in said
    assert listed[0][1] == [], "what is compiled was not sent"
