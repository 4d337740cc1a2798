"""
Print sums of a ledger's calls and costs.

    longform ledger [LEDGER | RUN] [--job JOB] [--by model|stage|job|day] [--parquet FILE]

Reads   the ledger, a folder or s3:// URL; of a run, the calls of its commands; default: LONGFORM_LEDGER
Writes  FILE, the whole table `calls`, if asked for
"""

from __future__ import annotations

import argparse

from jobs.parsers.calling import LEDGER_VARIABLE
from jobs.parsers.verb import verb_parser


def parser() -> argparse.ArgumentParser:
    made = verb_parser("ledger", __doc__)
    made.add_argument(
        "ledger", nargs="?", metavar="LEDGER", help=f"its folder or s3:// URL, or a run; default: {LEDGER_VARIABLE}"
    )
    made.add_argument("--job", help="the calls of this job only")
    made.add_argument("--by", choices=["model", "stage", "job", "day"], help="a line for each; days are of UTC")
    made.add_argument("--parquet", metavar="FILE", help="write the table of all calls to this file")
    return made
