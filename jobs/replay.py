"""
Score the summaries and labels that a benchmark ships, without a call.

    longform replay BENCH --out RUN [--json]
    longform replay BENCH --out RUN --citations matrix

Reads   BENCH/summaries and BENCH/labels
Writes  summaries, units, verdicts, scores, results.json and report/ in RUN; a second call redoes nothing
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

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
from longform.repair import LABEL, VERSION, repaired_texts
from longform.support import SupportIndex


class ReplaySettings(Strict):
    """How shipped labels are scored."""

    aggregate: Literal["pooled", "per_summary"] = "pooled"
    partial_score: float = Field(0.5, ge=0, le=1)  # what partial coverage counts
    resamples: int = Field(2000, ge=100)  # of each interval
    seed: int = 1  # of the intervals
    citations: Literal["released", "matrix"] = (
        "released"  # matrix: beside each system, one whose citations are repaired
    )


class Released(NamedTuple):
    """A summary of the run: a released one, or its copy with repaired citations."""

    summary_id: str
    original_id: str
    work_id: str

    @property
    def repaired(self) -> bool:
        return self.summary_id != self.original_id


class Replay:
    """The summaries and labels of one benchmark into one run folder; each stage is a method."""

    def __init__(self, bench_url: str, out_url: str, settings: ReplaySettings, *, cluster: Cluster) -> None:
        self.bench_url, self.settings, self.cluster = bench_url, settings, cluster
        self.benchmark, self.run = Benchmark(bench_url), Folder(out_url)
        labelled = _labelled_pairs(self.benchmark)
        self.record = RunRecord(self.run, verb="replay", benchmark=self.benchmark, config=settings.model_dump())
        repair = settings.citations == "matrix"
        self.summaries = released_summaries(self.benchmark, [sid for sid, _ in labelled], repair=repair)
        judges: dict[str, list[str]] = {}
        for sid, judge in labelled:
            judges.setdefault(sid, []).append(judge)
        self.judged = {
            (summary, judge): content_key("verdicts", unit_work_id(summary.work_id), "released", judge)
            for summary in self.summaries
            for judge in judges[summary.original_id]
        }

    def read_labels(self) -> None:
        """The released summaries, their bullets, and the labels as verdicts."""
        work_ids = [summary.work_id for summary in self.summaries]
        copies = _copy_tasks(self.benchmark, self.run, self.summaries)
        self._perform(_copy_stage(self.run, self.bench_url), len(work_ids), copies)
        self._perform(split_stage(self.run), len(work_ids), split_tasks(self.run, work_ids))
        labels = _label_tasks(self.benchmark, self.run, self.judged)
        self._perform(_label_stage(self.run, self.bench_url), len(self.judged), labels)

    def aggregate(self) -> None:
        units = {work_id: unit_work_id(summary.work_id) for (summary, _), work_id in self.judged.items()}
        share = self.settings.partial_score
        self._perform(score_stage(self.run, self.bench_url, share), len(units), score_tasks(self.run, units, share))
        self._perform(classify_stage(self.run, self.bench_url), len(units), classify_tasks(self.run, units))

    def report(self) -> dict[str, Any]:
        return write_results(
            self.run,
            self.benchmark,
            self.record,
            title="Released summaries, replayed",
            summary_work_ids=[summary.work_id for summary in self.summaries],
            verdict_work_ids=list(self.judged.values()),
            cards={judge: shipped_card_line(judge) for _, judge in self.judged},
            **self.settings.model_dump(exclude={"citations"}),
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


def released_summaries(benchmark: Benchmark, summary_ids: Iterable[str], *, repair: bool) -> list[Released]:
    """
    Each released summary once; with *repair*, its repaired copy behind it.

    Raises:
        UsageError: Repair is wanted, and the benchmark ships no documents to find support in.
    """
    if repair and not benchmark.manifest["rows"]["documents"]:
        raise UsageError(f"{benchmark.folder.url}: expected documents to find support in, found none")
    dataset = benchmark.manifest["dataset_hash"]
    found = []
    for original in dict.fromkeys(summary_ids):
        found.append(Released(original, original, content_key("released-summary", dataset, original)))
        if repair:
            copy = content_key("repaired", original, VERSION)
            found.append(Released(copy, original, content_key("repaired-summary", dataset, original, VERSION)))
    return found


# ---------------------------------------------------------------- copying the released summaries


def _copy_stage(run: Folder, bench_url: str) -> Stage:
    return Stage(name="summaries", table="summaries", identity=run.url, make_worker=partial(_copier, bench_url))


def _copy_tasks(benchmark: Benchmark, run: Folder, summaries: Sequence[Released]) -> list[Task]:
    done = run.locate("summaries")
    todo = [summary for summary in summaries if summary.work_id not in done]
    tasks = []
    for part in benchmark.folder.parts("summaries"):
        ids = set(benchmark.folder.read_part(part.path, columns=["summary_id"])["summary_id"].to_pylist())
        # A task for the copies and one for the repaired: a part holds one haystack
        for repaired in (False, True):
            chosen = [s for s in todo if s.original_id in ids and s.repaired is repaired]
            if chosen:
                work_ids = tuple(summary.work_id for summary in chosen)
                tasks.append(Task(work_ids=work_ids, payload={"part": part.path, "summaries": chosen}))
    return tasks


def _copier(bench_url: str) -> Any:
    benchmark = Benchmark(bench_url)

    def copy(payload: Mapping[str, Any]) -> list[Row]:
        rows = {row["summary_id"]: row for row in benchmark.folder.read_part(payload["part"]).to_pylist()}
        chosen = [Released(*summary) for summary in payload["summaries"]]
        if not chosen[0].repaired:
            return [rows[s.original_id] | {"work_id": s.work_id} for s in chosen]
        return _repaired(benchmark, [(s, rows[s.original_id]) for s in chosen])

    return copy


def _repaired(benchmark: Benchmark, originals: Sequence[tuple[Released, Row]]) -> list[Row]:
    documents = benchmark.documents(originals[0][1]["haystack_id"])
    index = SupportIndex([document.text for document in documents])
    texts = repaired_texts([row["text"] for _, row in originals], index, [document.number for document in documents])
    return [
        row
        | {
            "work_id": summary.work_id,
            "summary_id": summary.summary_id,
            "summarizer": f"{row['summarizer']}, {LABEL}",
            "method": "repaired citations",
            "parents": [summary.original_id],
            "text": text,
        }
        for (summary, row), text in zip(originals, texts, strict=True)
    ]


# ---------------------------------------------------------------- labels as verdicts


def _label_stage(run: Folder, bench_url: str) -> Stage:
    return Stage(name="labels", table="verdicts", identity=run.url, make_worker=partial(_label_reader, bench_url))


def _label_tasks(benchmark: Benchmark, run: Folder, judged: Mapping[tuple[Released, str], str]) -> list[Task]:
    done = run.locate("verdicts")
    todo = [(summary, judge, work_id) for (summary, judge), work_id in judged.items() if work_id not in done]
    tasks = []
    for part in benchmark.folder.parts("labels"):
        columns = benchmark.folder.read_part(part.path, columns=["summary_id", "annotator"])
        held = set(zip(columns["summary_id"].to_pylist(), columns["annotator"].to_pylist(), strict=True))
        chosen = [entry for entry in todo if (entry[0].original_id, entry[1]) in held]
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
            verdict | {"summary_id": summary_id}
            for (summary_id, original_id, _), judge, work_id in payload["judged"]
            for verdict in _as_verdicts(labels[original_id, judge], benchmark, judge=judge, work_id=work_id)
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
