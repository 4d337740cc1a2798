"""
Read published or own files into a benchmark folder.

    longform ingest summhay topic_news3.json.gz topic_news5.json.gz --out BENCH
    longform ingest summhay eval_benchmark_data.json.gz --out HUMAN
    longform ingest longformfact generation/multixscience.jsonl.gz --out BENCH
    longform ingest msrs story/ --out BENCH
    longform ingest beir scifact/ --out BENCH
    longform ingest jsonl my_corpus/ --out BENCH
    longform ingest python --class my_module:MyReader notes/ --out BENCH

Reads   SummHay's files (plain or gzipped, or a folder of topic_*.json), longformfact's (labels or inputs), a folder of
        MSRS, of BEIR or of plain JSON Lines, or what a class of your own reads (docs/extending.md)
Writes  documents, queries, targets, qrels, rankings, summaries, labels; benchmark.json last. Malformed input: nothing
"""

from __future__ import annotations

import argparse
from typing import Any

from jobs.parsers.verb import verb_parser
from longform.formats.names import NAMES
from longform.formats.options import OPTIONS

KINDS = (*NAMES, "python")


def parser() -> argparse.ArgumentParser:
    made = verb_parser("ingest", __doc__)
    made.add_argument("kind", choices=KINDS)
    made.add_argument("paths", nargs="+", metavar="PATH")
    made.add_argument("--out", required=True, metavar="BENCH")
    made.add_argument("--class", dest="class_", metavar="MODULE:CLASS", help="python: the class that reads")
    made.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="python: an option of the class, in YAML"
    )
    for option in OPTIONS:
        given: dict[str, Any] = {"choices": [*option.told]}
        if option.default is False:
            given = {"action": "store_true"}
        elif option.key is not None:
            given = {"metavar": "VALUE"}
        made.add_argument(option.flag, default=option.default, help=f"{option.format}: {option.help}", **given)
    return made
