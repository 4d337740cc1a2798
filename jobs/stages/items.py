"""
Plan a stage whose rows are made from another table's rows.

An item says: from the rows of work id `source`, make the rows of `work_id`. Items already there are left out; the rest
are ordered by the part that holds their source, so that a worker reads few parts more than once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from actors.storage.folder import Folder
from jobs.stages.runner import Row, Task

Item = Mapping[str, Any]
"""`work_id`, `source`, and whatever else the stage's worker wants to know of it."""

_PARTS_HELD = 4


def plan(
    source: Folder, source_table: str, run: Folder, table: str, items: Sequence[Item], *, per_task: int
) -> list[Task]:
    """
    The tasks for those of *items* whose work id *table* does not hold yet, at most *per_task* items each.

    A task's payload is `items`, each with the `part` (path) that holds its source; items of one part stand together.
    """
    done = run.locate(table)
    todo = [item for item in items if item["work_id"] not in done]
    if not todo:
        return []
    located = done if (source.url, source_table) == (run.url, table) else source.locate(source_table)
    by_part: dict[str, list[Item]] = {}
    for item in todo:
        part = located[item["source"]]
        by_part.setdefault(part, []).append({**item, "part": part})
    in_order = [item for members in by_part.values() for item in members]
    return [
        Task(work_ids=tuple(item["work_id"] for item in chunk), payload={"items": chunk})
        for chunk in (in_order[start : start + per_task] for start in range(0, len(in_order), per_task))
    ]


class PartReader:
    """Rows of a table's parts by work id; the last few parts are held."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._read = lru_cache(maxsize=_PARTS_HELD)(self._read_part)

    def rows(self, path: str, work_id: str) -> list[Row]:
        """The rows of *work_id* in the part at *path*, in their order; none where it made none."""
        return self._read(path).get(work_id, [])

    def _read_part(self, path: str) -> dict[str, list[Row]]:
        groups: dict[str, list[Row]] = {}
        for row in self._folder.read_part(path).to_pylist():
            groups.setdefault(row["work_id"], []).append(row)
        return groups
