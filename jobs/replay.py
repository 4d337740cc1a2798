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
from typing import Any

from actors.benchmark import Benchmark
from actors.storage import Folder
from jobs.aggregate import aggregate_stage, aggregate_tasks
from jobs.classify import classify_stage, classify_tasks
from jobs.cluster import Cluster, add_cluster_arguments, cluster_of
from jobs.commands import Outcome, run_verb, verb_parser
from jobs.results import write_results
from jobs.run_record import RunRecord
from jobs.split import split_stage, split_tasks, unit_work_id
from jobs.stage import Row, Stage, Task, run_stage
from longform.aggregate import Aggregate
from longform.errors import UsageError
from longform.keys import content_key

Work = Mapping[str, str]
"""Key of a piece of work -> its work id."""


def replay(
    bench_url: str,
    out_url: str,
    *,
    aggregate: Aggregate = "pooled",
    partial_score: float = 0.5,
    resamples: int = 2000,
    seed: int = 1,
    cluster: Cluster,
) -> dict[str, Any]:
    """The results: the tables of the report, as one JSON document."""
    benchmark = Benchmark(bench_url)
    run = Folder(out_url)
    labelled = _labelled_pairs(benchmark)
    config = {"aggregate": aggregate, "partial_score": partial_score, "resamples": resamples, "seed": seed}
    record = RunRecord(run, verb="replay", benchmark=benchmark, config=config)
    summaries = {summary_id: _summary_work_id(benchmark, summary_id) for summary_id, _ in labelled}
    judged = {
        (summary_id, judge): content_key("verdicts", unit_work_id(summaries[summary_id]), "released", judge)
        for summary_id, judge in labelled
    }

    def perform(stage: Stage, wanted: int, tasks: list[Task]) -> None:
        record.add(run_stage(run, stage, wanted, tasks, cluster=cluster))

    perform(_copy_stage(run, bench_url), len(summaries), _copy_tasks(benchmark, run, summaries))
    perform(split_stage(run), len(summaries), split_tasks(run, list(summaries.values())))
    perform(_label_stage(run, bench_url), len(judged), _label_tasks(benchmark, run, judged))
    units = {work_id: unit_work_id(summaries[summary_id]) for (summary_id, _), work_id in judged.items()}
    perform(aggregate_stage(run, bench_url, partial_score), len(judged), aggregate_tasks(run, units, partial_score))
    perform(classify_stage(run, bench_url), len(judged), classify_tasks(run, units))
    return write_results(
        run,
        benchmark,
        record,
        summary_work_ids=list(summaries.values()),
        verdict_work_ids=list(judged.values()),
        title="Released summaries, replayed",
        partial_score=partial_score,
        aggregate=aggregate,
        seed=seed,
        resamples=resamples,
    )


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
    parser.add_argument("--aggregate", choices=["pooled", "per_summary"], default="pooled")
    parser.add_argument("--partial-score", type=float, default=0.5, help="what partial coverage counts")
    parser.add_argument("--resamples", type=int, default=2000, help="of each interval")
    parser.add_argument("--seed", type=int, default=1, help="of the intervals")
    add_cluster_arguments(parser)

    def work(arguments: argparse.Namespace) -> Outcome:
        with cluster_of(arguments) as cluster:
            results = replay(
                arguments.benchmark,
                arguments.out,
                aggregate=arguments.aggregate,
                cluster=cluster,
                partial_score=arguments.partial_score,
                resamples=arguments.resamples,
                seed=arguments.seed,
            )
        return Outcome(results, f"{len(results['cells'])} cells; report: {arguments.out}/report/report.html")

    return run_verb(parser, work, argv)


if __name__ == "__main__":
    raise SystemExit(main())
