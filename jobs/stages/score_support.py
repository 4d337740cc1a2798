"""
Score: `verdicts` of support judges -> `scores`, the faithfulness of each summary by every merging. N:1.

A summary without a sentence has no rows of verdicts; its scores are null, and say so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from actors.storage.folder import Folder
from jobs.stages.check import Checked, Source
from jobs.stages.items import Item, PartReader, plan
from jobs.stages.runner import Row, Stage, Task
from longform.judges.kinds.support import SUPPORT
from longform.keys import content_key
from longform.metrics.faithfulness import GRID, merge_documents, summary_faithfulness
from longform.results.aggregate import SummaryInfo

VERSION = "faithfulness@1"
_SUMMARIES_A_TASK = 256


def support_score_work_id(verdict_work_id: str) -> str:
    return content_key("scores", verdict_work_id, VERSION)


def support_score_stage(run: Folder) -> Stage:
    return Stage(name="score faithfulness", table="scores", identity=run.url, make_worker=partial(_worker, run))


def support_score_tasks(
    run: Folder, checks: Mapping[Checked, Source], infos: Mapping[str, SummaryInfo], haystacks: Mapping[str, str]
) -> list[Task]:
    """The tasks that are not done; *infos* are by summary work id, *haystacks* by query."""
    items = [
        {
            "work_id": support_score_work_id(source.work_id),
            "source": source.work_id,
            "judge": checked.judge,
            "summary_id": infos[checked.summary].summary_id,
            "query_id": source.query_id,
            "haystack_id": haystacks[source.query_id],
            "failure": infos[checked.summary].failure,
        }
        for checked, source in checks.items()
    ]
    return plan(run, "verdicts", run, "scores", items, per_task=_SUMMARIES_A_TASK)


def _worker(run: Folder) -> Any:
    verdicts = PartReader(run)

    def score(payload: Mapping[str, Any]) -> list[Row]:
        return [row for item in payload["items"] for row in _rows(item, verdicts.rows(item["part"], item["source"]))]

    return score


def _rows(item: Item, verdicts: Sequence[Row]) -> Iterator[Row]:
    known = {key: item[key] for key in ("work_id", "judge", "summary_id", "query_id", "haystack_id")}
    cells = support_cells(verdicts)
    n_unjudged = int(np.isnan(cells).sum())
    for merging in GRID:
        sentences = merge_documents(cells, merging.documents) if cells.size else np.zeros(0)
        found = summary_faithfulness(sentences, merging.sentences)
        yield known | {
            "measure": merging.name,
            "value": found.value,
            "total": found.total,
            "n": found.n,
            "n_unjudged": n_unjudged,
            "reason": None if found.n else _reason(item, cells),
        }


def _reason(item: Item, cells: NDArray[np.float64]) -> str:
    if item["failure"]:
        return f"summary_failed: {item['failure']}"
    return "undecided" if cells.size else "no_sentences"


def support_cells(verdicts: Iterable[Row]) -> NDArray[np.float64]:
    """
    The verdicts on one summary as an array (texts in prompt order, sentences); NaN: unjudged.

    *verdicts* are rows with `doc_position` (null: all documents as one text), `unit_index`, `answer`, `probability`.
    """
    rows = list(verdicts)
    shape = [1 + max((row[key] or 0 for row in rows), default=-1) for key in ("doc_position", "unit_index")]
    cells = np.full(shape, np.nan)
    for row in rows:
        value = SUPPORT.number(row["answer"], row["probability"])
        cells[row["doc_position"] or 0, row["unit_index"]] = np.nan if value is None else value
    return cells
