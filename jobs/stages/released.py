"""The summaries and labels that a benchmark ships -> `summaries` and `verdicts` of a run. 1:1; nobody is asked."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.stages.items import Item, Key, Row, SourceReader, to_do
from jobs.stages.judge import Judged
from jobs.stages.runner import Task, Worker
from jobs.stages.split import UnitsOf
from jobs.stages.stage import Plan, Stage
from longform.keys import content_key
from longform.tables import LABELS, SUMMARIES, TARGETS, VERDICTS


class Released(NamedTuple):
    """A summary that a benchmark ships."""

    summary_id: str


class FromPart(NamedTuple):
    """
    The work of a task.

    Attributes:
        part: Of a table of the benchmark.
        work_ids: Key of an item -> its work id.
    """

    part: str
    work_ids: Mapping[Any, str]


def released_work_id(benchmark: Benchmark, summary_id: str) -> str:
    """Return the work id, in a run, of a summary that the benchmark ships."""
    return content_key("released-summary", benchmark.manifest["dataset_hash"], summary_id)


@dataclass(frozen=True, kw_only=True)
class _FromBenchmark(Stage[Key]):
    """
    Takes rows of a table that the benchmark ships, a task for each of its parts.

    Attributes:
        bench: URL of the benchmark.
    """

    shipped: ClassVar[str]  # a table of the benchmark
    named_by: ClassVar[Sequence[str]]  # columns of it

    bench: str

    def tasks(self, run: Folder, items: Sequence[Item[Key]]) -> list[Task]:
        benchmark, key = Benchmark(self.bench), self.key_of()
        left = {one.key: one.work_id for one in to_do(run, self.name, self.table, items)}
        found = []
        for part in benchmark.folder.parts(self.shipped) if left else ():
            rows = benchmark.folder.read_part(part.path, columns=list(self.named_by)).to_pylist()
            work_ids = {named: left[named] for row in rows if (named := key(row)) in left}
            if work_ids:
                found.append(Task(work_ids=tuple(work_ids.values()), payload=FromPart(part.path, work_ids)))
        return found

    @abstractmethod
    def key_of(self) -> Callable[[Row], Key]:
        """Return what gives the key of the item that a row of the benchmark belongs to."""


@dataclass(frozen=True, kw_only=True)
class CopySummaries(_FromBenchmark[Released]):
    """Copies the summaries that are labelled."""

    step = "read"
    name = "summaries"
    reads: ClassVar = {"labels": ("summary_id",)}
    table = "summaries"
    columns = SUMMARIES.names
    shipped = "summaries"
    named_by = ("summary_id",)

    def items(self, plan: Plan) -> list[Item[Released]]:
        labelled = plan.benchmark.folder.read("labels", columns=["summary_id"])["summary_id"].to_pylist()
        return [
            Item(released_work_id(plan.benchmark, summary_id), Released(summary_id))
            for summary_id in dict.fromkeys(labelled)
        ]

    def key_of(self) -> Callable[[Row], Released]:
        return lambda row: Released(row["summary_id"])

    def worker(self, _reader: SourceReader) -> Worker:
        benchmark, key = Benchmark(self.bench), self.key_of()

        def copy(task: FromPart) -> list[Row]:
            rows = [row for row in benchmark.folder.read_part(task.part).to_pylist() if key(row) in task.work_ids]
            return [
                row | {"work_id": task.work_ids[key(row)], "dataset": benchmark.queries[row["query_id"]].dataset}
                for row in rows
            ]

        return copy


@dataclass(frozen=True, kw_only=True)
class ReadLabels(_FromBenchmark[Judged]):
    """Takes labels for verdicts; a target that nobody labelled is unjudged."""

    step = "read"
    name = "labels"
    reads: ClassVar = {"labels": LABELS.names, "targets": TARGETS.names}
    table = "verdicts"
    columns = VERDICTS.names
    shipped = "labels"
    named_by = ("summary_id", "annotator", "target_id")

    def items(self, plan: Plan) -> list[Item[Judged]]:
        units = {item.key.summary: item.work_id for item in plan.of(UnitsOf)}
        labels, key = plan.benchmark.folder.read("labels", columns=list(self.named_by)).to_pylist(), self.key_of()
        return [
            Item(content_key("verdicts", units[judged.summary], "released", judged.judge), judged)
            for judged in dict.fromkeys(map(key, labels))
        ]

    def key_of(self) -> Callable[[Row], Judged]:
        benchmark = Benchmark(self.bench)
        return lambda row: Judged(
            released_work_id(benchmark, row["summary_id"]),
            row["annotator"],
            benchmark.target(row["target_id"]).query_id,
        )

    def worker(self, _reader: SourceReader) -> Worker:
        benchmark, key = Benchmark(self.bench), self.key_of()

        def verdicts(task: FromPart) -> list[Row]:
            labels: dict[Judged, list[Row]] = {}
            for row in benchmark.folder.read_part(task.part).to_pylist():
                labels.setdefault(key(row), []).append(row)
            return [
                verdict | {"work_id": work_id}
                for judged, work_id in task.work_ids.items()
                for verdict in _as_verdicts(labels[judged], benchmark, judge=judged.judge)
            ]

        return verdicts


def _as_verdicts(labels: Sequence[Row], benchmark: Benchmark, *, judge: str) -> list[Row]:
    """Return one verdict for each of the query's targets; a target that nobody labelled is unjudged."""
    given = {label["target_id"]: label for label in labels}
    query_id = benchmark.target(labels[0]["target_id"]).query_id
    rows = []
    for target in benchmark.targets[query_id]:
        label = given.get(target.target_id) or {
            "summary_id": labels[0]["summary_id"],
            "target_id": target.target_id,
            "target_kind": target.kind,
            "mode": "full",
            "repeat": 0,
            "failure": "no_label",
        }
        rows.append({k: v for k, v in label.items() if k != "annotator"} | {"judge": judge})
    return rows
