"""
A configuration in full: every key with its value, its default and its meaning, as YAML.

    longform config PRESET [--set KEY=VALUE ...]
    longform config PRESET --set budget=2000 > mine.yaml

Reads   a preset (`longform list presets`) or a YAML file, with the preset that its key `base` names
Writes  nothing; what it prints is a configuration that `longform evaluate` reads to the same experiment
"""

from __future__ import annotations

import argparse

from jobs.parsers.verb import verb_parser


def parser() -> argparse.ArgumentParser:
    made = verb_parser("config", __doc__)
    made.add_argument("config", metavar="CONFIG", help="a preset or a YAML file")
    made.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="change it, as `longform evaluate` takes it"
    )
    return made
