"""Run a verb: parse, work, print, and end with the exit code that says how it went."""

from __future__ import annotations

import argparse
import json
import logging
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any, NamedTuple

from jobs.command import DONE, FAILED, USAGE
from jobs.command.interrupts import WORDS, Interruptible, exit_code, final
from longform.errors import LongformError

if TYPE_CHECKING:
    from longform.results.results import VerbAnswer

_LOG = logging.getLogger(__name__)

EXTRAS = {
    "ray": ("ray", "fastapi", "starlette"),
    "chat": ("litellm", "openai", "aiohttp", "certifi", "tiktoken"),
    "s3": ("boto3", "botocore"),
    "models": ("torch", "sentence_transformers", "transformers", "sklearn"),
    "serve": ("prometheus_client", "httpx"),
    "files": ("pypdf", "docx"),
}
"""Extra -> the packages, by the names of their modules, that it brings and the default does without."""


class Outcome(NamedTuple):
    """The result of a verb: a JSON document, the same in words, and its exit code."""

    document: dict[str, Any]
    words: str
    exit_code: int = DONE


def answered(answer: VerbAnswer, name: str, out: str | None) -> Outcome:
    """Return the outcome of a verb, once the files *name*.html, .md and .json stand in *out*; None: none is written."""
    from actors.storage.folder import Folder
    from longform.report.answers import answer_html, answer_markdown, answer_text

    if out is None:
        return Outcome(answer.document, answer_text(answer))
    folder = Folder(out)
    folder.write_bytes(f"{name}.html", answer_html(answer).encode())
    folder.write_bytes(f"{name}.md", answer_markdown(answer).encode())
    folder.write_json(f"{name}.json", answer.document)
    names = ", ".join(f"{name}.{kind}" for kind in ("html", "md", "json"))
    return Outcome(answer.document, f"{answer_text(answer)}\n\n{out}: {names}")


def command(
    parser: Callable[[], argparse.ArgumentParser], work: Callable[[argparse.Namespace], Outcome]
) -> Callable[..., int]:
    """Return the verb of a parser and its work: a function of the words behind it, by default those that were typed."""
    return lambda argv=None: run_verb(parser(), work, argv)


def run_verb(
    parser: argparse.ArgumentParser, work: Callable[[argparse.Namespace], Outcome], argv: Sequence[str] | None
) -> int:
    """Parse, work, print; an error that a user can mend is one line on standard error and its exit code."""
    arguments = parser.parse_args(argv)  # help and wrong words end here, before anything large is loaded
    from actors.secret_values import RedactingFormatter, redacted
    from actors.terminal import say

    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(RedactingFormatter(logging.BASIC_FORMAT))
    logging.basicConfig(level=arguments.log_level.upper(), handlers=[handler])
    logging.getLogger("asyncio").addFilter(_is_no_signal)
    signals = Interruptible(parser.prog)
    try:
        with signals, redirect_stdout(sys.stderr if arguments.json else sys.stdout):  # code of others may print
            outcome = work(arguments)
    except BaseException as error:
        if (told := _told(error, signals.received)) is None:
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
    from actors.terminal import say

    try:
        say(text, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what Python flushes at its end goes nowhere


def _told(error: BaseException, received: int | None) -> tuple[str, int] | None:
    """Return the words and the exit code for what ended a command; None: it is a fault of ours, with a traceback."""
    from actors.storage.errors import disk_message

    if received is not None or isinstance(error, KeyboardInterrupt):  # libraries put errors of their own in its place
        return WORDS, exit_code(received or signal.SIGINT)
    if isinstance(error, LongformError):
        return str(error), error.exit_code
    if isinstance(error, ModuleNotFoundError) and (words := missing_words(error)) is not None:
        return words, USAGE
    if isinstance(error, OSError):
        return disk_message(str(error.filename or "a file"), "be used", error), FAILED
    return None


def missing_words(error: ModuleNotFoundError) -> str | None:
    """Return the words for a package that no default installation has; None for a module that none of them brings."""
    package = (error.name or "").partition(".")[0]
    for extra, packages in EXTRAS.items():
        if package in packages:
            return f"expected the package {package}, found none; install it with: pip install 'longform[{extra}]'"
    return None
