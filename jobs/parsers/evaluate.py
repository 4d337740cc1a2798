"""
The main job: run systems on a benchmark, judge what they write, report.

    longform evaluate CONFIG --bench BENCH --out RUN
    longform evaluate CONFIG --bench BENCH --out RUN --citations matrix|JUDGE
    longform evaluate CONFIG --bench BENCH --out RUN --plan
    ray job submit --working-dir . -- python -m jobs.evaluate CONFIG --bench s3://... --out s3://...

CONFIG is a YAML file or a preset (demo, summhay). A second call redoes nothing that stands in RUN.
RUN belongs to one configuration: systems, judges and queries may be added, and what else changes is refused by name.
"""

from __future__ import annotations

import argparse

from jobs.parsers.calling import add_calling_arguments
from jobs.parsers.cluster import add_cluster_arguments
from jobs.parsers.steps import REPORT, STEPS
from jobs.parsers.vectors import add_vector_arguments
from jobs.parsers.verb import verb_parser


def parser() -> argparse.ArgumentParser:
    made = verb_parser("evaluate", __doc__)
    made.add_argument(
        "config",
        metavar="CONFIG",
        help="a YAML file, or a preset: demo, summhay, positional_bias, length, length_tokens",
    )
    made.add_argument("--bench", metavar="BENCH", help="a benchmark folder; default: the configuration's")
    made.add_argument("--out", required=True, metavar="RUN")
    made.add_argument("--limit", type=int, help="only the first queries")
    made.add_argument("--until", choices=STEPS, default=REPORT)
    made.add_argument("--plan", action="store_true", help="say what models will be asked and what it costs; ask none")
    made.add_argument(
        "--queries",
        type=_count,
        metavar="N",
        help="with --plan: for N queries like those of the benchmark; default: for those that it has",
    )
    made.add_argument(
        "--depth",
        type=_points,
        metavar="POINTS",
        help="with --plan: the size that finds a U of so many points over the prompt's places; default: 40, 20, 10",
    )
    made.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="change the configuration; a preset takes the short names budget, retrievers, model, judge, support_judge",
    )
    made.add_argument(
        "--citations",
        metavar="matrix|JUDGE",
        help="beside each summary, one that cites the documents that support each bullet: by the words they share "
        "(matrix), or by the verdicts of one of the configuration's support judges",
    )
    add_calling_arguments(made)
    add_cluster_arguments(made)
    add_vector_arguments(made)
    return made


def _count(text: str) -> int:
    """Read a number of queries."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number above 0, found {text!r}")
    return int(text)


def _points(text: str) -> float:
    """Read a distance on the scale of 100."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 100:
        raise argparse.ArgumentTypeError(f"expected points above 0 and up to 100, found {text!r}")
    return value
