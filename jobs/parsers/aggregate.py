"""
Score a run again from its stored verdicts, and write its results and pages anew; no model is asked.

    longform aggregate RUN
    longform aggregate RUN --set partial_score=0.25 --set aggregate=per_summary

Reads   verdicts, units and summaries of the run, and the benchmark it names
Writes  scores if they are not there yet, results.json, report/
"""

from __future__ import annotations

import argparse

from jobs.parsers.cluster import add_cluster_arguments
from jobs.parsers.verb import verb_parser


def parser() -> argparse.ArgumentParser:
    made = verb_parser("aggregate", __doc__)
    made.add_argument("run", metavar="RUN")
    made.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change the configuration")
    add_cluster_arguments(made)
    return made
