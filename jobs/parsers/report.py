"""
Write the pages of finished runs again, to a folder of their own; of several runs also one page over all of them.

    longform report RUN... --out DIR

Reads   results.json and the tables of each run
Writes  of one run DIR/index.html, the pages that it links to, and DIR/report.md; of several runs these in DIR/<run>/,
        with DIR/index.html and DIR/index.md over all of them
"""

from __future__ import annotations

import argparse

from jobs.parsers.verb import verb_parser


def parser() -> argparse.ArgumentParser:
    made = verb_parser("report", __doc__)
    made.add_argument("runs", nargs="+", metavar="RUN")
    made.add_argument("--out", required=True, metavar="DIR")
    return made
