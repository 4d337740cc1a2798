"""
Judge: `units` x what they are judged against -> `verdicts`. N:M; what cannot be judged is null with its reason.

The kind of a judge says what a summary is judged against: the targets of its query, or exactly the documents of its
prompt. The second is called check. A task of it has one query's summaries, so that each distinct (document, sentence)
pair is judged once, whichever summaries say the sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple, Self

from actors.chat.opening import Asking
from actors.judges.backend import Remembering, judged_rows, rounds_of
from actors.judges.opening import Judge, kind_of, make_judge
from actors.storage.benchmark import Benchmark
from jobs.stages.items import Given, Item, RowPlace, Source, SourceReader
from jobs.stages.judged_texts import CheckedHaystack, SummaryToJudge, checked_summary, judged_summary, texts_of
from jobs.stages.split import UnitsOf
from jobs.stages.stage import OfQuery, Plan, Plans, Site, Stage, Works
from longform.chat.asking import Asks
from longform.judges.kind import Kind
from longform.judges.matrix import CITED_FIRST_VERSION, JudgedText
from longform.judges.merges import CITED
from longform.keys import content_key, in_groups
from longform.rows import ContextRow, SummaryRow, UnitRow, VerdictRow
from longform.schemas import DOCUMENTS, TARGETS
from longform.settings.chat import ChatSettings
from longform.settings.experiment import Experiment
from longform.settings.judges import JudgeSettings
from longform.settings.strict import ResourcesSettings

_OFFLINE_SUMMARIES_A_TASK = 64
_CHAT_SUMMARIES_A_TASK = 1  # so that a slow call holds back its own summary only
_HAYSTACKS_HELD = 2

_OF_ALL = (
    "work_id", "judge", "summary_id", "target_kind", "target_id", "mode", "repeat", "answer", "probability", "failure",
    "reply", "prompt_version", "call_id",
)  # fmt: skip
_OF_PAIRS = ("unit_index", "doc_position", "text_index")

_READ = {
    "units": ("unit_index", "text"),
    "summaries": ("summary_id", "query_id", "haystack_id", "step", "failure"),
}
_IN_PROMPT = ("context_id", "order", "doc_ids", "doc_chars")

Texts = Callable[[Given["Judged"]], JudgedText]
"""Reads what an item is about."""


class Judged(NamedTuple):
    """The verdicts of one judge on one summary."""

    summary: str  # its work id
    judge: str
    query_id: str
    # work id of the context whose documents it is judged against; None: the targets of the query
    context: str | None = None
    repeat: int = 0  # of the question, from 0


def columns_of(kind: Kind, *more: str) -> Collection[str]:
    """Return the columns of the verdicts of a kind, and *more*."""
    return (*_OF_ALL, *(_OF_PAIRS if kind.of_documents else ("linked_unit",)), *more)


def checks_of(plan: Plan) -> list[Item[Judged]]:
    """Return the verdicts on documents of prompts."""
    return [item for item in plan.of(Judged) if item.key.context is not None]


def with_repeats(items: Iterable[Item[Judged]]) -> list[list[Item[Judged]]]:
    """Return the verdicts of each summary and judge together: one item, or its repeats in their order."""
    found = in_groups((item.key._replace(repeat=0), item) for item in items)
    return [sorted(of, key=lambda item: item.key.repeat) for of in found.values()]


@dataclass(frozen=True, kw_only=True)
class JudgeStage(Stage[Judged]):
    """Makes the verdicts of one judge."""

    table = "verdicts"

    judge: str
    settings: JudgeSettings

    @property
    def kind(self) -> Kind:
        return kind_of(self.settings)

    @property
    def judged_by(self) -> str:
        return self.judge

    @property
    def step(self) -> str:
        return self.kind.step

    @property
    def name(self) -> str:
        return f"{self.step} {self.judge}"


@dataclass(frozen=True, kw_only=True)
class AskJudge(JudgeStage):
    """Asks one judge about summaries; a mean of judges is asked nothing."""

    bench: str  # URL
    version: str  # changes with what makes its verdicts beside its settings
    mode: str  # the documents that a sentence is checked against, as `faithfulness` says
    threads: int  # those of a local model

    @property
    def reads(self) -> Mapping[str, Collection[str]]:
        if self.kind.of_documents:
            units = (*_READ["units"], *(["citations"] if self.mode == CITED else []))
            return {**_READ, "units": units, "contexts": _IN_PROMPT, "documents": DOCUMENTS.names}
        return {**_READ, "targets": TARGETS.names}

    @property
    def columns(self) -> Collection[str]:
        return columns_of(self.kind, "chunk_index")

    @property
    def chat(self) -> ChatSettings | None:
        return self.settings.asked_model

    @property
    def holds_model(self) -> bool:
        return self.kind.of_documents or self.settings.costs is not None

    @property
    def requests_at_once(self) -> int | None:
        return self.settings.requests_at_once

    @property
    def embeds(self) -> bool:
        return self.kind.of_documents and self.settings.costs is None

    @property
    def resources(self) -> ResourcesSettings | None:
        return self.settings.asked_resources

    def on_cores(self, cores: int) -> Self:
        return replace(self, threads=cores) if self.settings.is_lexical or self.settings.fitted_model else self

    @property
    def per_task(self) -> int:
        return _OFFLINE_SUMMARIES_A_TASK if self.chat is None else _CHAT_SUMMARIES_A_TASK

    def items(self, plan: Plan) -> list[Item[Judged]]:
        summaries, kind = plan.written(), self.kind
        return [
            self._item(kind, units, summaries[units.key.summary], repeat)
            for units in plan.of(UnitsOf)
            if units.key.summary in summaries and (summaries[units.key.summary].sources or not kind.of_documents)
            for repeat in range(self.settings.times)
        ]

    def _item(self, kind: Kind, units: Item[UnitsOf], summary: Item[OfQuery], repeat: int) -> Item[Judged]:
        shown, mode = (summary.sources, [self.mode]) if kind.of_documents else ((), [])
        mode += [f"cited first {CITED_FIRST_VERSION}"] if mode == [CITED] else []
        how = [self.judge, self.settings.identity, self.version, *mode, *([f"repeat {repeat}"] if repeat else [])]
        work_id = content_key(kind.work, units.work_id, *(context.work_id for context in shown), *how)
        context = next((context.work_id for context in shown), None)
        key = Judged(summary.work_id, self.judge, summary.key.query_id, context, repeat)
        return Item(work_id, key, (Source("units", units.work_id), *shown, Source("summaries", summary.work_id)))

    def groups(self, given: Sequence[Given[Judged]]) -> Iterable[Sequence[Given[Judged]]]:
        """
        Give the items of each task; of documents the summaries of one query one after the other.

        If many tasks are open at once, they share one: no two may ask the same. Else a task is one summary,
        so that little is lost with a command that is stopped.
        """
        if not self.kind.of_documents:
            return super().groups(given)
        by_query = in_groups((one.key.query_id, one) for one in given)
        return by_query.values() if self.asynchronous else [[one] for of in by_query.values() for one in of]

    def made(self) -> Judge:
        """Return the judge; nothing is loaded."""
        return make_judge(self.judge, {self.judge: self.settings}, prompts=self.prompts)

    def plans(self, asking: Asking, reader: SourceReader) -> Plans[Judged]:
        judge, texts = self.made(), self._texts(reader)
        asked = judge.asking(asking)

        def plan(given: Sequence[Given[Judged]]) -> Asks[list[VerdictRow]]:
            rounds = rounds_of(judge, [texts(one) for one in given])
            try:
                groups = next(rounds)
                while True:
                    groups = rounds.send((yield from asked.plan(groups)))
            except StopIteration as ended:
                rows: list[VerdictRow] = ended.value
                return rows

        return lambda given: [plan(given)]

    def worker(self, reader: SourceReader) -> Works[Judged]:
        judge, texts = self.made(), self._texts(reader)
        assert self.context is not None, "a judge is opened for a command"
        backend = judge.open(self.context, self.threads)
        if self.kind.of_documents and not self.asynchronous:
            backend = Remembering(self.kind, backend)

        async def work(given: Sequence[Given[Judged]]) -> list[VerdictRow]:
            return await judged_rows(judge, backend, [texts(one) for one in given])

        return work

    def _texts(self, reader: SourceReader) -> Texts:
        kind, benchmark = self.kind, Benchmark(self.bench)

        @lru_cache(maxsize=_HAYSTACKS_HELD)
        def haystack(haystack_id: str) -> CheckedHaystack:
            return CheckedHaystack(benchmark.documents(haystack_id))

        def text(given: Given[Judged]) -> JudgedText:
            units, *context, summary = given.sources
            (row,) = (row for row in reader.rows(summary, SummaryRow) if row["step"] is None)
            of_summary = (
                [] if row["failure"] else sorted(reader.rows(units, UnitRow), key=lambda unit: unit["unit_index"])
            )
            item: SummaryToJudge = {
                "work_id": given.work_id,
                "summary_id": row["summary_id"],
                "query_id": row["query_id"],
                "haystack_id": row["haystack_id"],
                "failure": row["failure"],
            }
            return against(item, of_summary, given.key.repeat, *context)

        def against(item: SummaryToJudge, of: Sequence[UnitRow], repeat: int, at: RowPlace | None = None) -> JudgedText:
            units = [unit["text"] for unit in of]
            if at is None:
                judged = judged_summary(kind, item, units, benchmark, self.settings.asks_about)
                return judged._replace(repeat=repeat)
            documents = haystack(item["haystack_id"])
            texts = texts_of(reader.row(at, ContextRow), documents.texts, self.mode)
            judged = checked_summary(kind, item, units, texts, mode=self.mode)._replace(repeat=repeat)
            if self.mode != CITED:
                return judged
            return documents.cited_first(judged, [unit["citations"] for unit in of])

        return text


def stages(experiment: Experiment, site: Site) -> list[AskJudge]:
    """Return a stage for each judge that is asked."""
    return [
        _stage(experiment, site, name, settings) for name, settings in experiment.judges.items() if not settings.members
    ]


def _stage(experiment: Experiment, site: Site, name: str, settings: JudgeSettings) -> AskJudge:
    made = make_judge(name, experiment.judges, prompts=experiment.prompts)
    return AskJudge(
        run=site.run,
        bench=site.bench,
        judge=name,
        settings=settings,
        version=made.version.work,
        mode=experiment.support_mode,
        prompts=experiment.prompts,
        threads=site.threads,
    )
