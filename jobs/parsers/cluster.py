"""The options of verbs whose stages run on Ray."""

from __future__ import annotations

import argparse


def add_cluster_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--workers",
        type=int,
        help="processes that each stage uses on Ray; 0: all runs in the command's own process, without Ray; default: "
        "small stages run there, larger ones on 2 workers",
    )
    parser.add_argument("--ray-address", help="a running cluster; default: RAY_ADDRESS, else one of its own")
