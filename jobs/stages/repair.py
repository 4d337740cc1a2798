"""
Repair: `summaries` -> `summaries`, beside each summary a twin that cites the documents that support its bullets. 1:1.

Here by matrix, from the words of bullets and documents; by the verdicts of a support judge in
`jobs.stages.repair_by_judge`. Bullets and their order stay, so the verdicts on a summary are true of its twin: they are
copied, not asked again, and no call is paid twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache, partial
from itertools import groupby
from typing import Any

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.stages.items import PartReader, plan
from jobs.stages.runner import Row, Stage, Task
from longform.errors import UsageError
from longform.keys import content_key
from longform.repair import by_matrix as repair
from longform.repair.twins import twin_id
from longform.support.index import SupportIndex

_SUMMARIES_A_TASK = 64
_VERDICTS_A_TASK = 256  # summaries


def repaired_work_ids(summaries: Iterable[str], *, by: str = repair.VERSION) -> dict[str, str]:
    """Work id of each summary -> work id of its twin; *by* changes with any change of what is cited."""
    return {work_id: content_key("repaired-summary", work_id, by) for work_id in summaries}


def with_twins(summaries: Iterable[str], repaired: Mapping[str, str]) -> list[str]:
    """Work ids of summaries, each with its twin's behind it where there is one."""
    return [work_id for source in summaries for work_id in (source, repaired.get(source)) if work_id is not None]


def copied_work_ids(judged: Mapping[str, str], repaired: Mapping[str, str]) -> dict[str, str]:
    """
    Work id of the verdicts on each summary -> work id of the copies that hold for its twin.

    Args:
        judged: Work id of verdicts -> of the summary they judge.
        repaired: Work id of each summary -> of its twin.
    """
    return {
        verdicts: content_key("copied-verdicts", verdicts, repaired[summary])
        for verdicts, summary in judged.items()
        if summary in repaired
    }


def judged_with_twins(judged: Mapping[str, str], repaired: Mapping[str, str]) -> dict[str, str]:
    """Work id of verdicts -> of the summary they judge, the copies and the twins they hold for included."""
    copied = copied_work_ids(judged, repaired)
    return {**judged, **{copy: repaired[judged[verdicts]] for verdicts, copy in copied.items()}}


def check_documents(benchmark: Benchmark) -> None:
    """
    There are documents to find support in.

    Raises:
        UsageError: The benchmark ships none.
    """
    if not benchmark.manifest["rows"]["documents"]:
        raise UsageError(f"{benchmark.folder.url}: expected documents to find support in, found none")


# ---------------------------------------------------------------- summaries


def repair_stage(run: Folder, bench_url: str) -> Stage:
    return Stage(
        name="repair",
        table="summaries",
        identity=content_key(run.url, bench_url),
        make_worker=partial(_repairer, run, bench_url),
    )


def repair_tasks(run: Folder, repaired: Mapping[str, str]) -> list[Task]:
    """The tasks for twins that are not there yet."""
    items = [{"work_id": twin, "source": source} for source, twin in repaired.items()]
    return plan(run, "summaries", run, "summaries", items, per_task=_SUMMARIES_A_TASK)


def _repairer(run: Folder, bench_url: str) -> Any:
    reader, benchmark = PartReader(run), Benchmark(bench_url)

    @lru_cache(maxsize=1)
    def sources(haystack_id: str) -> tuple[SupportIndex, list[int]]:
        documents = benchmark.documents(haystack_id)
        return SupportIndex([document.text for document in documents]), [document.number for document in documents]

    def twins(payload: Mapping[str, Any]) -> list[Row]:
        originals = [
            summary | {"work_id": item["work_id"]}
            for item in payload["items"]
            for summary in reader.rows(item["part"], item["source"])
            if summary.get("step") is None
        ]
        originals.sort(key=_haystack)  # stable: within a haystack the items' order stays
        return [
            twin
            for haystack_id, group in groupby(originals, key=_haystack)
            for twin in repair.repaired_summaries(list(group), *sources(haystack_id))
        ]

    return twins


def _haystack(summary: Mapping[str, Any]) -> str:
    return str(summary["haystack_id"])


# ---------------------------------------------------------------- verdicts


def copy_stage(run: Folder, *, by: str = repair.VERSION) -> Stage:
    return Stage(
        name="copy verdicts", table="verdicts", identity=content_key(run.url, by), make_worker=partial(_copier, run, by)
    )


def copy_tasks(run: Folder, copied: Mapping[str, str]) -> list[Task]:
    """The tasks for copies that are not there yet: work id of verdicts -> of their copies."""
    items = [{"work_id": copy, "source": source} for source, copy in copied.items()]
    return plan(run, "verdicts", run, "verdicts", items, per_task=_VERDICTS_A_TASK)


def _copier(run: Folder, by: str) -> Any:
    reader = PartReader(run)

    def copies(payload: Mapping[str, Any]) -> list[Row]:
        return [
            verdict | {"work_id": item["work_id"], "summary_id": twin_id(verdict["summary_id"], by)}
            for item in payload["items"]
            for verdict in reader.rows(item["part"], item["source"])
        ]

    return copies
