"""
Split: `summaries` -> `units`, the bullets or sentences of each summary with their citations. 1:N.

A summary that failed has no units; one that is empty has none either, and only the first is unjudged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from actors.storage.folder import Folder
from jobs.stages.items import Item, PartReader, plan
from jobs.stages.runner import Row, Stage, Task
from longform.keys import content_key
from longform.settings.experiment import UnitKind
from longform.text.citations import Bullet, bullets
from longform.text.sentences import cited_sentences

VERSIONS: Mapping[UnitKind, str] = {"bullets": "lines@1", "sentences": "sentences@1"}
_SUMMARIES_A_TASK = 256


def unit_work_id(summary_work_id: str, kind: UnitKind = "bullets") -> str:
    return content_key("units", summary_work_id, VERSIONS[kind])


def split_stage(run: Folder, kind: UnitKind = "bullets", *, name: str = "split") -> Stage:
    return Stage(name=name, table="units", identity=content_key(run.url, kind), make_worker=partial(_worker, run, kind))


def split_tasks(run: Folder, summary_work_ids: Sequence[str], kind: UnitKind = "bullets") -> list[Task]:
    items = [{"work_id": unit_work_id(source, kind), "source": source} for source in summary_work_ids]
    return plan(run, "summaries", run, "units", items, per_task=_SUMMARIES_A_TASK)


def _worker(run: Folder, kind: UnitKind) -> Any:
    reader = PartReader(run)

    def split(payload: Mapping[str, Any]) -> list[Row]:
        return [
            unit
            for item in payload["items"]
            for summary in reader.rows(item["part"], item["source"])
            if summary.get("step") is None  # what a method wrote on its way is no summary
            for unit in units(summary, item, kind)
        ]

    return split


def split_text(text: str, kind: UnitKind) -> list[Bullet]:
    """The units of a summary's text, in order."""
    return bullets(text) if kind == "bullets" else cited_sentences(text)


def units(summary: Row, item: Item, kind: UnitKind) -> list[Row]:
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
        for index, bullet in enumerate(split_text(summary["text"] or "", kind))
    ]
