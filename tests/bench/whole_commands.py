"""
Whole commands, as a user gives them: wall seconds of each from its start to its end, imports included.

The demo runs on a local Ray and in one process; both write the same tables. The files in memory are warm: what a disk
adds to a first run after starting the machine is not measured. Python may keep compiled modules, as it does for users
unless PYTHONDONTWRITEBYTECODE tells it not to.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from subprocess import DEVNULL

from actors.storage.folder import Folder
from jobs.results.write import read_results
from tests.bench.measure import Figure
from tests.compare_results import differences
from tests.pages import commands

_BIN = Path(sys.executable).parent
_ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
_WORKERS = 2
_ROUNDS = 3  # of short commands; the least is told
_DEMO_S, _AGAIN_S, _CORPUS_S, _HELP_S = 25.0, 1.5, 3.0, 0.15


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        return [*_demo(folder), _corpus(folder), _figure("longform --help", _least("--help"), _HELP_S)]


def _demo(folder: Path) -> list[Figure]:
    on_ray, here = folder / "on-ray", folder / "here"
    ray_s = _seconds("evaluate", "demo", "--out", str(on_ray), "--workers", str(_WORKERS))
    again_s = _least("evaluate", "demo", "--out", str(on_ray), "--workers", str(_WORKERS))
    here_s = _seconds("evaluate", "demo", "--out", str(here), "--workers", "0")
    one, other = (read_results(Folder(str(run))) for run in (on_ray, here))
    n_different = sum(1 for _ in differences(one, other, tolerance=0.0))
    return [
        _figure(f"demo from nothing on a local Ray of {_WORKERS} workers", ray_s, _DEMO_S),
        _figure("demo from nothing in one process", here_s, None),
        _figure("demo, finished, called again", again_s, _AGAIN_S),
        Figure("demo on Ray and in one process", n_different, None, "values differ", None, 0, "", at_most=True),
    ]


def _corpus(folder: Path) -> Figure:
    """The README's five documents: the commands of the page, one shell script."""
    script = commands("README.md", "")
    environment = _ENVIRONMENT | {"PATH": os.pathsep.join([str(_BIN), os.environ["PATH"]])}
    found: list[float] = []
    for number in range(_ROUNDS):
        place = folder / f"corpus-{number}"
        place.mkdir()
        started = time.monotonic()
        subprocess.run(
            ["sh", "-e"],
            input=script,
            text=True,
            cwd=place,
            env=environment,
            check=True,
            stdout=DEVNULL,
            stderr=DEVNULL,
        )
        found.append(time.monotonic() - started)
    return _figure("README's corpus, ingest and evaluate", min(found), _CORPUS_S)


def _least(*arguments: str) -> float:
    return min(_seconds(*arguments) for _ in range(_ROUNDS))


def _seconds(*arguments: str) -> float:
    started = time.monotonic()
    command = [str(_BIN / "longform"), *arguments]
    subprocess.run(command, env=_ENVIRONMENT, check=True, stdout=DEVNULL, stderr=DEVNULL)
    return time.monotonic() - started


def _figure(name: str, found: float, most: float | None) -> Figure:
    return Figure(name, found, None, "seconds", None, most, f"load {os.getloadavg()[0]:.0f}", at_most=True)
