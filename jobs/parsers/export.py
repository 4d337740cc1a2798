"""
Write a run in the format of a release.

    longform export RUN --as summhay --out DIR [--judge NAME]

summhay  the run's summaries and one judge's labels in SummHay's own JSON, a file topic_HAYSTACK.json for each haystack;
         `longform ingest summhay DIR --out BENCH` and `longform replay BENCH` give the run's scores again

Reads   the tables of RUN, and its benchmark
Writes  files in DIR; what the format cannot express is counted and told
"""

from __future__ import annotations

import argparse

from jobs.parsers.verb import verb_parser
from longform.formats.names import EXPORTED


def parser() -> argparse.ArgumentParser:
    made = verb_parser("export", __doc__)
    made.add_argument("run", metavar="RUN")
    made.add_argument("--as", dest="format", required=True, choices=EXPORTED, help="the format")
    made.add_argument("--out", required=True, metavar="DIR", help="a folder or s3:// URL")
    made.add_argument("--judge", metavar="NAME", help="whose labels are written, if several judged coverage")
    return made
