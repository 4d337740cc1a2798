"""The command line of the verbs that make a benchmark from a configuration."""

from __future__ import annotations

import argparse

from jobs.parsers.calling import add_calling_arguments
from jobs.parsers.cluster import add_cluster_arguments
from jobs.parsers.verb import verb_parser


def synthesis_parser(verb: str, description: str | None, *, config: str) -> argparse.ArgumentParser:
    """*config* says what CONFIG may be; its changes are `changes`."""
    parser = verb_parser(verb, description)
    parser.add_argument("config", metavar="CONFIG", help=config)
    parser.add_argument("--out", required=True, metavar="BENCH", help="a folder or s3:// URL")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", dest="changes", help="change the configuration"
    )
    parser.add_argument("--plan", action="store_true", help="say what will be asked and what it costs; ask nothing")
    add_calling_arguments(parser)
    add_cluster_arguments(parser)
    return parser
