"""Judge: `units` x targets -> `verdicts`. N:M; a judgement that cannot be read is null with its reason."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

from actors.chat.call_context import CallContext
from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.calling import Calling, open_rows
from jobs.stages.items import Item, PartReader, plan
from jobs.stages.runner import Row, Stage, Task
from jobs.stages.split import unit_work_id
from longform.judges.kind import Kind
from longform.judges.matrix import JudgedText, TargetText
from longform.keys import content_key
from longform.results.aggregate import SummaryInfo
from longform.settings.experiment import Experiment, UnitKind
from longform.settings.judges import JudgeSettings

_OFFLINE_SUMMARIES_A_TASK = 64
_CHAT_SUMMARIES_A_TASK = 1  # so that a slow call holds back its own summary only


class Judged(NamedTuple):
    """One summary, by its work id, under one judge."""

    summary: str
    judge: str


def verdict_work_ids(
    experiment: Experiment, summaries: Iterable[str], versions: Mapping[str, str]
) -> dict[Judged, str]:
    """
    Every judgement the experiment asks a judge for -> its work id; a mean of judges is asked nothing.

    Args:
        experiment: Whose judges.
        summaries: Work ids of summaries.
        versions: Judge -> version of what makes its answers: its prompt, or its code.
    """
    return {
        Judged(summary, name): content_key(
            "verdicts", unit_work_id(summary, experiment.units), name, settings.identity, versions[name]
        )
        for name, settings in experiment.judges_of("coverage").items()
        if not settings.members
        for summary in summaries
    }


def judge_stage(
    run: Folder, bench_url: str, name: str, settings: JudgeSettings, prompts: str | None, *, calling: Calling
) -> Stage:
    chat = settings.asked_model
    context = calling.context(f"judge {name}")
    return Stage(
        name=f"judge {name}",
        table="verdicts",
        identity=content_key(run.url, bench_url, name, settings.model_dump(), prompts),
        make_worker=partial(_worker, run, bench_url, name, settings, prompts=prompts, context=context),
        holds_model=chat is not None or settings.kind == "python",
        asynchronous=chat is not None,
        slots=open_rows(chat) if chat else 1,
    )


def judge_tasks(
    run: Folder,
    name: str,
    settings: JudgeSettings,
    *,
    wanted: Mapping[Judged, str],
    infos: Mapping[str, SummaryInfo],
    benchmark: Benchmark,
    units: UnitKind,
) -> list[Task]:
    """The tasks of one judge that are not done; *infos* are by summary work id."""
    items = [
        {
            "work_id": work_id,
            "source": unit_work_id(judged.summary, units),
            "summary_id": infos[judged.summary].summary_id,
            "query_id": infos[judged.summary].query_id,
            "haystack_id": benchmark.queries[infos[judged.summary].query_id].haystack_id,
            "failure": infos[judged.summary].failure,
        }
        for judged, work_id in wanted.items()
        if judged.judge == name
    ]
    per_task = _CHAT_SUMMARIES_A_TASK if settings.asked_model else _OFFLINE_SUMMARIES_A_TASK
    return plan(run, "units", run, "verdicts", items, per_task=per_task)


def _worker(
    run: Folder, bench_url: str, name: str, settings: JudgeSettings, *, prompts: str | None, context: CallContext
) -> Any:
    from actors.judges.opening import make_judge
    from actors.judges.rows import judged_rows

    reader, benchmark = PartReader(run), Benchmark(bench_url)
    made = make_judge(name, {name: settings}, prompts=prompts)
    backend = made.open(context, 1)

    async def judge(payload: Mapping[str, Any]) -> list[Row]:
        return await judged_rows(made, backend, [summary(item) for item in payload["items"]])

    def summary(item: Item) -> JudgedText:
        units = [] if item["failure"] else [unit["text"] for unit in reader.rows(item["part"], item["source"])]
        return judged_summary(made.kind, item, units, benchmark)

    return judge


def judged_summary(kind: Kind, item: Item, units: Iterable[str], benchmark: Benchmark) -> JudgedText:
    """Put a summary's lines beside its query's targets."""
    targets = [target for target in benchmark.targets.get(item["query_id"], []) if target.kind == kind.targets]
    others = benchmark.haystack_targets(item["haystack_id"])
    return JudgedText(
        work_id=item["work_id"],
        summary_id=item["summary_id"],
        units=tuple(map(kind.unit, units)),
        targets=tuple(TargetText(target.kind, target.target_id, target.text) for target in targets),
        background=tuple(target.text for target in others if target.kind == kind.targets),
        failure=item["failure"],
    )
