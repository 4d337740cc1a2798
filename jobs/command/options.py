"""Options that several verbs have, and the steps that one of them names."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection

from jobs.command.parser import VerbParser
from longform.errors import meant

LEDGER_VARIABLE = "LONGFORM_LEDGER"

REPORT = "report"
"""The last step; it has no stage, because it writes no table."""

STEPS = ("retrieve", "rerank", "pack", "summarize", "split", "judge", "check", "repair", "aggregate", REPORT)
"""The steps of a run in the order of the data. `--until` names steps."""

NUMBERINGS = ("haystack", "seen", "ids")
NUMBERING = (
    "what [3] cites: the haystack's third document, the third of the documents that the answer saw, or the document "
    "with the id 3; default: seen, where a line names `documents`, else haystack; a line's own `numbering` goes first"
)
"""Meanings of the numbers that answers cite, and how help tells them."""

MOST_MB = 2000
"""The largest table of one encoder: 2.5 million sentences of 384 dimensions."""


def add_calling_arguments(parser: VerbParser) -> None:
    """Add the options of verbs that ask models: the budget, the ledger and prices."""
    told = "stop, with exit code 4, before it is passed"
    dollars = number("dollars, at least 0", lambda value: 0 <= value < float("inf"))
    parser.used.add_argument("--max-cost", type=dollars, metavar="USD", help=told)
    calls = parser.add_argument_group("calls of models")
    calls.add_argument("--max-calls", type=natural, metavar="N", help="the same as --max-cost for calls")
    calls.add_argument("--ledger", metavar="URL", help=f"default: {LEDGER_VARIABLE}, else `ledger` beside the output")
    calls.add_argument("--prices", metavar="FILE", help="prices of models; default: litellm's list")


def number(expected: str, fits: Callable[[float], bool], kind: type[float] = float) -> Callable[[str], float]:
    """Return a reader of numbers of a *kind* that *fits* is true of; others are refused by what is *expected*."""

    def read(text: str) -> float:
        try:
            value = kind(text)
        except ValueError:
            value = float("nan")
        if not fits(value):
            raise argparse.ArgumentTypeError(f"expected {expected}, found {text[:40]!r}")
        return value

    return read


count = number("a whole number from 1 to 1,000,000", lambda value: 1 <= value <= 1_000_000, int)
natural = number("a whole number, at least 0", lambda value: 0 <= value < 2**53, int)
share = number("a number between 0 and 1, such as 0.8", lambda value: 0 < value < 1)


def named(known: Collection[str]) -> Callable[[str], str]:
    """Return a reader of names that are *known*, and of import paths of a user's own."""

    def read(text: str) -> str:
        if text not in known and ":" not in text:
            found = f"found {text!r}{meant(text, known)}"
            raise argparse.ArgumentTypeError(f"expected one of {', '.join(known)}, or MODULE:NAME, {found}")
        return text

    return read


def add_cluster_arguments(parser: VerbParser) -> None:
    """Add the options of verbs whose stages run on Ray."""
    parser.used.add_argument(
        "--workers",
        type=natural,
        help="processes that each stage uses on Ray; 0: all runs in the command's own process, without Ray; default: "
        "small stages run there, larger ones on 2 workers",
    )
    cluster = parser.add_argument_group("cluster")
    cluster.add_argument("--ray-address", help="a running cluster; default: RAY_ADDRESS, else one of its own")


def add_gate_arguments(parser: VerbParser, *, alone: bool) -> None:
    """Add the options of a gate: those that a verb is used with most, if it does nothing else and so stands *alone*."""
    told = "end with exit code 5 if a run is worse than it may be"
    main = parser.used if alone else parser.add_argument_group("gate", told)
    more = parser.add_argument_group("comparison with BASELINE")
    for direction, side in (("under", "below"), ("above", "above")):
        main.add_argument(
            f"--fail-{direction}",
            action="append",
            default=[],
            metavar="[SYSTEM:]MEASURE=NUMBER",
            help=f"fail if the measure of a system is {side} this, in the unit of the report (most: 0 to 100)",
        )
    main.add_argument("--against", metavar="BASELINE", help="fail if worse than this run by more than chance")
    main.add_argument("--junit", metavar="FILE", help="write the checks as JUnit XML")
    main.add_argument(
        "--github-summary",
        nargs="?",
        const="",
        metavar="FILE",
        help="add the checks as Markdown to FILE; without FILE to what GITHUB_STEP_SUMMARY names",
    )
    told = "compare by this measure only"
    more.add_argument("--against-measure", action="append", default=[], metavar="M", help=told)
    told = "compare system A of BASELINE with system B"
    more.add_argument("--systems", action="append", default=[], metavar="A=B", help=told)


def add_synthesis_arguments(parser: VerbParser, *, config: str) -> None:
    """Add what makes a benchmark from a configuration: *config* says what that may be, its changes are `changes`."""
    parser.add_argument("config", metavar="CONFIG", help=config)
    parser.used.add_argument("--out", required=True, metavar="BENCH", help="a folder or s3:// URL")
    told = "change the configuration"
    parser.used.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="changes", help=told)
    told = "say what will be asked and what it costs; ask nothing"
    parser.used.add_argument("--plan", action="store_true", help=told)
    add_calling_arguments(parser)
    add_cluster_arguments(parser)


def add_vector_arguments(parser: VerbParser) -> None:
    """Add the options of verbs that keep vectors beside a benchmark."""
    group = parser.add_argument_group("vectors")
    told = "embed texts anew, and keep no vectors beside the benchmark; numbers are the same"
    group.add_argument("--no-vectors", action="store_true", help=told)
    group.add_argument(
        "--vectors-mb",
        type=count,
        default=MOST_MB,
        metavar="MB",
        help="the largest table of vectors of one encoder beside the benchmark (default: %(default)s)",
    )
