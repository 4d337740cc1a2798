"""
Correct the scores of a run by summaries that people labelled: prediction-powered inference.

    longform annotate RUN --sheets sheets --annotator ann --summaries 40
    longform annotate RUN --filled sheets/ann.csv
    longform correct RUN
    longform correct RUN --measure coverage --systems A=B --out corrected
    longform correct RUN --labels sheets/ann.csv --task coverage
    longform correct RUN --labels BENCH

A judge's mean of each system is moved by how far the judge is from people on the labelled summaries. The interval is
right whatever the judge's errors are, if the labelled summaries were drawn at random, as `annotate --summaries` does;
the better the judge, the narrower it is.

Reads   the record, scores, summaries and labels of RUN, and its benchmark; sheets, or labels of another run or of a
        benchmark on summaries of equal text
Writes  DIR/corrected.html, DIR/corrected.md and DIR/corrected.json, if asked for
"""

from __future__ import annotations

import argparse

from jobs.command.parser import VerbParser
from jobs.command.run import Outcome, command


def parser() -> VerbParser:
    made = VerbParser("correct", __doc__)
    made.add_argument("run", metavar="RUN", help="a folder or s3:// URL")
    made.used.add_argument(
        "--labels",
        nargs="+",
        default=[],
        metavar="LABELS",
        help="filled sheets, or folders of runs or benchmarks; default: labels in RUN and in its benchmark",
    )
    for option, metavar, what in (("--judge", "NAME", "judge"), ("--measure", "M", "measure")):
        told = f"only this {what}; may be repeated"
        made.used.add_argument(option, action="append", default=[], metavar=metavar, help=told)
    made.used.add_argument(
        "--systems",
        action="append",
        default=[],
        metavar="A=B",
        help="the difference of these two, each as 'SUMMARIZER, SETTING' or by one of both; default: all of up to six",
    )
    made.used.add_argument("--out", metavar="DIR", help="write the tables to this folder")
    labels = made.add_argument_group("labels")
    labels.add_argument("--task", metavar="TASK", help="of the labels; default: each that the judges of RUN have")
    told = "only this annotator's labels; may be repeated"
    labels.add_argument("--annotator", action="append", default=[], metavar="NAME", help=told)
    return made


def _work(arguments: argparse.Namespace) -> Outcome:
    from jobs.command.run import answered
    from jobs.results.corrected import correct

    return answered(correct(arguments), "corrected", arguments.out)


main = command(parser, _work)

if __name__ == "__main__":
    raise SystemExit(main())
