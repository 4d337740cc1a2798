"""
Write the pages of finished runs again, to a folder of their own.

    longform report RUN... --out DIR

Reads   results.json and the tables of each run
Writes  DIR/<run>.html and DIR/<run>.md
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from actors.storage.folder import Folder
from jobs.commands import Outcome, run_verb, verb_parser
from jobs.results.write import read_results, write_pages
from longform.errors import UsageError


def report(runs: Sequence[str], out: str) -> list[str]:
    """Write the pages, and return their names."""
    names = [url.rstrip("/").rsplit("/", 1)[-1] for url in runs]
    if len(set(names)) < len(names):
        raise UsageError(f"expected runs in folders of different names, got {names}")
    for name, url in zip(names, runs, strict=True):
        write_pages(Folder(out), name, read_results(Folder(url)))
    return [f"{name}.html" for name in names]


def main(argv: Sequence[str] | None = None) -> int:
    parser = verb_parser("report", __doc__)
    parser.add_argument("runs", nargs="+", metavar="RUN")
    parser.add_argument("--out", required=True, metavar="DIR")

    def work(arguments: argparse.Namespace) -> Outcome:
        pages = report(arguments.runs, arguments.out)
        return Outcome({"out": arguments.out, "pages": pages}, f"{arguments.out}: {', '.join(pages)}")

    return run_verb(parser, work, argv)


if __name__ == "__main__":
    raise SystemExit(main())
