"""The benchmark and the two runs of released SummHay files that several tests read."""

from __future__ import annotations

import os
from pathlib import Path

from jobs.ingest import main as ingest
from jobs.replay import main as replay
from tests.made.store import made

NAMED = "claude3-opus, full"


def news() -> Path:
    """Return a benchmark of two topics, 16 queries."""
    return made("news", _news)


def replayed() -> Path:
    """Return the released summaries of 78 systems on `news`, each compared with a system that the command names."""
    return made("replayed", _replayed)


def repaired() -> Path:
    """Return the same beside their twins with citations by matrix, each compared with the best."""
    return made("repaired", _repaired)


def _news(folder: Path) -> None:
    released = Path(os.environ["LONGFORM_RELEASED_DATA"]) / "summhay"
    files = [str(released / f"topic_{name}.json.gz") for name in ("news3", "news5")]
    assert ingest(["summhay", *files, "--out", str(folder)]) == 0


def _replayed(folder: Path) -> None:
    _replay(folder, "resamples=200", f"compare_with={NAMED}")


def _repaired(folder: Path) -> None:
    _replay(folder, "resamples=100", "citations=matrix")


def _replay(folder: Path, *changes: str) -> None:
    assert (
        replay([str(news()), "--out", str(folder), "--workers", "0", *(f"--set={change}" for change in changes)]) == 0
    )
