"""The wheel installs into a fresh environment outside of the checkout, and runs the demo and the examples."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from importlib.metadata import PathDistribution, distribution
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

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


def needed(requirements: Iterable[str], extras: Iterable[str] = ()) -> set[str]:
    """Return the distributions that *requirements* ask for here, and what these ask for."""
    found = set()
    for requirement in map(Requirement, requirements):
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            found |= {requirement.name, *needed(distribution(requirement.name).requires or (), requirement.extras)}
    return found


def link_packages(names: Iterable[str], site: Path) -> None:
    """Let an environment import what this one has of these distributions, and nothing else of it."""
    for name in names:
        has = distribution(name)
        for top in {file.parts[0] for file in has.files or ()} - {"..", "__pycache__"}:
            if not (site / top).exists():
                (site / top).symlink_to(Path(str(has.locate_file(top))))


@pytest.mark.slow
def test_the_wheel_makes_the_demo_and_runs_the_examples(tmp_path: Path) -> None:
    """Without Ray: the default has none."""
    source = tmp_path / "source"
    source.mkdir()
    given = (*PACKAGES, "lab", "pyproject.toml", "README.md", "LICENSE")
    run(tmp_path, "cp", "-r", *(ROOT / name for name in given), source)
    built = ("--no-deps", "--no-build-isolation", "--wheel-dir", "wheels")
    run(tmp_path, sys.executable, "-m", "pip", "wheel", "--quiet", *built, source)
    (wheel,) = (tmp_path / "wheels").glob("*.whl")
    tops = {name.partition("/")[0] for name in ZipFile(wheel).namelist()}
    assert {top for top in tops if not top.endswith(".dist-info")} == {*PACKAGES}
    run(tmp_path, sys.executable, "-m", "venv", "--without-pip", "fresh")
    programs = tmp_path / "fresh/bin"
    pip = (sys.executable, "-m", "pip", "--python", programs / "python")
    run(tmp_path, *pip, "install", "--quiet", "--no-compile", "--no-deps", wheel)
    (site,) = (tmp_path / "fresh/lib").glob("python*/site-packages")
    (metadata,) = site.glob("longform-*.dist-info")
    link_packages(needed(PathDistribution(metadata).requires or ()), site)

    folder = tmp_path / "elsewhere"
    folder.mkdir()
    run(folder, programs / "longform", "synthesize", "demo", "--set", "haystacks=1", "--out", "demo")
    script = commands("README.md", "")
    run(folder, "bash", "-euc", f"PATH={programs}:$PATH\n{script}")
    texts = [example.text for example in files_shown("docs/python.md")]
    shown = run(folder, programs / "python", "-c", f"for text in {texts!r}: exec(text, {{'__name__': '__main__'}})")
    assert set(printed("docs/python.md", "")) <= set(shown.splitlines())
    assert "ray" not in run(folder, *pip, "list", "--format", "freeze").lower().split("==")
