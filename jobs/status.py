"""Say how a run stands, once or until its command ends; while it goes on, its live report is written."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TextIO

from actors.secret_values import redacted
from actors.terminal import say
from jobs.command.interrupts import Interrupted, exit_code
from jobs.command.run import Outcome, run_verb
from jobs.parsers.status import parser
from jobs.results.run_status import run_status
from longform.errors import UsageError
from longform.results.run_status import Status, status_line, status_words

if TYPE_CHECKING:
    from jobs.results.live import LiveReport

_CLEAR = "\x1b[2J\x1b[H"
_LOAD = 10  # a refresh that takes long waits so many times as long before the next one


def watch(
    read: Callable[[], Status],
    *,
    every_s: float,
    as_json: bool,
    out: TextIO,
    wait: Callable[[float], None] = time.sleep,
    live: LiveReport | None = None,
) -> Outcome:
    """
    Print the status until no command is at work on the run; return the last one, which is not printed.

    A terminal is redrawn, elsewhere each refresh is a line; one that takes long waits longer than *every_s*.
    """
    status: Status | None = None
    while True:
        began = time.monotonic()
        status = _read_again(read, status)
        took = time.monotonic() - began
        if status["state"] != "running":
            status = live.end(status) if live else status
            if not as_json and out.isatty():
                print(_CLEAR, end="", file=out)
            return _outcome(status)
        try:
            status = live.refresh(status) if live else status
            if out.isatty() and not as_json:
                print(_CLEAR, end="", file=out)
            say(_shown(status, as_json=as_json, whole=out.isatty()), file=out, flush=True)
            wait(max(every_s, _LOAD * took))
        except Interrupted as signal:
            say("watching stopped; the run goes on by itself", file=sys.stderr)
            return _outcome(status)._replace(exit_code=exit_code(signal.number))


def _read_again(read: Callable[[], Status], before: Status | None) -> Status:
    """Read the status; if that fails for now, and it was read *before*, say so and return the one before."""
    try:
        return read()
    except OSError as error:  # S3 does not answer, or a file is gone between two looks at the folder
        if before is None:
            raise
        say(f"cannot be read now, and is read again: {redacted(str(error))}", file=sys.stderr)
        return before


def _shown(status: Status, *, as_json: bool, whole: bool) -> str:
    if as_json:
        return json.dumps(status, ensure_ascii=False, allow_nan=False)
    return status_words(status) if whole else status_line(status)


def _outcome(status: Status) -> Outcome:
    return Outcome(dict(status), status_words(status))


def main(argv: Sequence[str] | None = None) -> int:
    return run_verb(parser(), _work, argv)


def _work(arguments: argparse.Namespace) -> Outcome:
    if arguments.every <= 0:
        raise UsageError(f"--every: expected seconds above 0, found {arguments.every}")

    def read() -> Status:
        return run_status(arguments.run, now=time.time())

    if not arguments.watch:
        return _outcome(read())
    from jobs.results.live import LiveReport  # what makes results loads for seconds

    with LiveReport(arguments.run) as live:
        return watch(read, every_s=arguments.every, as_json=arguments.json, out=sys.stdout, live=live)


if __name__ == "__main__":
    raise SystemExit(main())
