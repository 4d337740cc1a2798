"""The command line that every verb has."""

from __future__ import annotations

import argparse


def verb_parser(verb: str, description: str | None) -> argparse.ArgumentParser:
    """Return a parser with what every verb takes: `--json` and `--log-level` with `-q` and `-v`."""
    parser = argparse.ArgumentParser(
        prog=f"longform {verb}", description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    parser.add_argument("--log-level", default="warning", choices=["debug", "info", "warning", "error"])
    for short, level, told in (("-q", "error", "less: errors alone"), ("-v", "info", "more of what it does")):
        parser.add_argument(short, action="store_const", dest="log_level", const=level, help=f"say {told}")
    return parser
