"""
Judge: `units` x what they are judged against -> `verdicts`. N:M; what cannot be judged is null with its reason.

The kind of a judge says what a summary is judged against: the targets of its query, or exactly the documents of its
prompt. The second is called check. A task of it has one query's summaries, so that each distinct (document, sentence)
pair is judged once, whichever summaries say the sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Self, TypedDict

import numpy as np

from actors.chat.opening import Asking
from actors.judges.backend import Remembering, judged_rows, rounds_of
from actors.judges.opening import Judge, make_judge
from actors.storage.benchmark import Benchmark
from jobs.stages.items import Item, Source, SourceReader
from jobs.stages.split import UnitsOf
from jobs.stages.stage import OfQuery, Plan, Plans, Site, Works
from jobs.stages.verdicts import Judged, JudgeStage, columns_of
from longform.chat.asking import Asks
from longform.judges.kind import Kind
from longform.judges.matrix import CITED_FIRST_VERSION, JudgedText, TargetText, cited_first
from longform.judges.merges import CITED
from longform.keys import content_key, in_groups
from longform.records import Document
from longform.retrieval.bm25 import Bm25, stem_documents
from longform.rows import ContextRow, SummaryRow, UnitRow, VerdictRow
from longform.schemas import DOCUMENTS, TARGETS
from longform.settings.chat import ChatSettings
from longform.settings.experiment import Experiment
from longform.settings.judges import JudgeSettings
from longform.settings.strict import ResourcesSettings
from longform.text.words import stems

_OFFLINE_SUMMARIES_A_TASK = 64
_CHAT_SUMMARIES_A_TASK = 1  # so that a slow call holds back its own summary only
_HAYSTACKS_HELD = 2

_READ = {"units": ("unit_index", "text"), "summaries": ("summary_id", "query_id", "haystack_id", "step", "failure")}
_IN_PROMPT = ("context_id", "order", "doc_ids", "doc_chars")

Texts = Callable[[Item[Judged]], JudgedText]
"""Reads what an item is about."""


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

    def groups(self, given: Sequence[Item[Judged]]) -> Iterable[Sequence[Item[Judged]]]:
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

        def plan(given: Sequence[Item[Judged]]) -> Asks[list[VerdictRow]]:
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
        return lambda given: judged_rows(judge, backend, [texts(one) for one in given])

    def _texts(self, reader: SourceReader) -> Texts:
        kind, benchmark = self.kind, Benchmark(self.bench)

        @lru_cache(maxsize=_HAYSTACKS_HELD)
        def haystack(haystack_id: str) -> CheckedHaystack:
            return CheckedHaystack(benchmark.documents(haystack_id))

        def text(given: Item[Judged]) -> JudgedText:
            lines_at, *context_at, summary_at = given.sources
            (summary,) = (row for row in reader.rows(summary_at, SummaryRow) if row["step"] is None)
            rows = [] if summary["failure"] else reader.rows(lines_at, UnitRow)
            lines = sorted(rows, key=lambda unit: unit["unit_index"])
            item: SummaryRow = {**summary, "work_id": given.work_id}
            units = [line["text"] for line in lines]
            if not context_at:
                judged = judged_summary(kind, item, units, benchmark, self.settings.asks_about)
                return judged._replace(repeat=given.key.repeat)
            documents = haystack(summary["haystack_id"])
            judged = JudgedText(
                work_id=given.work_id,
                summary_id=summary["summary_id"],
                units=tuple(map(kind.unit, units)),
                targets=tuple(texts_of(reader.row(context_at[0], ContextRow), documents.texts, self.mode)),
                mode=self.mode,
                failure=summary["failure"],
                repeat=given.key.repeat,
            )
            if self.mode != CITED:
                return judged
            return documents.cited_first(judged, [line["citations"] for line in lines])

        return text


def stages(experiment: Experiment, site: Site) -> list[AskJudge]:
    """Return a stage for each judge that is asked."""
    return [
        _stage(experiment, site, name, settings) for name, settings in experiment.judges.items() if not settings.members
    ]


def _stage(experiment: Experiment, site: Site, name: str, settings: JudgeSettings) -> AskJudge:
    made = make_judge(name, experiment.judges, prompts=experiment.prompts)
    return AskJudge(
        run=site.run, bench=site.bench, judge=name, settings=settings, version=made.version.work,
        mode=experiment.support_mode, prompts=experiment.prompts, threads=site.threads,
    )  # fmt: skip


# ---------------------------------------------------------------- what a summary is judged against


SEPARATOR = "\n====\n"
"""Between the documents of a prompt that is judged as one text."""

_K1, _B = 1.5, 0.75  # as retriever bm25 has them by default


class SummaryToJudge(TypedDict):
    """A summary, but for its lines."""

    work_id: str  # the one of its verdicts
    summary_id: str
    query_id: str
    haystack_id: str
    failure: str | None  # why there is no summary; None: there is one


def judged_summary(
    kind: Kind,
    item: SummaryToJudge,
    units: Iterable[str],
    benchmark: Benchmark,
    asks_about: Callable[[int], bool] = lambda _: True,
) -> JudgedText:
    """Put a summary's lines beside those of its query's targets that the judge asks about, by their places."""
    of_query = [target for target in benchmark.targets.get(item["query_id"], []) if target.kind == kind.targets]
    targets = [target for target in of_query if asks_about(target.target_index)]
    others = benchmark.haystack_targets(item["haystack_id"])
    return JudgedText(
        work_id=item["work_id"],
        summary_id=item["summary_id"],
        units=tuple(map(kind.unit, units)),
        targets=tuple(TargetText(target.kind, target.target_id, target.text) for target in targets),
        background=tuple(target.text for target in others if target.kind == kind.targets),
        failure=item["failure"],
        query=benchmark.queries[item["query_id"]].text if kind.shows_query else "",
    )


class CheckedHaystack:
    """The documents of a haystack, and an index that finds those nearest to a sentence; it is made when it is asked."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self.texts = {document.doc_id: document.text for document in documents}
        self._rows = {document.doc_id: row for row, document in enumerate(documents)}
        self._ids = {document.number: document.doc_id for document in documents}

    @cached_property
    def _index(self) -> Bm25:
        return Bm25(stem_documents(self.texts.values()), k1=_K1, b=_B)

    def cited_first(self, judged: JudgedText, citations: Iterable[Sequence[int]]) -> JudgedText:
        """Let a summary be checked by what its units cite first; *citations* are the numbers of each."""
        places = {target.target_id: place for place, target in enumerate(judged.targets)}
        cited = [{places[one] for n in of if (one := self._ids.get(n)) in places} for of in citations]
        rows = [self._rows[target.target_id] for target in judged.targets]

        def nearest(sentence: str) -> Iterable[int]:
            order: list[int] = np.argsort(-self._index.scores(stems(sentence))[rows], kind="stable").tolist()
            return order

        return cited_first(judged, cited, nearest)


def texts_of(packed: ContextRow, documents: Mapping[str, str], mode: str) -> list[TargetText]:
    """
    Return what a summary of the context *packed* is checked against, in the order of the prompt.

    These are the documents, each as far as the prompt held it; in mode full one text, all of them joined. They have no
    place if it is not known in which order the prompt held them.
    """
    ordered = packed["order"] is not None
    in_prompt = zip(packed["doc_ids"], packed["doc_chars"], strict=True)
    shown = [
        TargetText("document", doc_id, documents[doc_id][:chars], place if ordered else None)
        for place, (doc_id, chars) in enumerate(in_prompt)
    ]
    if mode == "full":
        return [TargetText("context", packed["context_id"], SEPARATOR.join(one.text for one in shown), None)]
    return shown
