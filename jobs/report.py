"""
Write the pages of finished runs again, to a folder of their own; of several runs also one page over all of them.

    longform report RUN... --out DIR

Reads   results.json and the tables of each run
Writes  of one run DIR/index.html, the pages that it links to, and DIR/report.md; of several runs these in DIR/<run>/,
        with DIR/index.html and DIR/index.md over all of them
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jobs.command.parser import VerbParser
from jobs.command.run import Outcome, command
from longform.errors import UsageError

if TYPE_CHECKING:
    from actors.storage.folder import Folder
    from longform.report.page import PageLink

OVER_ALL = "index.md"
"""The Markdown over several runs, beside their first page."""


def parser() -> VerbParser:
    made = VerbParser("report", __doc__)
    made.add_argument("runs", nargs="+", metavar="RUN")
    made.used.add_argument("--out", required=True, metavar="DIR")
    return made


def _work(arguments: argparse.Namespace) -> Outcome:
    pages = report(arguments.runs, arguments.out)
    return Outcome({"out": arguments.out, "pages": pages}, _words(arguments.out, len(pages) - 1))


def _words(out: str, n_runs: int) -> str:
    """Say in a line where the first page stands, and what it holds; *n_runs* are those of a page over several."""
    place = out.rstrip("/") if "://" in out else Path(out).absolute()
    if n_runs:
        return f"{place}/index.html: all systems of {n_runs} runs, with links to the pages of each"
    return f"{place}/index.html: findings, with links to all tables and summaries; report.md beside it is Markdown"


def report(runs: Sequence[str], out: str) -> list[str]:
    """Write the pages, and return the first page and each run's own."""
    from actors.storage.folder import Folder
    from jobs.results.several_runs import several_runs
    from jobs.results.write import MARKDOWN, remove_pages
    from longform.report.answers import answer_html, answer_markdown
    from longform.report.page import INDEX, PageLink

    names = [url.rstrip("/").rsplit("/", 1)[-1] for url in runs]
    if len(set(names)) < len(names):
        raise UsageError(f"expected runs in folders of different names, got {names}")
    folder = Folder(out)
    if len(names) < 2:
        _write_run(runs[0], folder)
        folder.delete(OVER_ALL)
        return [INDEX]
    over = PageLink(f"../{INDEX}", f"All {len(names)} runs", "The systems of all runs beside each other.")
    for name, url in zip(names, runs, strict=True):
        _write_run(url, folder.child(name), over)
    pages = {name: f"{name}/{INDEX}" for name in names}
    answer = several_runs(dict(zip(names, runs, strict=True)), pages)
    folder.write_bytes(INDEX, answer_html(answer).encode())
    folder.write_bytes(OVER_ALL, answer_markdown(answer).encode())
    remove_pages(folder, but={INDEX})
    folder.delete(MARKDOWN)
    return [INDEX, *pages.values()]


def _write_run(url: str, folder: Folder, over: PageLink | None = None) -> None:
    """Write the pages of a run."""
    from actors.storage.folder import Folder
    from jobs.results.documents import kept_documents, kept_unfolded
    from jobs.results.write import read_results, write_pages

    run = Folder(url)
    write_pages(folder, read_results(run), kept_unfolded(run), kept_documents(run), over=over)


main = command(parser, _work)

if __name__ == "__main__":
    raise SystemExit(main())
