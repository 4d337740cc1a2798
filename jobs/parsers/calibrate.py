"""
A judge against human labels: its agreement, its bias, and the card that states both.

    longform calibrate HUMAN --judge released:gpt-4o --json
    longform calibrate HUMAN --judge offline-people --out card.json
    longform calibrate HUMAN --judge mean:offline-people+released:gpt-4o
    longform calibrate HUMAN --judge NAME --config CONFIG --plan
    longform calibrate HUMAN --judge NAME --config CONFIG --annotator first
    longform calibrate LABELS --support offline --modes document,full,chunk-1024 --orders
    longform calibrate LABELS --support mean:offline+checker
    longform calibrate LABELS --support '{kind: checkpoint, model: FOLDER}' --out card.json

Reads   summaries, targets, documents and labels of a benchmark; those of all annotators but `released:NAME`, unless
        told
Writes  the card, if `--out` names a file; `verdicts` into the folder that `--run` names, where they are found again
"""

from __future__ import annotations

import argparse

from jobs.parsers.calling import add_calling_arguments
from jobs.parsers.cluster import add_cluster_arguments
from jobs.parsers.verb import verb_parser


def parser() -> argparse.ArgumentParser:
    made = verb_parser("calibrate", __doc__)
    made.add_argument("benchmark", metavar="BENCH", help="a benchmark with summaries and labels, or a run")
    which = made.add_mutually_exclusive_group(required=True)
    which.add_argument("--judge", help="released:NAME, one that ships, mean:A+B, one of --config, or settings as YAML")
    which.add_argument("--support", help="the same, of task support")
    made.add_argument("--config", help="a configuration whose judges may be named")
    made.add_argument(
        "--annotator",
        action="append",
        default=[],
        metavar="NAME",
        help="hold the judge against this annotator's labels; may be repeated; default: all but released:NAME",
    )
    made.add_argument("--out", metavar="CARD", help="write the card to this file")
    made.add_argument("--note", help="what a reader of the card must know besides, in one sentence")
    made.add_argument("--resamples", type=int, default=2000, help="of each interval")
    made.add_argument("--seed", type=int, default=1, help="of the intervals")
    made.add_argument("--plan", action="store_true", help="say what the judge is asked and its cost; ask nothing")
    made.add_argument("--run", metavar="RUN", help="keep verdicts in this folder, and find them there")
    add_calling_arguments(made)
    add_cluster_arguments(made)
    group = made.add_argument_group("of support judges")
    group.add_argument("--modes", default="document", help="comma list of document, full, chunk-N (N tokens)")
    group.add_argument("--orders", action="store_true", help="judge the joined documents in four orders by importance")
    group.add_argument("--fidelity", choices=["ours", "release"], default="ours", help="how missing cells are merged")
    group.add_argument("--threshold", type=float, help="a number above it is supported; default: the judge's own")
    return made
