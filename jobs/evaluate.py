"""Run systems on a benchmark, judge what they write, report."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any, cast

from actors.python_class import load
from actors.storage.folder import Folder
from jobs.calling import Calling, calling_of
from jobs.cluster import Cluster, cluster_of
from jobs.command.exit_codes import FAILURES_ABOVE_THRESHOLD
from jobs.command.run import Outcome, run_verb
from jobs.configs import read_experiment
from jobs.evaluation import Evaluation
from jobs.files.vectors import Vectors, vectors_of
from jobs.parsers.evaluate import parser
from jobs.parsers.steps import REPORT
from jobs.results.faithfulness import with_another_order
from jobs.results.retrieval import rankings_told, retrieval_so_far
from jobs.runs.heartbeat import Heartbeat
from jobs.runs.record import RECORD_FILE, check_goes_on
from jobs.runs.retry import forget_passing_failures, say_what_is_redone
from jobs.runs.unscored import unranked, unscored
from jobs.spending.plan import plan_words
from longform.errors import BudgetReachedError, UsageError
from longform.report.measures import capitalized
from longform.report.overview import size_told
from longform.report.parts import failures_told
from longform.report.shown_names import scripted_told
from longform.results.cells import systems_in
from longform.results.position_plan import positions_words
from longform.results.results import Results
from longform.settings.experiment import Experiment

_IMPORTED_BY_WORKERS = ("ray.data", "jobs.runs.stage_order", "actors.local_models.encoder", "onnx", "onnxruntime")


def evaluate(
    experiment: Experiment,
    bench_url: str,
    out_url: str,
    *,
    cluster: Cluster,
    calling: Calling,
    limit: int | None = None,
    until: str = REPORT,
    vectors: Vectors | None = None,
    heartbeat: Heartbeat | None = None,
) -> dict[str, Any]:
    """
    Return the results of an experiment; with an earlier *until*, the run's record.

    Args:
        experiment: What to run.
        bench_url: On which benchmark.
        out_url: Where the run's tables are, and come to be.
        cluster: Where stages run.
        calling: The ledger and the budget of model calls.
        limit: Only the first queries of the benchmark.
        until: The last stage to do.
        vectors: Kept beside the benchmark; None: there are none.
        heartbeat: Tells other processes how far the command is; None: it tells nobody.

    Raises:
        UsageError: Something the experiment names cannot be used; found before any work.
        BudgetReachedError: The budget does not suffice for the rest; finished work is kept.
        ServerGoneError: A model's server cannot be used; what is done is kept.
    """
    given: dict[str, Any] = {"cluster": cluster, "calling": calling, "limit": limit, "vectors": vectors}
    given["heartbeat"] = heartbeat
    evaluation = Evaluation(experiment, bench_url, out_url, **given)
    say_what_is_redone(evaluation.run, evaluation.plan, evaluation.record.content)
    forget_passing_failures(evaluation.run, evaluation.plan)
    found = evaluation.through(until)
    while until == REPORT and (more := with_another_order(evaluation.configured, found)) is not None:
        before = evaluation
        evaluation = Evaluation(more, bench_url, out_url, **given, goes_on=True)
        try:
            found = evaluation.through(until)
        except BudgetReachedError:
            before.budget_ended = True
            before.report()
            raise
    if until == REPORT:
        return found
    told = unscored(evaluation.experiment, evaluation.benchmark, evaluation.plan.query_ids)
    told += unranked(evaluation.run, evaluation.plan)
    retrieval = retrieval_so_far(evaluation.run, evaluation.benchmark, evaluation.experiment, evaluation.plan)
    judged = rankings_told(evaluation.benchmark, evaluation.plan.query_ids) if retrieval else []
    return {"run": found, "unscored": told, "retrieval": retrieval, "rankings_told": judged}


def benchmark_url(experiment: Experiment, named: str | None, out_url: str) -> str:
    """
    Return the benchmark of the command line, else of the configuration, else one made as it says in the run's folder.

    Raises:
        UsageError: None of the three, or the run's folder holds a run of another configuration.
    """
    if named or experiment.benchmark:
        return str(named or experiment.benchmark)
    if experiment.synthesize is None:
        raise UsageError(f"configuration {experiment.name!r} names no benchmark; name one with --bench")
    check_goes_on(Folder(out_url), experiment)  # before the benchmark is written into it
    url = f"{out_url.rstrip('/')}/benchmark"
    load("jobs.synthesize:generate", folder=None)(experiment.synthesize, url)  # an annex
    return url


def shortfall(results: Mapping[str, Any], threshold: float) -> str | None:
    """Say which share of judgements, or of a system's summaries, is missing above the threshold; None: none is."""
    cells = systems_in(results)
    told = []
    unjudged = max((cell.get("unjudged_share") or 0.0 for cell in cells), default=0.0)
    if unjudged > threshold:
        told.append(f"{unjudged:.1%} of what a cell asks its judge is unjudged")
    failed = {
        f"{cell['summarizer']}, {cell['setting']}": _failed_share(cell)
        for cell in cells
        if cell["judge"] and not cell.get("twin_of")
    }
    worst = max(failed, key=lambda name: failed[name], default="")
    if worst and failed[worst] > threshold:
        told.append(f"{failed[worst]:.1%} of the summaries of {worst} failed, so that no judge was asked about them")
    return f"{'; '.join(told)} (more than {threshold:.0%})" if told else None


def _failed_share(cell: Mapping[str, Any]) -> float:
    return float(cell.get("n_failed") or 0) / (cell["n_summaries"] or 1)


def main(argv: Sequence[str] | None = None) -> int:
    return run_verb(parser(), _work, argv)


def _work(arguments: argparse.Namespace) -> Outcome:
    if arguments.depth is not None and not arguments.plan:
        raise UsageError("--depth says what a plan is to find: expected --plan beside it")
    if arguments.queries is not None and not arguments.plan:
        raise UsageError("--queries scales a plan: expected --plan beside it; --limit runs on the first queries only")
    changes = [f"citations={arguments.citations}"] if arguments.citations else []
    experiment = read_experiment(arguments.config, [*arguments.set, *changes])
    with cluster_of(arguments) as cluster:
        if not arguments.plan and not Folder(arguments.out).has(RECORD_FILE):
            cluster.prepare(_IMPORTED_BY_WORKERS)
        return _evaluated(arguments, experiment, cluster)


def _evaluated(arguments: argparse.Namespace, experiment: Experiment, cluster: Cluster) -> Outcome:
    bench = benchmark_url(experiment, arguments.bench, arguments.out)
    calling = calling_of(arguments, "evaluate", arguments.out)
    vectors = vectors_of(arguments, bench)
    with vectors or nullcontext():
        given: dict[str, Any] = {"cluster": cluster, "calling": calling, "limit": arguments.limit, "vectors": vectors}
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
    told = f"{size_told(results['size'])}; report: {out_url}/report/index.html"
    rehearsed = [f"{one}." for one in map(capitalized, scripted_told(cast("Results", results)))]
    noted = [*results["unscored"], *(results.get("rankings_told") or []), *failures_told(systems_in(results))]
    words = [told, *rehearsed, *results["read"], *noted]
    if (above := shortfall(results, threshold)) is None:
        return Outcome(results, "\n".join([*failures, *words]))
    return Outcome(results, "\n".join([*failures, above, *words]), FAILURES_ABOVE_THRESHOLD)


if __name__ == "__main__":
    raise SystemExit(main())
