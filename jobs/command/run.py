"""Run a verb: parse, work, print, and end with the exit code that says how it went."""

from __future__ import annotations

import argparse
import json
import logging
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from actors.secret_values import RedactingFormatter, redacted
from actors.storage.errors import disk_message
from actors.terminal import say
from jobs.command.exit_codes import DONE, FAILED, USAGE
from jobs.command.interrupts import WORDS, Interruptible, exit_code, final
from jobs.command.missing_packages import missing_words
from longform.errors import LongformError

_LOG = logging.getLogger(__name__)


class Outcome(NamedTuple):
    """The result of a verb: a JSON document, the same in words, and its exit code."""

    document: dict[str, Any]
    words: str
    exit_code: int = DONE


def run_verb(
    parser: argparse.ArgumentParser, work: Callable[[argparse.Namespace], Outcome], argv: Sequence[str] | None
) -> int:
    """Parse, work, print; an error that a user can mend is one line on standard error and its exit code."""
    arguments = parser.parse_args(argv)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(RedactingFormatter(logging.BASIC_FORMAT))
    logging.basicConfig(level=arguments.log_level.upper(), handlers=[handler])
    logging.getLogger("asyncio").addFilter(_is_no_signal)
    signals = Interruptible(parser.prog)
    try:
        with signals:
            outcome = work(arguments)
    except BaseException as error:
        told = _told(error, signals.received)
        if told is None:
            raise
        _LOG.debug("what the command ended with", exc_info=True)
        say(redacted(f"{parser.prog}: {told[0]}"), file=sys.stderr)
        return final(told[1])
    _print(json.dumps(outcome.document, ensure_ascii=False, allow_nan=False) if arguments.json else outcome.words)
    return final(outcome.exit_code)


def _is_no_signal(record: logging.LogRecord) -> bool:
    """Leave out a signal that came in a task that nobody waits for: the command's last line tells it."""
    return not (record.exc_info and isinstance(record.exc_info[1], KeyboardInterrupt))


def _print(text: str) -> None:
    """Print what a verb says; a reader that has seen enough, such as `head`, ends the printing and nothing else."""
    try:
        say(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what Python flushes at its end goes nowhere


def _told(error: BaseException, received: int | None) -> tuple[str, int] | None:
    """Return the words and the exit code for what ended a command; None: it is a fault of ours, with a traceback."""
    if received is not None or isinstance(error, KeyboardInterrupt):  # libraries put errors of their own in its place
        return WORDS, exit_code(received or signal.SIGINT)
    if isinstance(error, LongformError):
        return str(error), error.exit_code
    if isinstance(error, ModuleNotFoundError) and (words := missing_words(error)) is not None:
        return words, USAGE
    if isinstance(error, OSError):
        return disk_message(str(error.filename or "a file"), "be used", error), FAILED
    return None
