"""Scoring a run again, where it cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.storage.folder import Folder
from jobs.stages.items import Item, Source
from jobs.stages.score import Score, Scored
from longform.errors import UsageError


def test_summaries_that_the_run_does_not_hold_are_no_key_error(tmp_path: Path) -> None:
    """`longform aggregate --set citations=matrix` on a run without twins: evaluate has to make them."""
    run = Folder(str(tmp_path))
    run.commit("verdicts", [run.write_part("verdicts", [], work_ids=["there"])])
    items = [
        Item(f"scores of {name}", Scored(name, "j", "summhay@1"), (Source("verdicts", name), Source("units", "units")))
        for name in ("there", "missing")
    ]
    with pytest.raises(UsageError, match="score reads 2 pieces of verdicts, 1 are not there; do the stages before"):
        Score(run=run.url, bench=run.url, listed=("joint",), partial_score=0.5, judges={}).tasks(run, items)
