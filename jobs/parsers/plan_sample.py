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

from jobs.parsers.verb import verb_parser


def parser() -> argparse.ArgumentParser:
    made = verb_parser("plan-sample", __doc__)
    made.add_argument("run", metavar="RUN", help="a folder or s3:// URL")
    made.add_argument("--difference", type=_size, metavar="SIZE", help="a true difference that is to be shown")
    made.add_argument("--interval", type=_size, metavar="HALF", help="half the width of a difference's 95 %% interval")
    made.add_argument(
        "--power", type=_share, default=0.8, help="probability that the difference is shown; default: 0.8"
    )
    made.add_argument("--measure", action="append", default=[], metavar="M", help="only this measure")
    made.add_argument(
        "--systems", nargs=2, metavar=("A", "B"), help="plan with the differences of these two, 'SUMMARIZER, SETTING'"
    )
    return made


def _size(words: str) -> float:
    return _between(words, 0.0, float("inf"), "a number above 0, in the unit of the measure, such as 5")


def _share(words: str) -> float:
    return _between(words, 0.0, 1.0, "a number between 0 and 1, such as 0.8")


def _between(words: str, low: float, high: float, expected: str) -> float:
    try:
        value = float(words)
    except ValueError:
        value = low
    if low < value < high:
        return value
    raise argparse.ArgumentTypeError(f"expected {expected}, found {words!r}")
