"""
Judges against human labels: agreement, bias, cost, and the cards and the page that state them.

    longform calibrate HUMAN --judge released:gpt-4o --json
    longform calibrate HUMAN --judge offline-people --out card.json
    longform calibrate HUMAN --judge mean:offline-people+released:gpt-4o
    longform calibrate HUMAN --judge offline-people --judge released:gpt-4o --out judges
    longform calibrate HUMAN --judge NAME --config CONFIG --plan
    longform calibrate HUMAN --judge NAME --config CONFIG --adversarial
    longform calibrate HUMAN --judge NAME --config CONFIG --annotator first
    longform calibrate LABELS --judge offline --modes document,full,chunk-1024 --orders
    longform calibrate LABELS --judge mean:offline+checker
    longform calibrate LABELS --judge offline --judge checker --modes paper --orders --out judges
    longform calibrate LABELS --judge '{task: support, kind: checkpoint, model: FOLDER}' --out card.json

Reads   summaries, targets, documents and labels of a benchmark; those of all annotators but `released:NAME`, unless
        told
Writes  the card, if `--out` names a file; of several judges judges.html, judges.md, judges.json and cards into the
        folder that it names; `verdicts` into the folder that `--run` names, else into that of the page, where they are
        found again. A judge that fails is named, and the others go on
"""

from __future__ import annotations

import argparse

from jobs.command.parser import VerbParser, add_calling_arguments, add_cluster_arguments, count, natural, share
from jobs.command.run import Outcome, command


def parser() -> VerbParser:
    made = VerbParser("calibrate", __doc__)
    made.add_argument("benchmark", metavar="BENCH", help="a benchmark with summaries and labels, or a run")
    which = made.used.add_mutually_exclusive_group(required=True)
    told = "released:NAME, one that ships, mean:A+B, one of --config, or settings as YAML; may be repeated"
    which.add_argument("--judge", action="append", default=[], metavar="JUDGE", help=told)
    which.add_argument("--support", action="append", default=[], metavar="JUDGE", help="the same, of task support")
    made.used.add_argument(
        "--out", metavar="OUT", help="file of the card; of several judges, or with / behind it, a folder"
    )
    labels = made.add_argument_group("judges, labels and the card")
    labels.add_argument("--config", help="a configuration whose judges may be named")
    labels.add_argument("--plan", action="store_true", help="say what the judge is asked and its cost; ask nothing")
    labels.add_argument(
        "--annotator",
        action="append",
        default=[],
        metavar="NAME",
        help="hold the judge against this annotator's labels; may be repeated; default: all but released:NAME",
    )
    labels.add_argument("--note", help="what a reader of the card must know besides, in one sentence")
    told = "ask a judge of coverage about perturbed summaries, too; default: if its answers cost nothing"
    labels.add_argument("--adversarial", action=argparse.BooleanOptionalAction, default=None, help=told)
    labels.add_argument("--resamples", type=count, default=2000, help="of each interval")
    labels.add_argument("--seed", type=natural, default=1, help="of the intervals")
    kept = "keep verdicts in this folder, and find them there; default: only replies that cost are kept, in the ledger"
    labels.add_argument("--run", metavar="RUN", help=kept)
    support = made.add_argument_group("support judges")
    modes = "comma list of document, full, chunk-N (N tokens), or paper: document, full and four sizes of chunks"
    support.add_argument("--modes", default="document", help=modes)
    support.add_argument(
        "--orders", action="store_true", help="judge the joined documents in four orders by importance"
    )
    likeness = "what ranks documents for --orders: released, or likeness by summary[:MODEL] or reference[:MODEL]"
    support.add_argument("--importance", default="released", help=likeness)
    support.add_argument("--fidelity", choices=["ours", "release"], default="ours", help="how missing cells are merged")
    support.add_argument("--threshold", type=share, help="a number above it is supported; default: the judge's own")
    add_calling_arguments(made)
    add_cluster_arguments(made)
    return made


def _work(arguments: argparse.Namespace) -> Outcome:
    from jobs.calibration.calibrated import outcome

    return outcome(arguments)


main = command(parser, _work)

if __name__ == "__main__":
    raise SystemExit(main())
