"""The summaries and labels that a benchmark ships -> `summaries` and `verdicts` of a run. 1:1; nobody is asked."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from sys import intern
from typing import Any, ClassVar, NamedTuple

from actors.storage.benchmark import Benchmark
from jobs.stages.items import Item, Key, SourceReader
from jobs.stages.split import UnitsOf
from jobs.stages.stage import Plan, Stage, Works
from jobs.stages.verdicts import Judged
from longform.axes import SystemAxes
from longform.errors import UsageError
from longform.judges.kind import Kind
from longform.judges.kinds import KINDS
from longform.keys import content_key, in_groups
from longform.metrics.similarity import SOURCES
from longform.records import Target
from longform.rows import JudgementRow, TableRow
from longform.schemas import LABELS, SUMMARIES, TARGETS, VERDICTS
from longform.settings.systems import SystemName

_NAMED = 6  # answers in a message
_LABELLED = ("summary_id", "annotator", "target_id")  # columns of labels
_PARTS_HELD = 4
_SAID = ("labels", "released_scores")  # what a release says of its summaries


class Released(NamedTuple):
    """A summary that a benchmark ships."""

    summary_id: str
    query_id: str
    summarizer: str
    setting: str  # what its writer was given, in words
    order: str | None  # the order of the documents in its prompt; None: unknown
    retriever: str | None  # the one that ranked them; None: unknown
    context_id: str | None  # the documents that its writer saw; None: unknown

    @property
    def name(self) -> SystemName:
        """The name that reports give its system; `longform.evidence.summaries` makes the same."""
        axes = SystemAxes(self.setting, order=self.order)
        return SystemName(self.summarizer, self.setting if self.retriever else axes.words(with_budget=False))


def shipped_summaries(benchmark: Benchmark) -> Iterator[Released]:
    """Yield the summaries that a benchmark ships, without their texts, in its order."""
    for batch in benchmark.folder.batches("summaries", columns=list(Released._fields)):
        yield from map(released_of, batch.to_pylist())


def released_of(row: TableRow) -> Released:
    """Return the key of a row of `summaries`; a column that its part lacks is unknown."""
    return Released(**{name: row.get(name) for name in Released._fields})  # type: ignore[arg-type]  # as the table has


def released_work_id(benchmark: Benchmark, summary_id: str) -> str:
    """Return the work id, in a run, of a summary that the benchmark ships."""
    return content_key("released-summary", benchmark.manifest["dataset_hash"], summary_id)


def labelled_tasks(benchmark: Benchmark) -> dict[str, str]:
    """
    Return the task of each annotator, which its answers tell: of several tasks, the one that judges by such targets.

    One that answered nothing beside targets of no task is of coverage.

    Raises:
        UsageError: Answers are of no one task, or of one that judges pairs of a sentence and a document.
    """
    columns = ["annotator", "target_kind", "answer"]
    answers: dict[str, set[str]] = {}
    targets: dict[str, set[str]] = {}
    for batch in benchmark.folder.batches("labels", columns=columns):
        for annotator, kind, answer in {*zip(*(batch[name].to_pylist() for name in columns), strict=True)}:
            targets.setdefault(annotator, set()).add(kind)
            answers.setdefault(annotator, set()).update([answer] if answer is not None else [])
    return {annotator: _task(annotator, answers[annotator], targets[annotator]) for annotator in answers}


def _task(annotator: str, answers: Collection[str], targets: Collection[str]) -> str:
    whole = {task: kind for task, kind in KINDS.items() if not kind.of_documents}
    for task, kind in sorted(whole.items(), key=lambda one: one[1].targets not in targets):
        if all(answer in kind.counts for answer in answers):
            return task
    known = ", or of ".join(f"{task}: {', '.join(list(kind.counts)[:_NAMED])}" for task, kind in whole.items())
    found = ", ".join(sorted(answers)[:_NAMED])
    raise UsageError(
        f"labels of {annotator!r}: expected answers of one task (of {known}), found {found}; labels of sentences "
        "beside documents are for `longform calibrate`"
    )


def scored_measures(benchmark: Benchmark) -> list[str]:
    """Return the measures of the scores that the benchmark ships; those that no measure takes are left out."""
    batches = benchmark.folder.batches("released_scores", columns=["measure"])
    there = {name for batch in batches for name in batch["measure"].unique().to_pylist()}
    return [measure for measure, source in SOURCES.items() if source in there]


@dataclass(frozen=True, kw_only=True)
class _FromBenchmark(Stage[Key]):
    """Takes rows of a table that the benchmark ships."""

    shipped: ClassVar[str]  # a table of the benchmark
    named_by: ClassVar[Sequence[str]]  # columns of it
    per_task = 256

    bench: str  # URL

    def shipped_rows(self, benchmark: Benchmark) -> Callable[[Key], Sequence[Any]]:
        """Return what reads the rows that belong to an item's key; the last few parts are held."""
        key, folder, names = self.key_of(benchmark), benchmark.folder, list(self.named_by)

        @cache
        def part_of() -> Mapping[Key, str]:
            paths = [part.path for part in folder.parts(self.shipped)]
            return {key(row): path for path in paths for row in folder.read_part(path, columns=names).to_pylist()}

        @lru_cache(maxsize=_PARTS_HELD)
        def rows(path: str) -> Mapping[Key, Sequence[Any]]:
            return in_groups((key(row), row) for row in folder.read_part(path).to_pylist())

        return lambda one: rows(part_of()[one])[one]

    @abstractmethod
    def key_of(self, benchmark: Benchmark) -> Callable[[TableRow], Key]:
        """Return what gives the key of the item that a row of the benchmark belongs to."""


@dataclass(frozen=True, kw_only=True)
class CopySummaries(_FromBenchmark[Released]):
    """Copies the summaries that are labelled or scored."""

    step = "read"
    name = "summaries"
    reads: ClassVar = dict.fromkeys(_SAID, ("summary_id",))
    table = "summaries"
    columns = SUMMARIES.names
    shipped = "summaries"
    named_by = Released._fields

    def items(self, plan: Plan) -> list[Item[Released]]:
        folder = plan.benchmark.folder
        batches = (batch for table in _SAID for batch in folder.batches(table, columns=["summary_id"]))
        labelled = dict.fromkeys(summary for batch in batches for summary in batch["summary_id"].unique().to_pylist())
        shipped = {one.summary_id: one for one in shipped_summaries(plan.benchmark)} if labelled else {}
        return [
            Item(released_work_id(plan.benchmark, summary_id), shipped[summary_id])
            for summary_id in labelled
            if summary_id in shipped
        ]

    def key_of(self, _benchmark: Benchmark) -> Callable[[TableRow], Released]:
        return released_of

    def worker(self, _reader: SourceReader) -> Works[Released]:
        benchmark = Benchmark(self.bench)
        rows = self.shipped_rows(benchmark)

        def copy(given: Sequence[Item[Released]]) -> list[TableRow]:
            return [
                {**row, "work_id": one.work_id, "dataset": benchmark.queries[one.key.query_id].dataset}
                for one in given
                for row in rows(one.key)
            ]

        return copy


@dataclass(frozen=True, kw_only=True)
class ReadLabels(_FromBenchmark[Judged]):
    """Takes labels for verdicts; a target without one is unjudged, but for tasks that need not judge all targets."""

    step = "read"
    name = "labels"
    reads: ClassVar = {"labels": LABELS.names, "targets": TARGETS.names}
    table = "verdicts"
    columns = VERDICTS.names
    shipped = "labels"
    named_by = _LABELLED

    task_of: Mapping[str, str]  # annotator -> task

    def items(self, plan: Plan) -> list[Item[Judged]]:
        units = {item.key.summary: item.work_id for item in plan.of(UnitsOf)}
        summaries = {item.key.summary_id: item.work_id for item in plan.of(Released)}
        return [
            Item(content_key("verdicts", units[judged.summary], "released", judged.judge), judged)
            for judged in dict.fromkeys(
                Judged(summaries[summary_id], annotator, query_id)
                for haystack_id in plan.benchmark.haystack_ids
                for summary_id, annotator, query_id in _labelled(plan.benchmark, haystack_id)
            )
        ]

    def key_of(self, benchmark: Benchmark) -> Callable[[TableRow], Judged]:
        return lambda row: Judged(
            released_work_id(benchmark, str(row["summary_id"])),
            str(row["annotator"]),
            benchmark.target(str(row["target_id"])).query_id,
        )

    def worker(self, _reader: SourceReader) -> Works[Judged]:
        benchmark = Benchmark(self.bench)
        labels = self.shipped_rows(benchmark)

        def verdicts(given: Sequence[Item[Judged]]) -> list[TableRow]:
            return [
                {**_without_annotator(verdict), "work_id": one.work_id, "judge": one.key.judge}
                for one in given
                for verdict in _as_verdicts(labels(one.key), benchmark, KINDS[self.task_of[one.key.judge]])
            ]

        return verdicts


def _labelled(benchmark: Benchmark, haystack_id: str) -> dict[tuple[str, str, str], None]:
    """Return each summary of a haystack by each of its annotators, with the query that was labelled, in their order."""
    labels = benchmark.rows("labels", haystack_id, list(_LABELLED))
    query_of = {target.target_id: intern(target.query_id) for target in benchmark.haystack_targets(haystack_id)}
    columns = (labels[name].to_pylist() for name in _LABELLED)
    return {
        (summary_id, intern(annotator), query_of[target_id]): None
        for summary_id, annotator, target_id in zip(*columns, strict=True)
    }


def _without_annotator(label: JudgementRow) -> dict[str, Any]:
    return {name: value for name, value in label.items() if name != "annotator"}


def _as_verdicts(labels: Sequence[JudgementRow], benchmark: Benchmark, kind: Kind) -> list[JudgementRow]:
    """Return the labels, and, of a kind that is to be complete, one without an answer for each other target."""
    if not kind.complete:
        return list(labels)
    given = {label["target_id"]: label for label in labels}
    labelled, query_id = {one["target_kind"] for one in labels}, benchmark.target(labels[0]["target_id"]).query_id
    return [
        given.get(target.target_id) or _no_label(labels[0]["summary_id"], target)
        for target in benchmark.targets[query_id]
        if target.kind in labelled
    ]


def _no_label(summary_id: str, target: Target) -> JudgementRow:
    return {
        "summary_id": summary_id, "unit_index": None, "target_kind": target.kind, "target_id": target.target_id,
        "mode": "full", "doc_position": None, "chunk_index": None, "repeat": 0, "answer": None, "probability": None,
        "linked_unit": None, "failure": "no_label", "reply": None, "prompt_version": None, "call_id": None,
        "text_index": None,
    }  # fmt: skip
