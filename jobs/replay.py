"""
Score the summaries and labels that a benchmark ships, without a call.

    longform replay BENCH --out RUN [--json]
    longform replay BENCH --out RUN --citations matrix

Reads   BENCH/summaries, BENCH/labels and BENCH/released_scores
Writes  summaries, units, verdicts, scores, results.json and report/ in RUN; a second call redoes nothing
"""

from __future__ import annotations

import argparse

from jobs.command.parser import VerbParser, add_cluster_arguments
from jobs.command.run import Outcome, command


def parser() -> VerbParser:
    made = VerbParser("replay", __doc__)
    made.add_argument("benchmark", metavar="BENCH")
    made.used.add_argument("--out", required=True, metavar="RUN")
    told = "matrix: also with the documents that support each bullet"
    made.used.add_argument("--citations", choices=["released", "matrix"], help=told)
    made.used.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the scoring")
    add_cluster_arguments(made)
    return made


def _work(arguments: argparse.Namespace) -> Outcome:
    from jobs.command.calling import command_name
    from jobs.configs import validated
    from jobs.evaluations.replay import ReplaySettings, replay
    from jobs.runs.heartbeat import Heartbeat
    from jobs.runs.record import check_no_benchmark
    from jobs.stages.cluster import cluster_of
    from longform.report.overview import size_told
    from longform.results.results import document

    check_no_benchmark(arguments.out)
    given = {"citations": arguments.citations} if arguments.citations else {}
    settings = validated(ReplaySettings, given, arguments.set, where="replay")
    with cluster_of(arguments) as cluster, Heartbeat(command_name("replay"), "replay") as heartbeat:
        results = replay(arguments.benchmark, arguments.out, settings, cluster=cluster, heartbeat=heartbeat)
    return Outcome(document(results), f"{size_told(results['size'])}; report: {arguments.out}/report/index.html")


main = command(parser, _work)

if __name__ == "__main__":
    raise SystemExit(main())
