"""
Score the summaries and labels that a benchmark ships, without a call.

    longform replay BENCH --out RUN [--json]
    longform replay BENCH --out RUN --citations matrix

Reads   BENCH/summaries and BENCH/labels
Writes  summaries, units, verdicts, scores, results.json and report/ in RUN; a second call redoes nothing
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

from pydantic import Field

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.calling import command_name
from jobs.cluster import Cluster, add_cluster_arguments, cluster_of
from jobs.commands import Outcome, run_verb, verb_parser
from jobs.configs import validated
from jobs.results.evidence import RunEvidence, Work
from jobs.results.write import write_results
from jobs.runs.cards import released_judge_row
from jobs.runs.measures import measures_of
from jobs.runs.record import RunRecord, check_replay_goes_on
from jobs.stages.repair import (
    check_documents,
    copied_work_ids,
    copy_stage,
    copy_tasks,
    judged_with_twins,
    repair_stage,
    repair_tasks,
    repaired_work_ids,
    with_twins,
)
from jobs.stages.runner import Row, Stage, Task, run_stage
from jobs.stages.score import score_stage, score_tasks, score_work_id
from jobs.stages.score_bullets import classify_stage, classify_tasks, classify_work_id
from jobs.stages.split import split_stage, split_tasks, unit_work_id
from longform.errors import UsageError
from longform.keys import content_key
from longform.results.evidence import Averaging
from longform.results.study import named_studies
from longform.settings.strict import Strict
from longform.settings.system_names import SystemName, named_system


class ReplaySettings(Strict):
    """Rules for scoring shipped labels."""

    aggregate: Literal["pooled", "per_summary"] = "pooled"
    partial_score: float = Field(0.5, ge=0, le=1)  # what partial coverage counts
    resamples: int = Field(2000, ge=100)  # of each interval
    seed: int = 1  # of the intervals
    compare_with: str | None = None  # the system that all others are compared with; null: the best on these data
    measures: tuple[str, ...] | None = None  # null: those that follow from labels of coverage
    studies: tuple[str, ...] | None = None  # null: all that the run has anything for
    citations: Literal["released", "matrix"] = (
        "released"  # matrix: beside each system, one whose citations are repaired
    )


class Labelled(NamedTuple):
    """A released summary, by its work id in the run, under one annotator."""

    summary_id: str
    work_id: str
    judge: str


class Replay:
    """The summaries and labels of one benchmark into one run folder; each stage is a method."""

    def __init__(self, bench_url: str, out_url: str, settings: ReplaySettings, *, cluster: Cluster) -> None:
        self.bench_url, self.settings, self.cluster = bench_url, settings, cluster
        self.benchmark, self.run = Benchmark(bench_url), Folder(out_url)
        self.measures, self.studies = measures_of(settings.measures, ["coverage"]), named_studies(settings.studies)
        labelled = _labelled(self.benchmark)
        if settings.citations == "matrix":
            check_documents(self.benchmark)
        if settings.compare_with is not None:
            named_system(settings.compare_with, _released_systems(self.benchmark, labelled))
        check_replay_goes_on(self.run)
        self.record = RunRecord(
            self.run,
            command=command_name("replay"),
            verb="replay",
            benchmark=self.benchmark,
            config=settings.model_dump(),
        )
        self.released = {label.summary_id: label.work_id for label in labelled}
        self.repaired = repaired_work_ids(self.released.values()) if settings.citations == "matrix" else {}
        self.labels = {
            label: content_key("verdicts", unit_work_id(label.work_id), "released", label.judge) for label in labelled
        }
        self.judged = {work_id: label.work_id for label, work_id in self.labels.items()}

    @property
    def summary_work_ids(self) -> list[str]:
        """Return the work ids of the released summaries, each with its twin behind it if there is one."""
        return with_twins(self.released.values(), self.repaired)

    @property
    def judged_units(self) -> dict[str, str]:
        """Verdict work id -> work id of the units it judges."""
        return {work_id: unit_work_id(s) for work_id, s in judged_with_twins(self.judged, self.repaired).items()}

    def read_labels(self) -> None:
        """The released summaries, their twins, their bullets, and the labels as verdicts."""
        copies = _copy_tasks(self.benchmark, self.run, self.released)
        self._perform(_copy_stage(self.run, self.bench_url), len(self.released), copies)
        if self.repaired:
            stage = repair_stage(self.run, self.bench_url)
            self._perform(stage, len(self.repaired), repair_tasks(self.run, self.repaired))
        work_ids = self.summary_work_ids
        self._perform(split_stage(self.run), len(work_ids), split_tasks(self.run, work_ids))
        labels = _label_tasks(self.benchmark, self.run, self.labels)
        self._perform(_label_stage(self.run, self.bench_url), len(self.labels), labels)
        if copied := copied_work_ids(self.judged, self.repaired):
            self._perform(copy_stage(self.run), len(copied), copy_tasks(self.run, copied))

    def aggregate(self) -> None:
        units, share = self.judged_units, self.settings.partial_score
        self._perform(score_stage(self.run, self.bench_url, share), len(units), score_tasks(self.run, units, share))
        self._perform(classify_stage(self.run, self.bench_url), len(units), classify_tasks(self.run, units))

    def report(self) -> dict[str, Any]:
        settings, judged = self.settings, list(self.judged_units)
        rows = [released_judge_row(judge) for judge in dict.fromkeys(label.judge for label in self.labels)]
        evidence = RunEvidence(
            run=self.run,
            benchmark=self.benchmark,
            work=Work(
                summaries=self.summary_work_ids,
                units=[unit_work_id(work_id) for work_id in self.summary_work_ids],
                verdicts=judged,
                scores=[
                    *(score_work_id(work_id, settings.partial_score) for work_id in judged),
                    *(classify_work_id(work_id) for work_id in judged),
                ],
            ),
            averaging=Averaging(settings.aggregate, settings.seed, settings.resamples),
            measures=self.measures.of_summaries,
            judges=[row["judge"] for row in rows],
            compare_with=settings.compare_with,
        )
        return write_results(evidence, self.record, self.studies, title="Released summaries, replayed", judges=rows)

    def _perform(self, stage: Stage, wanted: int, tasks: list[Task]) -> None:
        run_stage(self.run, stage, wanted, tasks, cluster=self.cluster, note=self.record.note)


def replay(bench_url: str, out_url: str, settings: ReplaySettings, *, cluster: Cluster) -> dict[str, Any]:
    """The results: the tables of the report, as one JSON document."""
    job = Replay(bench_url, out_url, settings, cluster=cluster)
    job.read_labels()
    job.aggregate()
    return job.report()


def _labelled(benchmark: Benchmark) -> list[Labelled]:
    columns = benchmark.folder.read("labels", columns=["summary_id", "annotator"])
    pairs = dict.fromkeys(zip(columns["summary_id"].to_pylist(), columns["annotator"].to_pylist(), strict=True))
    if not pairs:
        raise UsageError(
            f"{benchmark.folder.url}: expected summaries with labels, found none; "
            "`longform evaluate` runs systems and judges"
        )
    dataset = benchmark.manifest["dataset_hash"]
    return [Labelled(sid, content_key("released-summary", dataset, sid), judge) for sid, judge in pairs]


def _released_systems(benchmark: Benchmark, labelled: Sequence[Labelled]) -> list[SystemName]:
    columns = benchmark.folder.read("summaries", columns=["summary_id", "summarizer", "setting"]).to_pylist()
    names = {row["summary_id"]: SystemName(row["summarizer"], row["setting"]) for row in columns}
    return [names[label.summary_id] for label in labelled if label.summary_id in names]


# ---------------------------------------------------------------- copying the released summaries


def _copy_stage(run: Folder, bench_url: str) -> Stage:
    return Stage(name="summaries", table="summaries", identity=run.url, make_worker=partial(_copier, bench_url))


def _copy_tasks(benchmark: Benchmark, run: Folder, released: Mapping[str, str]) -> list[Task]:
    done = run.locate("summaries")
    todo = {summary_id: work_id for summary_id, work_id in released.items() if work_id not in done}
    tasks = []
    for part in benchmark.folder.parts("summaries"):
        ids = benchmark.folder.read_part(part.path, columns=["summary_id"])["summary_id"].to_pylist()
        chosen = {summary_id: todo[summary_id] for summary_id in ids if summary_id in todo}
        if chosen:
            tasks.append(Task(work_ids=tuple(chosen.values()), payload={"part": part.path, "summaries": chosen}))
    return tasks


def _copier(bench_url: str) -> Any:
    benchmark = Benchmark(bench_url)

    def copy(payload: Mapping[str, Any]) -> list[Row]:
        work_ids = payload["summaries"]
        rows = [row for row in benchmark.folder.read_part(payload["part"]).to_pylist() if row["summary_id"] in work_ids]
        return [
            row | {"work_id": work_ids[row["summary_id"]], "dataset": benchmark.queries[row["query_id"]].dataset}
            for row in rows
        ]

    return copy


# ---------------------------------------------------------------- labels as verdicts


def _label_stage(run: Folder, bench_url: str) -> Stage:
    return Stage(name="labels", table="verdicts", identity=run.url, make_worker=partial(_label_reader, bench_url))


def _label_tasks(benchmark: Benchmark, run: Folder, labels: Mapping[Labelled, str]) -> list[Task]:
    done = run.locate("verdicts")
    todo = {label: work_id for label, work_id in labels.items() if work_id not in done}
    tasks = []
    for part in benchmark.folder.parts("labels"):
        columns = benchmark.folder.read_part(part.path, columns=["summary_id", "annotator"])
        held = set(zip(columns["summary_id"].to_pylist(), columns["annotator"].to_pylist(), strict=True))
        chosen = [
            (label.summary_id, label.judge, work_id)
            for label, work_id in todo.items()
            if (label.summary_id, label.judge) in held
        ]
        if chosen:
            work_ids = tuple(work_id for _, _, work_id in chosen)
            tasks.append(Task(work_ids=work_ids, payload={"part": part.path, "judged": chosen}))
    return tasks


def _label_reader(bench_url: str) -> Any:
    benchmark = Benchmark(bench_url)

    def verdicts(payload: Mapping[str, Any]) -> list[Row]:
        labels: dict[tuple[str, str], list[Row]] = {}
        for row in benchmark.folder.read_part(payload["part"]).to_pylist():
            labels.setdefault((row["summary_id"], row["annotator"]), []).append(row)
        return [
            verdict
            for summary_id, judge, work_id in payload["judged"]
            for verdict in _as_verdicts(labels[summary_id, judge], benchmark, judge=judge, work_id=work_id)
        ]

    return verdicts


def _as_verdicts(labels: Sequence[Row], benchmark: Benchmark, *, judge: str, work_id: str) -> list[Row]:
    """One verdict for each of the query's targets; a target that nobody labelled is unjudged."""
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
        rows.append({k: v for k, v in label.items() if k != "annotator"} | {"judge": judge, "work_id": work_id})
    return rows


def main(argv: Sequence[str] | None = None) -> int:
    parser = verb_parser("replay", __doc__)
    parser.add_argument("benchmark", metavar="BENCH")
    parser.add_argument("--out", required=True, metavar="RUN")
    parser.add_argument(
        "--citations", choices=["released", "matrix"], help="matrix: also with the documents that support each bullet"
    )
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the scoring")
    add_cluster_arguments(parser)

    def work(arguments: argparse.Namespace) -> Outcome:
        given = {"citations": arguments.citations} if arguments.citations else {}
        settings = validated(ReplaySettings, given, arguments.set, where="replay")
        with cluster_of(arguments) as cluster:
            results = replay(arguments.benchmark, arguments.out, settings, cluster=cluster)
        return Outcome(results, f"{len(results['cells'])} cells; report: {arguments.out}/report/report.html")

    return run_verb(parser, work, argv)


if __name__ == "__main__":
    raise SystemExit(main())
