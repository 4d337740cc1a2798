"""
Re-make the offline models that ship, and measure their reach on data they were not fitted on.

    longform train support BENCH --out DIR
    longform train all BENCH --human HUMAN --kept-out TALKS --out longform/models
    longform train checker BENCH... --out DIR              (see `longform train checker --help`)
    longform train support-judge FOLDER --out DIR          (see `longform train support-judge --help`)

NAME is support (which documents support a claim), ranker (which sentence to quote; statements), judge (coverage, as
people and as GPT-4o mark it by words; with --kept-out, as people mark it by words and vectors too) or all. Every figure
is measured with the haystack, or for people's labels the query, left out of all that was fitted; the models written are
then fitted on everything.

Reads   a benchmark with gold maps, released summaries and labels; one with people's labels; one with people's labels of
        another topic, which of all models written only the judge by vectors is fitted on
Writes  NAME's models and `reach_NAME.json`, what they reach
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from jobs.command import USAGE
from jobs.command.parser import VerbParser
from longform.halls import ROOT, hold_hall

NAMES = ("support", "ranker", "judge", "all")


def parser() -> VerbParser:
    made = VerbParser("train", __doc__)
    made.add_argument("name", choices=NAMES, metavar="NAME", help=", ".join(NAMES))
    made.add_argument("benchmark", metavar="BENCH", help="haystacks with gold maps, released summaries and labels")
    made.used.add_argument("--human", metavar="BENCH", help="people's labels; ranker and judge need them")
    told = "people's labels of another topic, to measure judges on"
    made.used.add_argument("--kept-out", metavar="BENCH", help=told)
    made.used.add_argument("--out", required=True, type=Path, metavar="DIR", help="a local folder")
    return made


def main(argv: Sequence[str] | None = None) -> int:
    """Run the laboratory's verb; without a laboratory, say where it is to be had and end with exit code 2."""
    if not (ROOT / "lab").is_dir():
        from actors.terminal import say  # help loads no hall but this one

        say(
            f"longform train: expected the folder lab/ beside longform/ in {ROOT}, found none: what fits the shipped "
            "models is in the source of the project and not in its wheel; work from a clone, after `make install`",
            file=sys.stderr,
        )
        return USAGE
    hold_hall("lab")
    words = list(sys.argv[1:] if argv is None else argv)
    named = import_module("lab.parsers").PARSERS
    made, rest = (named[words[0]], words[1:]) if words and words[0] in named else (parser, words)
    made().parse_args(rest)  # help and wrong words end here, before anything large is loaded
    return int(import_module("lab.train").main(words))


if __name__ == "__main__":
    raise SystemExit(main())
