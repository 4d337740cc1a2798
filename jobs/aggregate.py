"""
Score a run again from its stored verdicts, and write its results and pages anew; no model is asked.

    longform aggregate RUN
    longform aggregate RUN --set partial_score=0.25 --set aggregate=per_summary

Reads   verdicts, units and summaries of the run, and the benchmark it names
Writes  scores if they are not there yet, results.json, report/
"""

from __future__ import annotations

import argparse

from jobs.command.parser import VerbParser, add_cluster_arguments
from jobs.command.run import Outcome, command


def parser() -> VerbParser:
    made = VerbParser("aggregate", __doc__)
    made.add_argument("run", metavar="RUN")
    made.used.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change the configuration")
    add_cluster_arguments(made)
    return made


def _work(arguments: argparse.Namespace) -> Outcome:
    from jobs.evaluations.stored import aggregate
    from jobs.stages.cluster import cluster_of
    from longform.report.overview import size_told
    from longform.results.results import document

    with cluster_of(arguments) as cluster:
        results = aggregate(arguments.run, arguments.set, cluster=cluster)
    return Outcome(document(results), f"{size_told(results['size'])}; report: {arguments.run}/report/index.html")


main = command(parser, _work)

if __name__ == "__main__":
    raise SystemExit(main())
