"""Score a run again from its stored verdicts."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from actors.storage.folder import Folder
from jobs.calling import Calling, ledger_beside
from jobs.cluster import Cluster, cluster_of
from jobs.command.run import Outcome, run_verb
from jobs.configs import validated
from jobs.evaluation import Evaluation
from jobs.parsers.aggregate import parser
from jobs.replay import Replay, ReplaySettings
from jobs.runs.record import read_record
from longform.report.overview import size_told
from longform.settings.experiment import Experiment


def open_run(url: str, changes: Sequence[str], *, cluster: Cluster) -> Evaluation | Replay:
    """
    Open the job that made the run at *url*, with `key=value` changes to its configuration.

    Raises:
        UsageError: No run stands there, or a change is not one of its configuration.
    """
    record = read_record(Folder(url))
    config, bench_url = record["config"], record["benchmark"]["url"]
    if record["verb"] == "replay":
        return Replay(bench_url, url, validated(ReplaySettings, config, changes, where=url), cluster=cluster)
    experiment = validated(Experiment, config, changes, where=url)
    calling = Calling("aggregate", ledger=ledger_beside(url))
    return Evaluation(experiment, bench_url, url, cluster=cluster, calling=calling, limit=record["limit"])


def aggregate(url: str, changes: Sequence[str], *, cluster: Cluster) -> dict[str, Any]:
    """Return the results of the run at *url*, scored again."""
    job = open_run(url, changes, cluster=cluster)
    job.do("aggregate")
    return job.report()


def main(argv: Sequence[str] | None = None) -> int:
    return run_verb(parser(), _work, argv)


def _work(arguments: argparse.Namespace) -> Outcome:
    with cluster_of(arguments) as cluster:
        results = aggregate(arguments.run, arguments.set, cluster=cluster)
    return Outcome(results, f"{size_told(results['size'])}; report: {arguments.run}/report/index.html")


if __name__ == "__main__":
    raise SystemExit(main())
