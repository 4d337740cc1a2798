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

from jobs.parsers.verb import verb_parser


def parser() -> argparse.ArgumentParser:
    made = verb_parser("gate", __doc__)
    made.add_argument("run", metavar="RUN", help="a folder or s3:// URL")
    add_gate_arguments(made)
    return made


def add_gate_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of a gate."""
    group = parser.add_argument_group("gate", "end with exit code 5 if a run is worse than it may be")
    for direction, side in (("under", "below"), ("above", "above")):
        group.add_argument(
            f"--fail-{direction}",
            action="append",
            default=[],
            metavar="[SYSTEM:]MEASURE=NUMBER",
            help=f"fail if the measure of a system is {side} this, in the unit of the report (most: 0 to 100)",
        )
    group.add_argument("--against", metavar="BASELINE", help="fail if worse than this run by more than chance")
    group.add_argument(
        "--against-measure", action="append", default=[], metavar="M", help="compare by this measure only"
    )
    group.add_argument(
        "--systems", action="append", default=[], metavar="A=B", help="compare system A of BASELINE with system B"
    )
    group.add_argument("--junit", metavar="FILE", help="write the checks as JUnit XML")
    group.add_argument(
        "--github-summary",
        nargs="?",
        const="",
        metavar="FILE",
        help="add the checks as Markdown to FILE; without FILE to what GITHUB_STEP_SUMMARY names",
    )
