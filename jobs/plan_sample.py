"""Say how many queries show a difference, planned with a run's own differences."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from actors.storage.folder import Folder
from jobs.command.run import Outcome, run_verb
from jobs.parsers.plan_sample import parser
from jobs.results.write import read_results
from longform.results.sample_plan import Wanted, sample_rows, sample_words


def main(argv: Sequence[str] | None = None) -> int:
    return run_verb(parser(), _work, argv)


def _work(arguments: argparse.Namespace) -> Outcome:
    systems = None if arguments.systems is None else (arguments.systems[0], arguments.systems[1])
    wanted = Wanted(arguments.difference, arguments.interval, arguments.power, systems)
    rows = sample_rows(read_results(Folder(arguments.run)), wanted, measures=arguments.measure)
    lines = [line for row in rows for line in sample_words(row)]
    told = f"Power {arguments.power:g}, level {rows[0]['level']:.2g}. All pairs: the differences of a report's page."
    return Outcome({"rows": rows}, "\n".join([*lines, told]))


if __name__ == "__main__":
    raise SystemExit(main())
