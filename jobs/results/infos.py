"""The summaries of a run as cells and studies know them, read without their texts unless these are asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from actors.storage.folder import Folder
from longform.evidence import infos
from longform.evidence.infos import SummaryInfo
from longform.records import Query


def summary_infos(
    run: Folder, work_ids: Sequence[str], *, queries: Mapping[str, Query] | None = None
) -> dict[str, SummaryInfo]:
    """Return `longform.evidence.infos.summary_infos` of the summaries *work_ids* of a run."""
    return infos.summary_infos(
        lambda columns: (
            part.slice(start, 64)  # the texts of some are in memory at a time
            for part in run.batches("summaries", work_ids=work_ids, columns=columns)
            for start in range(0, len(part), 64)
        ),
        work_ids,
        queries,
    )
