"""The command line that every verb has, options that several have, and the steps that one of them names."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NoReturn

from longform.errors import meant


class VerbParser(argparse.ArgumentParser):
    """
    A parser whose errors name the option or the value that was meant.

    Its help begins with the options *used* most; those of every verb, `--json` among them, stand last.
    """

    _words: Sequence[str] = ()

    def __init__(self, verb: str, description: str | None) -> None:
        purpose, _, rest = (description or "").strip().partition("\n\n")
        form = argparse.RawDescriptionHelpFormatter
        super().__init__(prog=f"longform {verb}", description=purpose, epilog=rest, formatter_class=form)
        self._positionals.title, self._optionals.title = "arguments", "options of every verb"
        self.used = self.add_argument_group("options used most")
        self.add_argument("--json", action="store_true", help="one JSON document on standard output")
        self.add_argument("--log-level", default="warning", choices=["debug", "info", "warning", "error"])
        for short, level, told in (("-q", "error", "less: errors alone"), ("-v", "info", "more of what it does")):
            self.add_argument(short, action="store_const", dest="log_level", const=level, help=f"say {told}")

    def format_help(self) -> str:
        """Return the help, its usage with what is needed alone."""
        needed = [action for action in self._actions if action.required or not action.option_strings]
        formatter = self._get_formatter()
        formatter.add_usage(None, needed, [], prefix="")
        self.usage = f"{formatter.format_help().strip()} [OPTION ...]"
        self._action_groups.sort(key=lambda group: group is self._optionals)
        return super().format_help()

    def parse_known_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """Keep the words for errors, then parse them."""
        self._words = list(sys.argv[1:] if args is None else args)
        return super().parse_known_args(args, namespace)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse a value that is none of the choices, with the one that is most like it."""
        if action.choices is not None and value not in action.choices:
            known = [str(choice) for choice in action.choices]
            msg = f"expected one of {', '.join(known)}, found {str(value)!r}{meant(str(value), known)}"
            raise argparse.ArgumentError(action, msg)

    def _get_value(self, action: argparse.Action, text: str) -> Any:
        """Read a value; an empty one is that of a variable of the shell that is not set."""
        if not text.strip() and text not in (action.default, action.const):
            raise argparse.ArgumentError(action, "expected a value, found an empty text")
        return super()._get_value(action, text)

    def error(self, message: str) -> NoReturn:
        """End with the message and with the unknown options, which argparse names only if nothing else is wrong."""
        unknown = "".join(f"; no option {word}{meant(word, self._known())}" for word in self._unknown())
        self.exit(2, f"{self.prog}: {message}{unknown}; {self.prog} --help has all options\n")

    def _known(self) -> list[str]:
        return [flag for action in self._actions for flag in action.option_strings if flag.startswith("--")]

    def _unknown(self) -> Iterator[str]:
        """Yield the long options that are no option's name, and no beginning of one."""
        for word in self._words:
            if word == "--":
                return
            name = word.partition("=")[0]
            if name.startswith("--") and not any(flag.startswith(name) for flag in self._known()):
                yield name


# ---------------------------------------------------------------- options of several verbs

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
