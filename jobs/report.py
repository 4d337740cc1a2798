"""Write the pages of finished runs again."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from actors.storage.folder import Folder
from jobs.commands import Outcome, run_verb
from jobs.parsers.report import parser
from jobs.results.drilldown import kept_unfolded
from jobs.results.write import read_results, write_pages
from longform.errors import UsageError


def report(runs: Sequence[str], out: str) -> list[str]:
    """Write the pages, and return their names."""
    names = [url.rstrip("/").rsplit("/", 1)[-1] for url in runs]
    if len(set(names)) < len(names):
        raise UsageError(f"expected runs in folders of different names, got {names}")
    for name, url in zip(names, runs, strict=True):
        write_pages(Folder(out), name, read_results(Folder(url)), kept_unfolded(Folder(url)))
    return [f"{name}.html" for name in names]


def main(argv: Sequence[str] | None = None) -> int:
    return run_verb(parser(), _work, argv)


def _work(arguments: argparse.Namespace) -> Outcome:
    pages = report(arguments.runs, arguments.out)
    return Outcome({"out": arguments.out, "pages": pages}, f"{arguments.out}: {', '.join(pages)}")


if __name__ == "__main__":
    raise SystemExit(main())
