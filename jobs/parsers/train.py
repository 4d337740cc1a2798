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

import argparse
from pathlib import Path

from jobs.parsers.verb import verb_parser

NAMES = ("support", "ranker", "judge", "all")


def parser() -> argparse.ArgumentParser:
    made = verb_parser("train", __doc__)
    made.add_argument("name", choices=NAMES, metavar="NAME", help=", ".join(NAMES))
    made.add_argument("benchmark", metavar="BENCH", help="haystacks with gold maps, released summaries and labels")
    made.add_argument("--human", metavar="BENCH", help="people's labels; ranker and judge need them")
    made.add_argument("--kept-out", metavar="BENCH", help="people's labels of another topic, to measure judges on")
    made.add_argument("--out", required=True, type=Path, metavar="DIR", help="a local folder")
    return made
