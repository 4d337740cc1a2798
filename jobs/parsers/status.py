"""
Say how a run stands: its stages, rate, time left, spend, refusals, failures, and what to do next.

    longform status RUN [--watch]

Reads   the run's record, tables, heartbeats and ledgers; it may be called while a command works
Writes  nothing; with --watch RUN/report/live/index.html, the report of the queries that are judged so far

With --json it prints one document, with --watch one for each refresh.
"""

from __future__ import annotations

import argparse

from jobs.parsers.verb import verb_parser


def parser() -> argparse.ArgumentParser:
    made = verb_parser("status", __doc__)
    made.add_argument("run", metavar="RUN", help="a folder or s3:// URL")
    made.add_argument(
        "--watch",
        action="store_true",
        help="say it again every few seconds until the command ends, and write a report of the queries judged so far",
    )
    made.add_argument("--every", type=float, default=5.0, metavar="SECONDS", help="of --watch; default: 5")
    return made
