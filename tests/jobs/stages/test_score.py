"""Scoring a run again, where it cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.storage.folder import Folder
from jobs.stages.score import score_items
from longform.errors import UsageError


def test_summaries_that_the_run_does_not_hold_are_no_key_error(tmp_path: Path) -> None:
    """`longform aggregate --set citations=matrix` on a run without twins: evaluate has to make them."""
    with pytest.raises(UsageError, match="1 judged summaries, 1 are not there; do the stages before"):
        score_items(Folder(str(tmp_path)), {"verdicts": "units"}, str)
