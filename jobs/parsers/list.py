"""
The names that a configuration and the command line may hold, with one line of meaning each.

    longform list WHAT [--json]

Reads   nothing but the program itself
Writes  nothing
"""

from __future__ import annotations

import argparse

from jobs.parsers.verb import verb_parser
from longform.nearest import meant

LISTED = ("retrievers", "rerankers", "summarizers", "judges", "methods", "measures", "studies", "presets", "formats")


def parser() -> argparse.ArgumentParser:
    made = verb_parser("list", __doc__)
    made.add_argument("what", metavar="WHAT", type=_listed, help=f"one of {', '.join(LISTED)}")
    return made


def _listed(name: str) -> str:
    if name not in LISTED:
        msg = f"no list of {name!r}; expected one of {', '.join(LISTED)}{meant(name, LISTED)}"
        raise argparse.ArgumentTypeError(msg)
    return name
