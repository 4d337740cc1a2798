"""
The main job: run systems on a benchmark, judge what they write, report.

    longform evaluate CONFIG --bench BENCH --out RUN
    longform evaluate CONFIG --bench BENCH --out RUN --citations matrix|JUDGE
    longform evaluate CONFIG --bench BENCH --out RUN --plan
    ray job submit --working-dir . -- python -m jobs.evaluate CONFIG --bench s3://... --out s3://...

CONFIG is a YAML file or a preset (demo, summhay). A second call redoes nothing that stands in RUN.
RUN belongs to one configuration: systems, judges and queries may be added, and what else changes is refused by name.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, cast

from jobs.command import FAILURES_ABOVE_THRESHOLD
from jobs.command.parser import (
    REPORT,
    STEPS,
    VerbParser,
    add_calling_arguments,
    add_cluster_arguments,
    add_vector_arguments,
    count,
    number,
)
from jobs.command.run import Outcome, command
from longform.errors import UsageError

if TYPE_CHECKING:
    from jobs.stages.cluster import Cluster
    from longform.results.results import Results
    from longform.settings.experiment import Experiment


def parser() -> VerbParser:
    made = VerbParser("evaluate", __doc__)
    told = "a YAML file, or a preset: demo, summhay, positional_bias, length, length_tokens"
    made.add_argument("config", metavar="CONFIG", help=told)
    made.used.add_argument("--bench", metavar="BENCH", help="a benchmark folder; default: the configuration's")
    made.used.add_argument("--out", required=True, metavar="RUN")
    told = "say what models will be asked and what it costs; ask none"
    made.used.add_argument("--plan", action="store_true", help=told)
    add_calling_arguments(made)
    add_cluster_arguments(made)
    run = made.add_argument_group("what is run")
    run.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="change the configuration; a preset takes the short names budget, retrievers, model, judge, support_judge",
    )
    run.add_argument("--limit", type=count, help="only the first queries")
    run.add_argument("--until", choices=STEPS, default=REPORT, metavar="STEP", help=f"the last of {', '.join(STEPS)}")
    run.add_argument(
        "--citations",
        metavar="matrix|JUDGE",
        help="beside each summary, one that cites the documents that support each bullet: by the words they share "
        "(matrix), or by the verdicts of one of the configuration's support judges",
    )
    plan = made.add_argument_group("with --plan")
    told = "for N queries like those of the benchmark; default: for those that it has"
    plan.add_argument("--queries", type=count, metavar="N", help=told)
    plan.add_argument(
        "--depth",
        type=number("points above 0 and up to 100", lambda value: 0 < value <= 100),
        metavar="POINTS",
        help="the size that finds a U of so many points over the prompt's places; default: 40, 20, 10",
    )
    add_vector_arguments(made)
    return made


def _work(arguments: argparse.Namespace) -> Outcome:
    from actors.storage.folder import Folder
    from jobs.configs import read_experiment
    from jobs.runs.record import RECORD_FILE, check_no_benchmark
    from jobs.stages.cluster import cluster_of

    if arguments.depth is not None and not arguments.plan:
        raise UsageError("--depth says what a plan is to find: expected --plan beside it")
    if arguments.queries is not None and not arguments.plan:
        raise UsageError("--queries scales a plan: expected --plan beside it; --limit runs on the first queries only")
    check_no_benchmark(arguments.out)
    changes = [f"citations={arguments.citations}"] if arguments.citations else []
    experiment = read_experiment(arguments.config, [*arguments.set, *changes])
    with cluster_of(arguments) as cluster:
        if not arguments.plan and not Folder(arguments.out).has(RECORD_FILE):
            cluster.prepare()
        return _evaluated(arguments, experiment, cluster)


def _evaluated(arguments: argparse.Namespace, experiment: Experiment, cluster: Cluster) -> Outcome:
    from jobs.command.calling import calling_of
    from jobs.evaluations.evaluation import Evaluation, benchmark_of, evaluate
    from jobs.files.vectors import vectors_of
    from jobs.runs.heartbeat import Heartbeat
    from jobs.spending.plan import plan_words
    from longform.results.position_plan import positions_words

    made_by = None if arguments.plan else cluster
    bench, synthesized = benchmark_of(experiment, arguments.bench, arguments.out, made_by)
    calling = calling_of(arguments, "evaluate", arguments.out)
    vectors = vectors_of(arguments, bench)
    with vectors or nullcontext():
        given: dict[str, Any] = {"cluster": cluster, "calling": calling, "limit": arguments.limit, "vectors": vectors}
        given["synthesized"] = synthesized
        if arguments.plan:
            evaluation = Evaluation(experiment, bench, arguments.out, planning=True, **given)
            planned = evaluation.spending(depth=arguments.depth, n_queries=arguments.queries)
            return Outcome(planned, "\n".join([plan_words(planned), *positions_words(planned.get("positions", []))]))
        with Heartbeat(calling.job, "evaluate") as heartbeat:
            results = evaluate(experiment, bench, arguments.out, until=arguments.until, **given, heartbeat=heartbeat)
            outcome = _told(arguments, experiment, results, calling.failure_words())
            heartbeat.ends_with(outcome.exit_code)
    return outcome


def _told(
    arguments: argparse.Namespace, experiment: Experiment, results: dict[str, Any], failures: Sequence[str]
) -> Outcome:
    if arguments.until != REPORT:
        done = f"done until {arguments.until}: {arguments.out}"
        rankings = [*map(_ranking_words, results["retrieval"]), *results["rankings_told"]]
        return Outcome(results, "\n".join([done, *results["unscored"], *rankings]))
    return _outcome(results, experiment.unjudged_threshold, arguments.out, failures)


def _ranking_words(row: Mapping[str, Any]) -> str:
    means = "  ".join(f"{name} {row[name]:.2f}" for name in ("P", "R", "NDCG", "MAP"))
    return f"{row['dataset'] or 'queries'}, {row['system']}, first {row['k']}: {means}  ({row['n']} queries)"


def _outcome(results: dict[str, Any], threshold: float, out_url: str, failures: Sequence[str]) -> Outcome:
    """Return what a whole run says: done, or done with more missing than the threshold allows, and why."""
    from jobs.results.gated import shortfall
    from longform.report.overview import size_told
    from longform.report.parts import failures_told
    from longform.report.shown_names import scripted_told
    from longform.results.cells import capitalized, systems_in
    from longform.results.results import document

    told = f"{size_told(results['size'])}; report: {out_url}/report/index.html"
    rehearsed = [f"{one}." for one in map(capitalized, scripted_told(cast("Results", results)))]
    noted = [*results["unscored"], *(results.get("rankings_told") or []), *failures_told(systems_in(results))]
    words = [told, *rehearsed, *results["read"], *noted]
    if (above := shortfall(results, threshold)) is None:
        return Outcome(document(results), "\n".join([*failures, *words]))
    return Outcome(document(results), "\n".join([*failures, above, *words]), FAILURES_ABOVE_THRESHOLD)


main = command(parser, _work)

if __name__ == "__main__":
    raise SystemExit(main())
