"""
Split: `summaries` -> `units`, the bullets of each summary with their citations. 1:N.

A summary that failed has no units; one that is empty has none either, and only the first is unjudged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from actors.storage import Folder
from jobs.derive import Item, PartReader, plan
from jobs.stage import Row, Stage, Task
from longform.citations import bullets
from longform.keys import content_key

VERSION = "lines@1"
_SUMMARIES_A_TASK = 256


def unit_work_id(summary_work_id: str) -> str:
    return content_key("units", summary_work_id, VERSION)


def split_stage(run: Folder) -> Stage:
    return Stage(name="split", table="units", identity=run.url, make_worker=partial(_worker, run))


def split_tasks(run: Folder, summary_work_ids: Sequence[str]) -> list[Task]:
    items = [{"work_id": unit_work_id(source), "source": source} for source in summary_work_ids]
    return plan(run, "summaries", run, "units", items, per_task=_SUMMARIES_A_TASK)


def _worker(run: Folder) -> Any:
    reader = PartReader(run)

    def split(payload: Mapping[str, Any]) -> list[Row]:
        return [
            unit
            for item in payload["items"]
            for summary in reader.rows(item["part"], item["source"])
            for unit in units(summary, item)
        ]

    return split


def units(summary: Row, item: Item) -> list[Row]:
    """The rows of one summary."""
    return [
        {
            "work_id": item["work_id"],
            "summary_id": summary["summary_id"],
            "query_id": summary["query_id"],
            "haystack_id": summary["haystack_id"],
            "unit_index": index,
            "text": bullet.text,
            "citations": bullet.citations,
        }
        for index, bullet in enumerate(bullets(summary["text"] or ""))
    ]
