"""
Compare two runs on the queries that both have: differences with intervals and tests, groups, settings, costs.

    longform compare RUN RUN [--systems A=B ...] [--measure M ...] [--out DIR]

Reads   the records, scores, rankings and ledgers of both runs, and their benchmarks; it writes nothing to them
Writes  DIR/compare.html, DIR/compare.md and DIR/compare.json, if asked for
"""

from __future__ import annotations

import argparse

from jobs.command.parser import VerbParser
from jobs.command.run import Outcome, command


def parser() -> VerbParser:
    made = VerbParser("compare", __doc__)
    made.add_argument("runs", nargs=2, metavar="RUN", help="folders or s3:// URLs; differences are second less first")
    made.used.add_argument(
        "--systems",
        action="append",
        default=[],
        metavar="A=B",
        help="compare system A of the first run with system B of the second, each as 'SUMMARIZER, SETTING' or by one "
        "of both; default: systems of the same name",
    )
    told = "only this measure; of rankings: nDCG or nDCG@10"
    made.used.add_argument("--measure", action="append", default=[], metavar="M", help=told)
    made.used.add_argument("--out", metavar="DIR", help="write pages to this folder")
    return made


def _work(arguments: argparse.Namespace) -> Outcome:
    from jobs.command.run import answered
    from jobs.results.compared import two_runs

    found = two_runs(arguments.runs, systems=arguments.systems, measures=arguments.measure)
    return answered(found, "compare", arguments.out)


main = command(parser, _work)

if __name__ == "__main__":
    raise SystemExit(main())
