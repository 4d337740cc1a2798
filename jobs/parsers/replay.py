"""
Score the summaries and labels that a benchmark ships, without a call.

    longform replay BENCH --out RUN [--json]
    longform replay BENCH --out RUN --citations matrix

Reads   BENCH/summaries, BENCH/labels and BENCH/released_scores
Writes  summaries, units, verdicts, scores, results.json and report/ in RUN; a second call redoes nothing
"""

from __future__ import annotations

import argparse

from jobs.parsers.cluster import add_cluster_arguments
from jobs.parsers.verb import verb_parser


def parser() -> argparse.ArgumentParser:
    made = verb_parser("replay", __doc__)
    made.add_argument("benchmark", metavar="BENCH")
    made.add_argument("--out", required=True, metavar="RUN")
    made.add_argument(
        "--citations", choices=["released", "matrix"], help="matrix: also with the documents that support each bullet"
    )
    made.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of the scoring")
    add_cluster_arguments(made)
    return made
