"""
Judge answers that were written elsewhere, by judges that need no model service: no configuration, no call.

    longform judge answers.jsonl --bench BENCH
    longform judge a.jsonl b.jsonl.gz --bench BENCH --out RUN --judge offline-gpt-4o --numbering seen
    longform judge answers.jsonl --bench BENCH --fail-under citation=70 --against last-week.jsonl --junit gate.xml

Reads   answers as JSON Lines, CSV or texts named by query (docs/outputs.md), and the queries, documents and targets of
        BENCH, which stays as it is
Writes  RUN: a copy of BENCH with the answers, what `evaluate` writes, results.json and report/; a second call redoes
        nothing. RUN is by default a folder beside the answers
"""

from __future__ import annotations

import argparse

from jobs.command.parser import NUMBERING, NUMBERINGS, VerbParser, add_cluster_arguments, add_gate_arguments
from jobs.command.run import Outcome, command


def parser() -> VerbParser:
    made = VerbParser("judge", __doc__)
    told = "files of answers (.jsonl, .csv), or a folder of texts SYSTEM/QUERY.md"
    made.add_argument("outputs", nargs="+", metavar="OUTPUTS", help=told)
    told = "the benchmark whose queries are answered"
    made.used.add_argument("--bench", required=True, metavar="BENCH", help=told)
    told = "default: the name of the answers' file, with -judged behind it"
    made.used.add_argument("--out", metavar="RUN", help=told)
    told = "judges that ship; default: one for each thing that BENCH lets judge"
    made.used.add_argument("--judge", nargs="+", default=None, metavar="NAME", help=told)
    made.used.add_argument("--numbering", choices=NUMBERINGS, help=NUMBERING)
    add_cluster_arguments(made)
    add_gate_arguments(made, alone=False)
    return made


def _work(arguments: argparse.Namespace) -> Outcome:
    from jobs.evaluations.answers import judge

    return judge(arguments)


main = command(parser, _work)

if __name__ == "__main__":
    raise SystemExit(main())
