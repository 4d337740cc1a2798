"""
Say how many queries show a difference, planned with the differences between the systems of a finished run.

    longform plan-sample RUN --difference 5 [--power 0.8] [--measure M ...] [--systems A B]
    longform plan-sample RUN --interval 2

Sizes are in the unit of the measure (most: points, 0 to 100). The spread of a query's difference between two systems is
the median of all pairs, or that of --systems. Queries of one haystack count as one if intervals resample haystacks.

Reads   results.json of RUN
Writes  nothing
"""

from __future__ import annotations

import argparse

from jobs.command.parser import VerbParser, number, share
from jobs.command.run import Outcome, command


def parser() -> VerbParser:
    made = VerbParser("plan-sample", __doc__)
    made.add_argument("run", metavar="RUN", help="a folder or s3:// URL")
    size = number("a number above 0, in the unit of the measure, such as 5", lambda value: 0 < value < float("inf"))
    made.used.add_argument("--difference", type=size, metavar="SIZE", help="a true difference that is to be shown")
    told = "half the width of a difference's 95 %% interval"
    made.used.add_argument("--interval", type=size, metavar="HALF", help=told)
    told = "probability that the difference is shown; default: 0.8"
    made.used.add_argument("--power", type=share, default=0.8, help=told)
    made.used.add_argument("--measure", action="append", default=[], metavar="M", help="only this measure")
    told = "plan with the differences of these two, 'SUMMARIZER, SETTING'"
    made.used.add_argument("--systems", nargs=2, metavar=("A", "B"), help=told)
    return made


def _work(arguments: argparse.Namespace) -> Outcome:
    from actors.storage.folder import Folder
    from jobs.command.run import answered
    from jobs.results.write import read_results
    from longform.results.cells import measures_in
    from longform.results.sample_plan import Aims, sample_answer, sample_rows

    systems = None if arguments.systems is None else (arguments.systems[0], arguments.systems[1])
    wanted = Aims(arguments.difference, arguments.interval, arguments.power, systems)
    results = read_results(Folder(arguments.run))
    rows = sample_rows(results, wanted, measures=arguments.measure)
    return answered(sample_answer(rows, measures_in(results), wanted), "sample", None)


main = command(parser, _work)

if __name__ == "__main__":
    raise SystemExit(main())
