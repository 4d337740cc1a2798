"""Tells which texts of a run are in languages that its offline judges were not measured on."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.stages.released import Released
from jobs.stages.stage import Plan
from jobs.stages.summarize import Summarized
from longform.judges.languages import unmeasured_languages
from longform.settings.experiment import Experiment
from longform.settings.system_names import SystemName

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
    documents = list(islice(_documents(benchmark, plan), _MOST + 1))
    read = f"documents (the first {_MOST:,})" if len(documents) > _MOST else "documents"
    targets = [one.text for query_id in plan.query_ids for one in benchmark.targets.get(query_id, [])]
    return unmeasured_languages({**_answers(run, plan), read: documents[:_MOST], "targets": targets}, judges)


def _answers(run: Folder, plan: Plan) -> dict[str, list[str]]:
    """Return the texts of each system."""
    work_ids = [*(one.work_id for one in plan.of(Released)), *(one.work_id for one in plan.of(Summarized))]
    found: dict[str, list[str]] = {}
    for batch in run.batches("summaries", work_ids=work_ids, columns=["summarizer", "setting", "step", "text"]):
        for row in batch.to_pylist():
            if row["step"] is None:
                system = SystemName(row["summarizer"], row["setting"])
                found.setdefault(f"answers of {system}", []).append(row["text"] or "")
    return found


def _documents(benchmark: Benchmark, plan: Plan) -> Iterator[str]:
    if benchmark.manifest["rows"]["documents"]:
        for haystack_id in dict.fromkeys(benchmark.queries[query_id].haystack_id for query_id in plan.query_ids):
            yield from benchmark.rows("documents", haystack_id, ["text"])["text"].to_pylist()
