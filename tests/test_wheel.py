"""The wheel installs into a fresh environment outside of the checkout, and runs the demo and the examples."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.pages import commands, files_shown, printed
from tests.places import ROOT

PACKAGES = ("actors", "jobs", "longform", "serve")


def run(folder: Path, *words: object) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        list(map(str, words)), cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{words}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout


@pytest.mark.slow
def test_the_wheel_runs_the_demo_and_the_examples(tmp_path: Path) -> None:
    """Without Ray: the default has none."""
    source = tmp_path / "source"
    source.mkdir()
    given = (*PACKAGES, "lab", "pyproject.toml", "README.md", "LICENSE")
    run(tmp_path, "cp", "-r", *(ROOT / name for name in given), source)
    run(tmp_path, sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", "wheels", source)
    (wheel,) = (tmp_path / "wheels").glob("*.whl")
    tops = {name.partition("/")[0] for name in ZipFile(wheel).namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {*PACKAGES}
    run(tmp_path, sys.executable, "-m", "venv", "--without-pip", "fresh")
    programs = tmp_path / "fresh/bin"
    pip = (sys.executable, "-m", "pip", "--python", programs / "python")
    # Python compiles what is imported below, which is less than what is installed
    run(tmp_path, *pip, "install", "--quiet", "--no-compile", "--constraint", ROOT / "constraints.txt", wheel)

    folder = tmp_path / "elsewhere"
    folder.mkdir()
    assert "report" in run(folder, programs / "longform", "evaluate", "demo", "--out", "demo", "--workers", "0")
    script = commands("README.md", "")
    run(folder, "bash", "-euc", f"PATH={programs}:$PATH\n{script}")
    shown = "".join(run(folder, programs / "python", "-c", example.text) for example in files_shown("docs/python.md"))
    assert set(printed("docs/python.md", "")) <= set(shown.splitlines())
    assert "ray" not in run(folder, *pip, "list", "--format", "freeze").lower().split("==")
