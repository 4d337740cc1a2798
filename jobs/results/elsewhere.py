"""Texts that a run took as they were shipped, and languages that a part of the run does not read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import pyarrow.compute as pc

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.stages.released import Released
from jobs.stages.shipped import FULL
from jobs.stages.stage import Plan
from jobs.stages.summarize import Summarized
from longform.judges.cards import unmeasured_languages
from longform.keys import in_groups
from longform.results.elsewhere import Documents
from longform.settings.experiment import Experiment
from longform.settings.systems import SystemName


def elsewhere_rows(benchmark: Benchmark, plan: Plan) -> list[dict[str, Any]]:
    """Return a row for each system of shipped texts; none if the run took none."""
    systems = in_groups((item.key.name, item.key) for item in plan.of(Released))
    lengths = _lengths(benchmark) if systems else {}
    return [_row(name, summaries, lengths, plan.query_ids) for name, summaries in systems.items()]


def _row(
    name: SystemName, summaries: list[Released], lengths: dict[str, int | None], query_ids: Iterable[str]
) -> dict[str, Any]:
    answered = {one.query_id for one in summaries}
    sizes = [lengths.get(one.summary_id) for one in summaries]
    return {
        **name._asdict(),
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


_MOST = 1000  # documents that are read


def languages_told(run: Folder, benchmark: Benchmark, experiment: Experiment, plan: Plan) -> list[str]:
    """Return a sentence for each such language, with the numbers of answers, documents and targets in it."""
    judges = {
        name: judge.measured_in
        for name, judge in experiment.judges.items()
        if judge.measured_in and name not in experiment.cards  # a card of one's own is of one's own texts
    }
    if not judges:
        return []
    documents = list(islice(_texts_of_documents(benchmark, plan), _MOST + 1))
    read = f"documents (the first {_MOST:,})" if len(documents) > _MOST else "documents"
    targets = [one.text for query_id in plan.query_ids for one in benchmark.targets.get(query_id, [])]
    return unmeasured_languages({**_answers(run, plan), read: documents[:_MOST], "targets": targets}, judges)


def _answers(run: Folder, plan: Plan) -> dict[str, list[str]]:
    """Return the texts of each system."""
    work_ids = [*(one.work_id for one in plan.of(Released)), *(one.work_id for one in plan.of(Summarized))]
    batches = run.batches("summaries", work_ids=work_ids, columns=["summarizer", "setting", "step", "text"])
    return in_groups(
        (f"answers of {SystemName(row['summarizer'], row['setting'])}", row["text"] or "")
        for batch in batches
        for row in batch.to_pylist()
        if row["step"] is None
    )


def _texts_of_documents(benchmark: Benchmark, plan: Plan) -> Iterator[str]:
    if benchmark.manifest["rows"]["documents"]:
        for haystack_id in dict.fromkeys(benchmark.queries[query_id].haystack_id for query_id in plan.query_ids):
            yield from benchmark.rows("documents", haystack_id, ["text"])["text"].to_pylist()
