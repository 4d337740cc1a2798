"""The evidence of a run, which may be large, goes once nothing asks it."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.results.evidence import ReportedWork, RunEvidence
from longform.results.aggregate import Averaging
from tests.jobs.planted_bench import bench


@pytest.mark.parametrize("table", ["units", "qrels"])
def test_a_table_that_was_queried_does_not_hold_the_evidence(tmp_path: Path, table: str) -> None:
    """A lazy frame is of a library that does not let go of cycles."""
    run, benchmark, work = (
        Folder(str(tmp_path / "run")),
        Benchmark(bench(tmp_path, n=1)),
        ReportedWork(summaries=[], units=[]),
    )
    averaging = Averaging("pooled", seed=1, resamples=100)
    evidence = RunEvidence(run=run, benchmark=benchmark, work=work, averaging=averaging, measures=(), judges=())
    getattr(evidence.frames, table).collect()
    held = weakref.ref(evidence)
    del evidence
    gc.collect()
    assert held() is None
