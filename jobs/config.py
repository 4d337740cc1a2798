"""Show a configuration in full."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from jobs.command.run import Outcome, run_verb
from jobs.configs import read_experiment
from jobs.configs.shown import shown_in_full
from jobs.parsers.config import parser


def main(argv: Sequence[str] | None = None) -> int:
    return run_verb(parser(), _work, argv)


def _work(arguments: argparse.Namespace) -> Outcome:
    experiment = read_experiment(arguments.config, arguments.set)
    return Outcome(experiment.model_dump(mode="json"), shown_in_full(experiment).removesuffix("\n"))


if __name__ == "__main__":
    raise SystemExit(main())
