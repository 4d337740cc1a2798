"""Say how many queries show a difference, planned with a run's own differences."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from actors.storage.folder import Folder
from jobs.command.run import Outcome, run_verb
from jobs.parsers.plan_sample import parser
from jobs.results.answers import answered
from jobs.results.write import read_results
from longform.results.cells import measures_in
from longform.results.sample_plan import Wanted, sample_answer, sample_rows


def main(argv: Sequence[str] | None = None) -> int:
    return run_verb(parser(), _work, argv)


def _work(arguments: argparse.Namespace) -> Outcome:
    systems = None if arguments.systems is None else (arguments.systems[0], arguments.systems[1])
    wanted = Wanted(arguments.difference, arguments.interval, arguments.power, systems)
    results = read_results(Folder(arguments.run))
    rows = sample_rows(results, wanted, measures=arguments.measure)
    return answered(sample_answer(rows, measures_in(results), wanted), "sample", None)


if __name__ == "__main__":
    raise SystemExit(main())
