"""
Repair by a support judge: `summaries` x `verdicts` of the check -> `summaries`, twins that cite what the verdicts say.

The verdicts are those that the check stage stored; nothing is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.stages.check import Checked, Source
from jobs.stages.items import PartReader, plan
from jobs.stages.runner import Row, Stage, Task
from longform.judges.kinds.support import SUPPORT
from longform.keys import content_key
from longform.repair import by_judge as judged_citations
from longform.repair.by_judge import How, JudgedText, Support, judge_threshold, judged_text
from longform.repair.twins import twin, twin_label
from longform.settings.experiment import Experiment
from longform.settings.judges import whole_identity

_SUMMARIES_A_TASK = 64
_COLUMNS = ["work_id", "unit_index", "target_id", "answer", "probability"]
_SUMMARIES_AT_ONCE = 64


def judge_key(experiment: Experiment, name: str, version: str) -> str:
    """What the twins by judge *name* are; *version* is that of what makes its answers."""
    settings = experiment.support_judges[name]
    how = whole_identity(settings, experiment.judges)
    return content_key(judged_citations.VERSION, name, how, version, judge_threshold(settings))


def judged_repair_stage(run: Folder, bench_url: str, experiment: Experiment, name: str, *, by: str) -> Stage:
    threshold = judge_threshold(experiment.support_judges[name])
    return Stage(
        name="repair",
        table="summaries",
        identity=content_key(run.url, bench_url, by),
        make_worker=partial(_repairer, run, bench_url, by, name, threshold),
    )


def judged_repair_tasks(
    run: Folder, benchmark: Benchmark, name: str, checks: Mapping[Checked, Source], repaired: Mapping[str, str]
) -> list[Task]:
    """The tasks for twins that are not there yet; the verdicts of judge *name* are."""
    verdicts = run.locate("verdicts")
    items = []
    for summary, twin_work_id in repaired.items():
        source = checks[Checked(summary, name)]
        items.append(
            {
                "work_id": twin_work_id,
                "source": summary,
                "verdicts": source.work_id,
                "verdicts_part": verdicts[source.work_id],
                "haystack_id": benchmark.queries[source.query_id].haystack_id,
            }
        )
    return plan(run, "summaries", run, "summaries", items, per_task=_SUMMARIES_A_TASK)


def _repairer(run: Folder, bench_url: str, by: str, name: str, threshold: float) -> Any:
    summaries, verdicts, benchmark = PartReader(run), PartReader(run), Benchmark(bench_url)

    def twins(payload: Mapping[str, Any]) -> Iterator[Row]:
        for item in payload["items"]:
            numbers = _numbers(benchmark, item["haystack_id"])
            support = support_of(verdicts.rows(item["verdicts_part"], item["verdicts"]), numbers)
            for summary in summaries.rows(item["part"], item["source"]):
                if summary.get("step") is None:
                    found = _judged(summary, support, threshold)
                    text = None if found is None else found.text
                    yield twin(summary, text, by=by, cited_by=name) | {"work_id": item["work_id"]}

    return twins


def _judged(summary: Row, support: Mapping[int, Support], threshold: float) -> JudgedText | None:
    return None if summary["text"] is None else judged_text(summary["text"], support, threshold)


def _numbers(benchmark: Benchmark, haystack_id: str) -> dict[str, int]:
    return {document.doc_id: document.number for document in benchmark.documents(haystack_id)}


def support_of(verdicts: Iterable[Row], numbers: Mapping[str, int]) -> dict[int, dict[int, float | None]]:
    """
    What a judge says of each unit of a summary: unit index -> document number -> its number, None where unjudged.

    Args:
        verdicts: Rows with `unit_index`, `target_id`, `answer`, `probability`.
        numbers: Document id -> what the document is cited by.
    """
    found: dict[int, dict[int, float | None]] = {}
    for row in verdicts:
        value = SUPPORT.number(row["answer"], row["probability"])
        found.setdefault(row["unit_index"], {})[numbers[row["target_id"]]] = value
    return found


# ---------------------------------------------------------------- for the report


def judge_driver(
    run: Folder, benchmark: Benchmark, experiment: Experiment, name: str, checks: Mapping[Checked, Source]
) -> dict[str, Any]:
    """What the report says of the judge that drove the citations, with how many bullets came by theirs in which way."""
    threshold = judge_threshold(experiment.support_judges[name])
    hows = _hows(run, benchmark, [(c.summary, s) for c, s in checks.items() if c.judge == name], threshold)
    return {
        "by": name,
        "label": twin_label(name),
        "threshold": threshold,
        "bullets": judged_citations.counts(hows),
    }


def _hows(run: Folder, benchmark: Benchmark, checked: list[tuple[str, Source]], threshold: float) -> Iterator[How]:
    """The verdicts of a few summaries are in memory at a time."""
    summaries, verdicts = run.snapshot("summaries"), run.snapshot("verdicts")
    checked = sorted(checked, key=lambda one: verdicts.located[one[1].work_id])  # those of one part together
    for start in range(0, len(checked), _SUMMARIES_AT_ONCE):
        chunk = dict(checked[start : start + _SUMMARIES_AT_ONCE])
        said: dict[str, list[Row]] = {}
        of_chunk = [source.work_id for source in chunk.values()]
        for row in verdicts.read(work_ids=of_chunk, columns=_COLUMNS).to_pylist():
            said.setdefault(row["work_id"], []).append(row)
        for summary in summaries.read(work_ids=list(chunk), columns=["work_id", "step", "text"]).to_pylist():
            source = chunk[summary["work_id"]]
            numbers = _numbers(benchmark, benchmark.queries[source.query_id].haystack_id)
            support = support_of(said.get(source.work_id, []), numbers)
            found = _judged(summary, support, threshold) if summary["step"] is None else None
            yield from found.hows if found else ()
