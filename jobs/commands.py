"""
The command line: `longform VERB ...` is `python -m jobs.VERB ...`.

Exit codes: 0 done, 1 failed, 2 wrong usage, configuration or input, 3 done with failures above the threshold,
4 budget reached, 130 interrupted, 143 terminated.
"""

from __future__ import annotations

import argparse
import json
import logging
import signal
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from actors.secret_values import RedactingFormatter, redacted
from actors.storage.errors import disk_message
from jobs.interrupts import WORDS, Interruptible, end_at_once_while_loading, exit_code
from longform import __version__
from longform.errors import LongformError

_LOG = logging.getLogger(__name__)

VERBS = {
    "ingest": "released files, BEIR or plain JSONL -> a benchmark folder",
    "synthesize": "make a benchmark",
    "synthesize-models": "make a benchmark whose documents chat models write and check",
    "evaluate": "run systems on a benchmark, judge them, report",
    "replay": "score the summaries and labels that a release ships, without any call",
    "aggregate": "score a run again from its stored verdicts",
    "annotate": "sheets for people to label, out and back in, with their agreement",
    "calibrate": "a judge against human labels -> judge card",
    "report": "write a run's pages again",
    "ledger": "what was called and what it cost",
    "probe": "what a model accepts, found out by asking it",
    "train": "re-make the offline models that ship, and measure what they reach",
}
DONE, FAILED, USAGE, FAILURES_ABOVE_THRESHOLD, BUDGET_REACHED = 0, 1, 2, 3, 4


class Outcome(NamedTuple):
    """The result of a verb: a JSON document, the same in words, and its exit code."""

    document: dict[str, Any]
    words: str
    exit_code: int = DONE


def verb_parser(verb: str, description: str | None) -> argparse.ArgumentParser:
    """Return a parser with what every verb takes: `--json` and `--log-level`."""
    parser = argparse.ArgumentParser(
        prog=f"longform {verb}", description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    parser.add_argument("--log-level", default="warning", choices=["debug", "info", "warning", "error"])
    return parser


def run_verb(
    parser: argparse.ArgumentParser, work: Callable[[argparse.Namespace], Outcome], argv: Sequence[str] | None
) -> int:
    """Parse, work, print; an error that a user can mend is one line on standard error and its exit code."""
    arguments = parser.parse_args(argv)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(RedactingFormatter(logging.BASIC_FORMAT))
    logging.basicConfig(level=arguments.log_level.upper(), handlers=[handler])
    signals = Interruptible(parser.prog)
    try:
        with signals:
            outcome = work(arguments)
    except BaseException as error:
        told = _told(error, signals.received)
        if told is None:
            raise
        _LOG.debug("what the command ended with", exc_info=True)
        print(redacted(f"{parser.prog}: {told[0]}"), file=sys.stderr)
        return told[1]
    print(json.dumps(outcome.document, ensure_ascii=False, allow_nan=False) if arguments.json else outcome.words)
    return outcome.exit_code


def _told(error: BaseException, received: int | None) -> tuple[str, int] | None:
    """Return the words and the exit code for what ended a command; None: it is a fault of ours, with a traceback."""
    if received is not None or isinstance(error, KeyboardInterrupt):  # libraries put errors of their own in its place
        return WORDS, exit_code(received or signal.SIGINT)
    if isinstance(error, LongformError):
        return str(error), error.exit_code
    if isinstance(error, OSError):
        return disk_message(str(error.filename or "a file"), "be used", error), FAILED
    return None


def main(argv: Sequence[str] | None = None) -> int:
    """Hand the rest of the command line to the verb's own module; importing all of them would take seconds."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words and words[0] in VERBS:
        if argv is None:  # typed, not called
            end_at_once_while_loading(f"longform {words[0]}")
        return int(import_module(f"jobs.{words[0].replace('-', '_')}").main(words[1:]))
    if words == ["--version"]:
        print(__version__)
        return DONE
    usage = "\n".join([f"longform {__version__}: longform VERB ... (longform VERB --help)", "", *_verb_lines()])
    wanted = not words or words[0] in {"-h", "--help"}
    print(usage if wanted else f"longform: no verb {words[0]!r}\n\n{usage}", file=sys.stdout if wanted else sys.stderr)
    return DONE if wanted else USAGE


def _verb_lines() -> list[str]:
    return [f"  {verb:<17} {description}" for verb, description in VERBS.items()]


if __name__ == "__main__":
    raise SystemExit(main())
