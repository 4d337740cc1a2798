"""Summaries of a run with repaired citations, for the study of before and after."""

from __future__ import annotations

from collections.abc import Sequence

from actors.storage.folder import Folder
from longform.repair.twins import LABEL, METHOD
from longform.results.evidence import Driver

BY_MATRIX: Driver = {"by": "matrix", "label": LABEL}
"""Words of the report on citations that the words of bullets and documents drove."""

_COLUMNS = ["work_id", "summary_id", "method", "parents"]


def repaired_originals(run: Folder, summary_work_ids: Sequence[str]) -> dict[str, str]:
    """Summary id of each repaired twin -> of its original, in the order given; empty if nothing was repaired."""
    rows = {
        row["work_id"]: row for row in run.read("summaries", work_ids=summary_work_ids, columns=_COLUMNS).to_pylist()
    }
    found = [rows[work_id] for work_id in summary_work_ids if work_id in rows]
    return {row["summary_id"]: row["parents"][0] for row in found if row["method"] == METHOD}
