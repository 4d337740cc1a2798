"""The command line that every verb has."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from longform.nearest import meant


class VerbParser(argparse.ArgumentParser):
    """A parser whose errors name the option or the value that was meant."""

    _words: Sequence[str] = ()

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


def verb_parser(verb: str, description: str | None) -> argparse.ArgumentParser:
    """Return a parser with what every verb takes: `--json` and `--log-level` with `-q` and `-v`."""
    parser = VerbParser(
        prog=f"longform {verb}", description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    parser.add_argument("--log-level", default="warning", choices=["debug", "info", "warning", "error"])
    for short, level, told in (("-q", "error", "less: errors alone"), ("-v", "info", "more of what it does")):
        parser.add_argument(short, action="store_const", dest="log_level", const=level, help=f"say {told}")
    return parser
