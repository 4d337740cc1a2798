"""The command line that every verb has."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
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
