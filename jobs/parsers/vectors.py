"""The options of verbs that keep vectors beside a benchmark."""

from __future__ import annotations

import argparse

MOST_MB = 2000
"""The largest table of one encoder: 2.5 million sentences of 384 dimensions."""


def add_vector_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--no-vectors",
        action="store_true",
        help="embed texts anew, and keep no vectors beside the benchmark; numbers are the same",
    )
    parser.add_argument(
        "--vectors-mb",
        type=int,
        default=MOST_MB,
        metavar="MB",
        help="the largest table of vectors of one encoder beside the benchmark (default: %(default)s)",
    )
