"""
Say how a run stands: its stages, rate, time left, spend, refusals, failures, and what to do next.

    longform status RUN [--watch]

Reads   the run's record, tables, heartbeats and ledgers; it may be called while a command works
Writes  nothing; with --watch RUN/report/live/index.html, the report of the queries that are judged so far

With --json it prints one document, with --watch one for each refresh.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TextIO

from jobs.command.interrupts import Interrupted, exit_code
from jobs.command.parser import VerbParser, number
from jobs.command.run import Outcome, command

if TYPE_CHECKING:
    from jobs.results.live import LiveReport
    from longform.results.run_status import Status

_CLEAR = "\x1b[2J\x1b[H"
_LOAD = 10  # a refresh that takes long waits so many times as long before the next one


def parser() -> VerbParser:
    made = VerbParser("status", __doc__)
    made.add_argument("run", metavar="RUN", help="a folder or s3:// URL")
    told = "say it again every few seconds until the command ends, and write a report of the queries judged so far"
    made.used.add_argument("--watch", action="store_true", help=told)
    seconds = number("seconds above 0, at most a day", lambda value: 0 < value <= 86_400)
    made.used.add_argument("--every", type=seconds, default=5.0, metavar="SECONDS", help="of --watch; default: 5")
    return made


def _work(arguments: argparse.Namespace) -> Outcome:
    from jobs.results.run_status import run_status

    read = partial(run_status, arguments.run)
    if not arguments.watch:
        return _outcome(read())
    from jobs.results.live import LiveReport  # what makes results loads for seconds

    with LiveReport(arguments.run) as live:
        return watch(read, every_s=arguments.every, as_json=arguments.json, out=sys.stdout, live=live)


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
    from actors.terminal import say

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
    from actors.secret_values import redacted
    from actors.terminal import say

    try:
        return read()
    except OSError as error:  # S3 does not answer, or a file is gone between two looks at the folder
        if before is None:
            raise
        say(f"cannot be read now, and is read again: {redacted(str(error))}", file=sys.stderr)
        return before


def _shown(status: Status, *, as_json: bool, whole: bool) -> str:
    from longform.results.run_status import status_line, status_words

    if as_json:
        return json.dumps(status, ensure_ascii=False, allow_nan=False)
    return status_words(status) if whole else status_line(status)


def _outcome(status: Status) -> Outcome:
    from longform.results.run_status import status_words

    return Outcome(dict(status), status_words(status))


main = command(parser, _work)

if __name__ == "__main__":
    raise SystemExit(main())
