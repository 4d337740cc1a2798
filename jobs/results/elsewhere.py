"""Tells which texts a run took as they were shipped, and what is known of their prompts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pyarrow.compute as pc

from actors.storage.benchmark import Benchmark
from jobs.stages.released import Released
from jobs.stages.shipped import FULL
from jobs.stages.stage import Plan
from longform.results.elsewhere import Documents, ElsewhereRow
from longform.settings.system_names import SystemName


def elsewhere_rows(benchmark: Benchmark, plan: Plan) -> list[ElsewhereRow]:
    """Return a row for each system of shipped texts; none if the run took none."""
    systems: dict[SystemName, list[Released]] = {}
    for item in plan.of(Released):
        systems.setdefault(item.key.name, []).append(item.key)
    lengths = _lengths(benchmark) if systems else {}
    return [_row(name, summaries, lengths, plan.query_ids) for name, summaries in systems.items()]


def _row(
    name: SystemName, summaries: list[Released], lengths: dict[str, int | None], query_ids: Iterable[str]
) -> ElsewhereRow:
    answered = {one.query_id for one in summaries}
    sizes = [lengths.get(one.summary_id) for one in summaries]
    return {
        "summarizer": name.summarizer,
        "setting": name.setting,
        "n_summaries": len(summaries),
        "n_failed": sizes.count(None),
        "n_empty": sizes.count(0),
        "n_queries": len(answered),
        "unanswered": [query_id for query_id in query_ids if query_id not in answered],
        "documents": dict(Counter(map(_documents, summaries))),
    }


def _documents(summary: Released) -> Documents:
    if summary.context_id is not None:
        return "named"
    return "all" if FULL in (summary.setting, summary.retriever) else "unknown"


def _lengths(benchmark: Benchmark) -> dict[str, int | None]:
    """Summary id -> characters of its text but for white space at its ends, None if it has none."""
    found: dict[str, int | None] = {}
    for batch in benchmark.folder.batches("summaries", columns=["summary_id", "text"]):
        sizes = pc.utf8_length(pc.utf8_trim_whitespace(batch["text"])).to_pylist()
        found |= dict(zip(batch["summary_id"].to_pylist(), sizes, strict=True))
    return found
