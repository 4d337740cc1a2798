"""
Hold a finished run against thresholds and a baseline; end with exit code 5 if it is worse.

    longform gate RUN --fail-under citation=70 --fail-under joint=40
    longform gate RUN --fail-under "rag, bm25:coverage=50" --against BASELINE --junit gate.xml --github-summary

Every system that is no twin is held against a threshold, under every judge; SYSTEM: names one. A score without a value
does not pass. BASELINE is a run; `longform judge` also takes a file of answers. Worse is what `longform compare` calls
worse: all measures of all pairs are tested together. Exit code 3, too much unjudged, goes before 5: the scores are then
no evidence.

Reads   RUN and BASELINE
Writes  the files of --junit and --github-summary, and nothing else
"""

from __future__ import annotations

import argparse

from jobs.command import DONE, FAILURES_ABOVE_THRESHOLD
from jobs.command.parser import VerbParser, add_gate_arguments
from jobs.command.run import Outcome, command
from longform.errors import UsageError


def parser() -> VerbParser:
    made = VerbParser("gate", __doc__)
    made.add_argument("run", metavar="RUN", help="a folder or s3:// URL")
    add_gate_arguments(made, alone=True)
    return made


def _work(arguments: argparse.Namespace) -> Outcome:
    from actors.storage.folder import Folder
    from jobs.results.gated import check_against, check_known, compared_run, gate_of, gated, shortfall, threshold_of
    from jobs.results.write import read_results
    from longform.results.gate import measures_of

    gate = gate_of(arguments)
    if not gate.wanted:
        raise UsageError("a gate needs something to hold: expected --fail-under MEASURE=NUMBER or --against BASELINE")
    url = str(arguments.run).rstrip("/")
    results = dict(read_results(Folder(url)))
    check_known(gate, measures_of(results))
    if gate.against:
        check_against(gate, compared_run(url), compared_run(gate.against))
    code = DONE if shortfall(results, threshold_of(results)) is None else FAILURES_ABOVE_THRESHOLD
    return gated(gate, url, results, Outcome({"run": url}, "", code), against=gate.against)


main = command(parser, _work)

if __name__ == "__main__":
    raise SystemExit(main())
