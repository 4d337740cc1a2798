"""
Score the summaries and labels that a benchmark ships, without a call.

    longform replay BENCH --out RUN [--json]

Reads   BENCH/summaries and BENCH/labels
Writes  summaries, units, verdicts, scores, results.json and report/ in RUN; a second call redoes nothing
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

from pydantic import Field

from actors.benchmark import Benchmark
from actors.storage import Folder
from jobs.classify import classify_stage, classify_tasks
from jobs.cluster import Cluster, add_cluster_arguments, cluster_of
from jobs.commands import Outcome, run_verb, verb_parser
from jobs.configs import validated
from jobs.results import write_results
from jobs.run_record import RunRecord
from jobs.score import score_stage, score_tasks
from jobs.split import split_stage, split_tasks, unit_work_id
from jobs.stage import Row, Stage, Task, run_stage
from longform.configuration import Strict
from longform.errors import UsageError
from longform.judge_cards import shipped_card_line
from longform.keys import content_key

Work = Mapping[str, str]
"""Summary id -> work id."""


class ReplaySettings(Strict):
    """How shipped labels are scored."""

    aggregate: Literal["pooled", "per_summary"] = "pooled"
    partial_score: float = Field(0.5, ge=0, le=1)  # what partial coverage counts
    resamples: int = Field(2000, ge=100)  # of each interval
    seed: int = 1  # of the intervals


class Replay:
    """The summaries and labels of one benchmark into one run folder; each stage is a method."""

    def __init__(self, bench_url: str, out_url: str, settings: ReplaySettings, *, cluster: Cluster) -> None:
        self.bench_url, self.settings, self.cluster = bench_url, settings, cluster
        self.benchmark, self.run = Benchmark(bench_url), Folder(out_url)
        labelled = _labelled_pairs(self.benchmark)
        self.record = RunRecord(self.run, verb="replay", benchmark=self.benchmark, config=settings.model_dump())
        self.summaries = {sid: _summary_work_id(self.benchmark, sid) for sid, _ in labelled}
        self.judged = {
            (sid, judge): content_key("verdicts", unit_work_id(self.summaries[sid]), "released", judge)
            for sid, judge in labelled
        }

    def read_labels(self) -> None:
        """The released summaries, their bullets, and the labels as verdicts."""
        work_ids = list(self.summaries.values())
        copies = _copy_tasks(self.benchmark, self.run, self.summaries)
        self._perform(_copy_stage(self.run, self.bench_url), len(work_ids), copies)
        self._perform(split_stage(self.run), len(work_ids), split_tasks(self.run, work_ids))
        labels = _label_tasks(self.benchmark, self.run, self.judged)
        self._perform(_label_stage(self.run, self.bench_url), len(self.judged), labels)

    def aggregate(self) -> None:
        units = {work_id: unit_work_id(self.summaries[sid]) for (sid, _), work_id in self.judged.items()}
        share = self.settings.partial_score
        self._perform(score_stage(self.run, self.bench_url, share), len(units), score_tasks(self.run, units, share))
        self._perform(classify_stage(self.run, self.bench_url), len(units), classify_tasks(self.run, units))

    def report(self) -> dict[str, Any]:
        return write_results(
            self.run,
            self.benchmark,
            self.record,
            title="Released summaries, replayed",
            summary_work_ids=list(self.summaries.values()),
            verdict_work_ids=list(self.judged.values()),
            cards={judge: shipped_card_line(judge) for _, judge in self.judged},
            **self.settings.model_dump(),
        )

    def _perform(self, stage: Stage, wanted: int, tasks: list[Task]) -> None:
        self.record.add(run_stage(self.run, stage, wanted, tasks, cluster=self.cluster))


def replay(bench_url: str, out_url: str, settings: ReplaySettings, *, cluster: Cluster) -> dict[str, Any]:
    """The results: the tables of the report, as one JSON document."""
    job = Replay(bench_url, out_url, settings, cluster=cluster)
    job.read_labels()
    job.aggregate()
    return job.report()


def _labelled_pairs(benchmark: Benchmark) -> list[tuple[str, str]]:
    columns = benchmark.folder.read("labels", columns=["summary_id", "annotator"])
    pairs = dict.fromkeys(zip(columns["summary_id"].to_pylist(), columns["annotator"].to_pylist(), strict=True))
    if not pairs:
        raise UsageError(
            f"{benchmark.folder.url}: expected summaries with labels, found none; "
            "`longform evaluate` runs systems and judges"
        )
    return list(pairs)


def _summary_work_id(benchmark: Benchmark, summary_id: str) -> str:
    return content_key("released-summary", benchmark.manifest["dataset_hash"], summary_id)


# ---------------------------------------------------------------- copying the released summaries


def _copy_stage(run: Folder, bench_url: str) -> Stage:
    return Stage(name="summaries", table="summaries", identity=run.url, make_worker=partial(_copier, bench_url))


def _copy_tasks(benchmark: Benchmark, run: Folder, summaries: Work) -> list[Task]:
    done = run.locate("summaries")
    tasks = []
    for part in benchmark.folder.parts("summaries"):
        ids = benchmark.folder.read_part(part.path, columns=["summary_id"])["summary_id"].to_pylist()
        todo = {sid: summaries[sid] for sid in ids if sid in summaries and summaries[sid] not in done}
        if todo:
            tasks.append(Task(work_ids=tuple(todo.values()), payload={"part": part.path, "work_ids": todo}))
    return tasks


def _copier(bench_url: str) -> Any:
    folder = Folder(bench_url)

    def copy(payload: Mapping[str, Any]) -> list[Row]:
        wanted = payload["work_ids"]
        rows = folder.read_part(payload["part"]).to_pylist()
        return [row | {"work_id": wanted[row["summary_id"]]} for row in rows if row["summary_id"] in wanted]

    return copy


# ---------------------------------------------------------------- labels as verdicts


def _label_stage(run: Folder, bench_url: str) -> Stage:
    return Stage(name="labels", table="verdicts", identity=run.url, make_worker=partial(_label_reader, bench_url))


def _label_tasks(benchmark: Benchmark, run: Folder, judged: Mapping[tuple[str, str], str]) -> list[Task]:
    done = run.locate("verdicts")
    tasks = []
    for part in benchmark.folder.parts("labels"):
        columns = benchmark.folder.read_part(part.path, columns=["summary_id", "annotator"])
        pairs = dict.fromkeys(zip(columns["summary_id"].to_pylist(), columns["annotator"].to_pylist(), strict=True))
        todo = [[sid, judge, judged[sid, judge]] for sid, judge in pairs if judged[sid, judge] not in done]
        if todo:
            tasks.append(
                Task(work_ids=tuple(work_id for _, _, work_id in todo), payload={"part": part.path, "pairs": todo})
            )
    return tasks


def _label_reader(bench_url: str) -> Any:
    benchmark = Benchmark(bench_url)

    def verdicts(payload: Mapping[str, Any]) -> list[Row]:
        labels: dict[tuple[str, str], list[Row]] = {}
        for row in benchmark.folder.read_part(payload["part"]).to_pylist():
            labels.setdefault((row["summary_id"], row["annotator"]), []).append(row)
        return [
            verdict
            for summary_id, judge, work_id in payload["pairs"]
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
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the scoring")
    add_cluster_arguments(parser)

    def work(arguments: argparse.Namespace) -> Outcome:
        settings = validated(ReplaySettings, {}, arguments.set, where="replay")
        with cluster_of(arguments) as cluster:
            results = replay(arguments.benchmark, arguments.out, settings, cluster=cluster)
        return Outcome(results, f"{len(results['cells'])} cells; report: {arguments.out}/report/report.html")

    return run_verb(parser, work, argv)


if __name__ == "__main__":
    raise SystemExit(main())
