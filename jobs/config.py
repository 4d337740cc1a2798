"""
A configuration in full: every key with its value, its default and its meaning, as YAML.

    longform config PRESET [--set KEY=VALUE ...]
    longform config PRESET --set budget=2000 > mine.yaml

Reads   a preset (`longform list presets`) or a YAML file, with the preset that its key `base` names
Writes  nothing; what it prints is a configuration that `longform evaluate` reads to the same experiment
"""

from __future__ import annotations

import argparse

from jobs.command.parser import VerbParser
from jobs.command.run import Outcome, command


def parser() -> VerbParser:
    made = VerbParser("config", __doc__)
    made.add_argument("config", metavar="CONFIG", help="a preset or a YAML file")
    told = "change it, as `longform evaluate` takes it"
    made.used.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help=told)
    return made


def _work(arguments: argparse.Namespace) -> Outcome:
    from jobs.configs import read_experiment
    from jobs.configs.shown import shown_in_full

    experiment = read_experiment(arguments.config, arguments.set)
    return Outcome(experiment.model_dump(mode="json"), shown_in_full(experiment).removesuffix("\n"))


main = command(parser, _work)

if __name__ == "__main__":
    raise SystemExit(main())
