"""
Sheets for people to label, as CSV or as pages, and their labels back in: each kind of judgement has its own columns.

    longform annotate RUN --sheets sheets --annotator ann --annotator bo
    longform annotate RUN --filled sheets/ann.csv sheets/bo.csv
    longform annotate RUN --sheets pages --annotator ann --summaries 40 --as html
    longform annotate BENCH --task support --sheets sheets --annotator ann --summaries 20
    longform annotate RUN --task key_point
    longform annotate BENCH --task example_quality --sheets sheets --annotator ann --queries 80
    longform annotate BENCH --task key_point_check --sheets sheets --annotator ann --annotator bo --overlap 0.1
    longform annotate BENCH --task key_point_check --filled sheets/ann.csv sheets/bo.csv --accepted CHECKED

Reads   summaries, or queries with references and gold documents, and labels of a benchmark or a run; filled sheets
Writes  sheets, a guide and documents to read into the folder of `--sheets`; `labels` beside the summaries;
        a copy of the benchmark with the accepted targets into the folder of `--accepted`

The agreement of each two annotators is told. `longform calibrate` holds judges against the labels.
"""

from __future__ import annotations

import argparse

from jobs.command.parser import VerbParser, count, natural, number
from jobs.command.run import Outcome, command


def parser() -> VerbParser:
    made = VerbParser("annotate", __doc__)
    made.add_argument("folder", metavar="FOLDER", help="a run, or a benchmark with summaries")
    told = "task of a judge, MODULE:KIND, example_quality, or key_point_check; default: coverage"
    made.used.add_argument("--task", default="coverage", help=told)
    made.used.add_argument("--sheets", metavar="DIR", help="write sheets into this folder")
    made.used.add_argument(
        "--annotator", action="append", default=[], metavar="NAME", help="of --sheets; may be repeated"
    )
    made.used.add_argument("--summaries", type=count, metavar="N", help="of --sheets: so many, at random; default: all")
    made.used.add_argument("--filled", nargs="+", default=[], metavar="SHEET", help="read these sheets back in")
    sheets = made.add_argument_group("sheets")
    sheets.add_argument(
        "--as",
        dest="form",
        choices=["csv", "html"],
        default="csv",
        help="of --sheets: for a spreadsheet, or pages that a browser fills without a network and that give the CSV",
    )
    sheets.add_argument(
        "--system",
        action="append",
        default=[],
        metavar="NAME",
        help="of --sheets: summaries of this system, 'SUMMARIZER, SETTING' or one of both, of which --summaries draws "
        "so many; may be repeated",
    )
    sheets.add_argument("--queries", type=count, metavar="N", help="of --sheets for queries: so many of each data set")
    told = "of --sheets: so many to all, the others dealt; default: all to all"
    dealt = number("a share from 0 to 1", lambda value: 0 <= value <= 1)
    sheets.add_argument("--overlap", type=dealt, metavar="SHARE", help=told)
    sheets.add_argument("--seed", type=natural, default=1, help="of --summaries or --queries, and of the intervals")
    labels = made.add_argument_group("labels")
    told = "with key_point_check: write what people accept into this folder"
    labels.add_argument("--accepted", metavar="DIR", help=told)
    labels.add_argument("--resamples", type=count, default=2000, help="of each interval")
    return made


def _work(arguments: argparse.Namespace) -> Outcome:
    from jobs.calibration.annotated import annotate

    return annotate(arguments)


main = command(parser, _work)

if __name__ == "__main__":
    raise SystemExit(main())
