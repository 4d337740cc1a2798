"""
Check: `units` x documents -> `verdicts` of support judges. N:M; a cell that cannot be judged is null with its reason.

A summary is checked against exactly the documents of its prompt. The rows of a task are one query's summaries, so that
each distinct (document, sentence) pair is judged once, whichever summaries say the sentence.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

from actors.chat.call_context import CallContext
from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.calling import Calling, open_rows
from jobs.stages.items import Item, PartReader
from jobs.stages.runner import Row, Stage, Task
from jobs.stages.split import unit_work_id
from longform.judges.kinds.support import SUPPORT
from longform.judges.matrix import JudgedText, TargetText
from longform.keys import content_key
from longform.results.aggregate import SummaryInfo
from longform.settings.experiment import Experiment
from longform.settings.judges import JudgeSettings

SEPARATOR = "\n====\n"
"""Between the documents of a prompt that is judged as one text."""


class Checked(NamedTuple):
    """One summary, by its work id, under one support judge."""

    summary: str
    judge: str


class Source(NamedTuple):
    """What a check reads: the work ids of the units and of the context that holds the documents."""

    work_id: str
    units: str
    context: str
    query_id: str


def check_work_ids(
    experiment: Experiment, contexts: Mapping[str, tuple[str, str]], versions: Mapping[str, str]
) -> dict[Checked, Source]:
    """
    Every check that the experiment asks somebody for -> its work id and sources; means follow from these.

    Args:
        experiment: Whose support judges.
        contexts: Summary work id -> (context work id, query id).
        versions: Support judge -> version of what makes its answers.
    """
    mode = experiment.faithfulness.mode
    found = {}
    for name, settings in experiment.support_judges.items():
        if settings.members:
            continue
        for summary, (context, query_id) in contexts.items():
            units = unit_work_id(summary, experiment.units)
            work_id = content_key("support", units, context, name, settings.identity, versions[name], mode)
            found[Checked(summary, name)] = Source(work_id, units, context, query_id)
    return found


def check_stage(
    run: Folder,
    bench_url: str,
    experiment: Experiment,
    name: str,
    settings: JudgeSettings,
    *,
    calling: Calling,
    threads: int,
) -> Stage:
    chat = settings.asked_model
    mode = experiment.faithfulness.mode
    context = calling.context(f"check {name}")
    return Stage(
        name=f"check {name}",
        table="verdicts",
        identity=content_key(run.url, bench_url, name, settings.model_dump(), experiment.prompts, mode, threads),
        make_worker=partial(
            _worker, run, bench_url, name, settings, mode, prompts=experiment.prompts, context=context, threads=threads
        ),
        holds_model=True,
        asynchronous=chat is not None,
        slots=open_rows(chat) if chat else 1,
    )


def check_tasks(
    run: Folder, name: str, wanted: Mapping[Checked, Source], infos: Mapping[str, SummaryInfo], benchmark: Benchmark
) -> list[Task]:
    """The tasks of one support judge that are not done, one a query; *infos* are by summary work id."""
    done = run.locate("verdicts")
    parts = {table: run.locate(table) for table in ("units", "contexts")}
    by_query: dict[str, list[Item]] = {}
    for checked, source in wanted.items():
        if checked.judge == name and source.work_id not in done:
            info = infos[checked.summary]
            item = {
                "work_id": source.work_id,
                "summary_id": info.summary_id,
                "haystack_id": benchmark.queries[source.query_id].haystack_id,
                "units": source.units,
                "units_part": parts["units"][source.units],
                "context": source.context,
                "context_part": parts["contexts"][source.context],
            }
            by_query.setdefault(source.query_id, []).append(item)
    return [
        Task(work_ids=tuple(item["work_id"] for item in items), payload={"items": items}) for items in by_query.values()
    ]


class CheckReader:
    """Reads what the items of check tasks name."""

    def __init__(self, run: Folder, bench_url: str, mode: str) -> None:
        self._units, self._contexts, self._mode = PartReader(run), PartReader(run), mode
        self._benchmark = Benchmark(bench_url)

    def summary(self, item: Item) -> JudgedText:
        rows = sorted(self._units.rows(item["units_part"], item["units"]), key=lambda row: row["unit_index"])
        (packed,) = self._contexts.rows(item["context_part"], item["context"])
        documents = {document.doc_id: document.text for document in self._benchmark.documents(item["haystack_id"])}
        return JudgedText(
            work_id=item["work_id"],
            summary_id=item["summary_id"],
            units=tuple(SUPPORT.unit(row["text"]) for row in rows),
            targets=tuple(texts_of(packed, documents, self._mode)),
            mode=self._mode,
        )


def _worker(
    run: Folder,
    bench_url: str,
    name: str,
    settings: JudgeSettings,
    mode: str,
    *,
    prompts: str | None,
    context: CallContext,
    threads: int,
) -> Any:
    from actors.judges.opening import make_judge
    from actors.judges.rows import judged_rows

    reader, judge = CheckReader(run, bench_url, mode), make_judge(name, {name: settings}, prompts=prompts)
    backend = judge.open(context, threads)

    async def check(payload: Mapping[str, Any]) -> list[Row]:
        return await judged_rows(judge, backend, [reader.summary(item) for item in payload["items"]])

    return check


def texts_of(packed: Row, documents: Mapping[str, str], mode: str) -> list[TargetText]:
    """
    Return what a summary of the context *packed* is checked against, in the order of the prompt.

    These are the documents, each as far as the prompt held it; in mode full one text, all of them joined.
    """
    in_prompt = zip(packed["doc_ids"], packed["doc_chars"], strict=True)
    shown = [
        TargetText("document", doc_id, documents[doc_id][:chars], place)
        for place, (doc_id, chars) in enumerate(in_prompt)
    ]
    if mode == "full":
        return [TargetText("context", packed["context_id"], SEPARATOR.join(one.text for one in shown), None)]
    return shown
