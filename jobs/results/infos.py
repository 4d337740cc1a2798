"""The summaries of a run as cells and studies know them, read without their texts unless these are asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from sys import intern
from typing import Any

from actors.storage.folder import Folder
from longform.axes import COLUMNS, Axes, axes_of
from longform.keys import content_key
from longform.records import Query
from longform.repair.twins import METHOD
from longform.results.aggregate import SummaryInfo

_INFO_COLUMNS = [
    "summary_id", "query_id", "summarizer", "setting", "order", "elapsed_minutes", "cut_share", "failure",
    "haystack_id", "dataset", "model", "cause", "cited_by",
]  # fmt: skip


def summary_infos(
    run: Folder, work_ids: Sequence[str], *, queries: Mapping[str, Query] | None = None
) -> dict[str, SummaryInfo]:
    """
    Summary work id -> what the tables need of it, in the order given.

    With *queries*, those of the benchmark, data sets and keys of texts are known, too; else texts are not read.
    """
    more = ["method", "parents", "repeat", *COLUMNS, *(["text"] if queries is not None else [])]
    found: dict[str, SummaryInfo] = {}
    held: dict[Axes, Axes] = {}  # the same object for all equal ones
    originals: dict[str, str] = {}  # work id of a twin -> summary id of its original
    for batch in run.batches("summaries", work_ids=work_ids, columns=["work_id", "step", *_INFO_COLUMNS, *more]):
        for row in batch.to_pylist():
            if row["step"] is None:
                axes = held.setdefault(axes_of(row), axes_of(row))
                info = SummaryInfo(**{name: _interned(row[name]) for name in _INFO_COLUMNS}, axes=axes)
                if row["retriever"] is None:  # written elsewhere: orders of one setting are systems, too
                    info = info._replace(setting=intern(axes.words(with_budget=False)), repeat=row["repeat"])
                else:  # rows that were made before repeats were thought of do not say that they are the first
                    info = info._replace(repeat=row["repeat"] or 0)
                found[row["work_id"]] = info if queries is None else _with_text(info, row["text"], queries)
                if row["method"] == METHOD:
                    originals[row["work_id"]] = row["parents"][0]
    written = {info.summary_id: info for info in found.values()}
    for work_id, original in originals.items():
        before = written[original]
        found[work_id] = found[work_id]._replace(setting=before.setting, axes=before.axes, twin_of=before.summarizer)
    return {work_id: found[work_id] for work_id in work_ids if work_id in found}


def _interned(value: Any) -> Any:
    """Return a text that is one object for all that are equal; names of systems and queries stand in many rows."""
    return intern(value) if isinstance(value, str) else value


def _with_text(info: SummaryInfo, text: str | None, queries: Mapping[str, Query]) -> SummaryInfo:
    text_key = None if text is None else content_key(text)
    return info._replace(dataset=queries[info.query_id].dataset, text_key=text_key)
