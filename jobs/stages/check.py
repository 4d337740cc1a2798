"""
Check: `units` x documents -> `verdicts` of support judges. N:M; a cell that cannot be judged is null with its reason.

A summary is checked against exactly the documents of its prompt. The rows of a task are one query's summaries, so that
each distinct (document, sentence) pair is judged once, whichever summaries say the sentence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

from actors.chat.call_context import CallContext
from actors.chat.opening import load_prompt
from actors.judges.opening_support import code_version
from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.calling import Calling, open_rows
from jobs.stages.items import Item, PartReader
from jobs.stages.runner import Row, Stage, Task
from jobs.stages.split import unit_work_id
from longform.judges.support_prompts import SupportGroup, SupportVerdict
from longform.keys import content_key
from longform.results.aggregate import SummaryInfo
from longform.settings.experiment import Experiment
from longform.settings.judges import AskedSupportJudgeSettings, ChatSupportJudgeSettings, MeanSupportJudgeSettings
from longform.text.citations import without_citations

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
        if isinstance(settings, MeanSupportJudgeSettings):
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
    settings: AskedSupportJudgeSettings,
    *,
    calling: Calling,
    threads: int,
) -> Stage:
    chat = settings.chat if isinstance(settings, ChatSupportJudgeSettings) else None
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


class ShownText(NamedTuple):
    """One text that a summary is checked against: a document, or as much of it as the prompt held."""

    kind: Literal["document", "context"]
    target_id: str
    text: str
    doc_position: int | None  # in the prompt; None: all documents joined


class CheckedText(NamedTuple):
    """A summary with the texts it is checked against."""

    item: Item
    sentences: list[str]  # in their order, without citations
    texts: list[ShownText]


class CheckReader:
    """Reads what the items of check tasks name."""

    def __init__(self, run: Folder, bench_url: str, mode: str) -> None:
        self._units, self._contexts, self._mode = PartReader(run), PartReader(run), mode
        self._benchmark = Benchmark(bench_url)

    def summary(self, item: Item) -> CheckedText:
        rows = sorted(self._units.rows(item["units_part"], item["units"]), key=lambda row: row["unit_index"])
        (packed,) = self._contexts.rows(item["context_part"], item["context"])
        documents = {document.doc_id: document.text for document in self._benchmark.documents(item["haystack_id"])}
        return CheckedText(item, [claim(row["text"]) for row in rows], texts_of(packed, documents, self._mode))


def _worker(
    run: Folder,
    bench_url: str,
    name: str,
    settings: AskedSupportJudgeSettings,
    mode: str,
    *,
    prompts: str | None,
    context: CallContext,
    threads: int,
) -> Any:
    from actors.judges.opening_support import make_support_judge

    reader, version = CheckReader(run, bench_url, mode), _version(settings, prompts)
    ask = make_support_judge(name, settings, prompts=prompts, context=context, threads=threads)

    async def check(payload: Mapping[str, Any]) -> list[Row]:
        summaries = [reader.summary(item) for item in payload["items"]]
        groups = support_groups(summaries)
        verdicts = {
            (group.text, sentence): verdict
            for group, found in zip(groups, await ask(groups), strict=True)
            for sentence, verdict in zip(group.sentences, found, strict=True)
        }
        found = (row for summary in summaries for row in _rows(name, mode, summary, verdicts))
        return [row | {"prompt_version": version} for row in found]

    return check


def _version(settings: AskedSupportJudgeSettings, prompts: str | None) -> str:
    if isinstance(settings, ChatSupportJudgeSettings):
        return load_prompt(settings.prompt, prompts).version
    return code_version(settings)


def claim(unit: str) -> str:
    """What a unit says, without its citations and the mark of a list."""
    return without_citations(unit).lstrip("-*• ")


def support_groups(summaries: Sequence[CheckedText]) -> list[SupportGroup]:
    """Each text once, with the distinct sentences of all summaries that are checked against it."""
    sentences: dict[str, dict[str, None]] = {}
    for summary in summaries:
        for shown in summary.texts:
            sentences.setdefault(shown.text, {}).update(dict.fromkeys(summary.sentences))
    return [SupportGroup(content_key(text), text, tuple(said)) for text, said in sentences.items()]


def texts_of(packed: Row, documents: Mapping[str, str], mode: str) -> list[ShownText]:
    """
    Return what a summary of the context *packed* is checked against, in the order of the prompt.

    These are the documents, each as far as the prompt held it; in mode full one text, all of them joined.
    """
    in_prompt = zip(packed["doc_ids"], packed["doc_chars"], strict=True)
    shown = [
        ShownText("document", doc_id, documents[doc_id][:chars], place)
        for place, (doc_id, chars) in enumerate(in_prompt)
    ]
    if mode == "full":
        return [ShownText("context", packed["context_id"], SEPARATOR.join(one.text for one in shown), None)]
    return shown


def _rows(name: str, mode: str, summary: CheckedText, verdicts: Mapping[tuple[str, str], SupportVerdict]) -> list[Row]:
    return [
        {
            "work_id": summary.item["work_id"],
            "judge": name,
            "summary_id": summary.item["summary_id"],
            "unit_index": index,
            "target_kind": shown.kind,
            "target_id": shown.target_id,
            "mode": mode,
            "doc_position": shown.doc_position,
            "text_index": text_index,
            "repeat": 0,
            **verdict._asdict(),
        }
        for text_index, shown in enumerate(summary.texts)
        for index, sentence in enumerate(summary.sentences)
        for verdict in [verdicts[shown.text, sentence]]
    ]
