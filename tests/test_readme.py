"""Every command of the README that needs no cloud and no key runs, in the order a reader would type them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.places import ROOT

BLOCK = re.compile(r"^```sh ?(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
KINDS = {"", "make", "released", "key", "cloud"}


def blocks(*kinds: str) -> list[str]:
    return [text for kind, text in BLOCK.findall((ROOT / "README.md").read_text()) if kind in kinds]


def run(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HF_HUB_OFFLINE": "1",
    }
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=3600,
        check=False,
    )


def test_every_block_says_what_it_needs() -> None:
    assert {kind for kind, _ in BLOCK.findall((ROOT / "README.md").read_text())} == KINDS


def test_make_targets_of_the_readme_exist() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))

    assert {line.split()[1] for block in blocks("make") for line in block.splitlines()} <= targets


@pytest.mark.slow
def test_commands_run_as_written(tmp_path: Path) -> None:
    done = run("\n".join(blocks("")), tmp_path)

    assert done.returncode == 0, done.stderr[-2000:]
    assert (tmp_path / "runs" / "town" / "report" / "report.html").stat().st_size > 10_000
    assert "supporting documents found" in (tmp_path / "runs" / "town" / "report" / "report.md").read_text()
    assert (tmp_path / "pages" / "rehearsal.md").is_file()
    (planned,) = re.findall(r"^(total .*)$", done.stdout, re.MULTILINE)
    assert planned in (ROOT / "README.md").read_text(), (
        "the plan that the README shows is the one that its command prints"
    )
    assert "$0.0000" not in planned


@pytest.mark.slow
def test_commands_on_released_files_run_as_written(tmp_path: Path, released: Path) -> None:
    for file in (released / "summhay").glob("*.json.gz"):
        shutil.copy(file, tmp_path)
    shutil.copy(released / "longformfact" / "generation" / "multixscience.jsonl.gz", tmp_path)

    done = run("\n".join(blocks("released")), tmp_path)

    assert done.returncode == 0, done.stderr[-2000:]
    assert (
        "offline-people marks as people do; against people, text that it was not fitted on: not measured" in done.stdout
    )
    assert "mean of offline-people (marks as people do) and released:gpt-4o; against people" in done.stdout
