"""Write the pages of finished runs again."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence

from actors.storage.folder import Folder
from jobs.commands import Outcome, run_verb
from jobs.parsers.report import parser
from jobs.results.drilldown import kept_unfolded
from jobs.results.several_runs import several_runs
from jobs.results.write import read_results, write_pages
from longform.errors import UsageError
from longform.report.page import sections_html, sections_markdown
from longform.report.several_runs import several_sections

INDEX = "index"


def report(runs: Sequence[str], out: str) -> list[str]:
    """Write the pages, and return their names."""
    names = [url.rstrip("/").rsplit("/", 1)[-1] for url in runs]
    if len(set(names)) < len(names):
        raise UsageError(f"expected runs in folders of different names, got {names}")
    if len(names) > 1 and INDEX in names:
        raise UsageError(f"expected no run in a folder called {INDEX}: that is the page over all of them; got {names}")
    for name, url in zip(names, runs, strict=True):
        write_pages(Folder(out), name, read_results(Folder(url)), kept_unfolded(Folder(url)))
    pages = {name: f"{name}.html" for name in names}
    if len(names) < 2:
        return list(pages.values())
    _write_index(dict(zip(names, runs, strict=True)), pages, Folder(out))
    return [f"{INDEX}.html", *pages.values()]


def _write_index(runs: Mapping[str, str], pages: Mapping[str, str], out: Folder) -> None:
    """Write the page over all runs."""
    sections = several_sections(several_runs(runs, pages, now=time.time()))
    title = f"{len(runs)} runs side by side"
    out.write_bytes(f"{INDEX}.html", sections_html(title, [(section, []) for section in sections]).encode())
    out.write_bytes(f"{INDEX}.md", sections_markdown(title, sections).encode())


def main(argv: Sequence[str] | None = None) -> int:
    return run_verb(parser(), _work, argv)


def _work(arguments: argparse.Namespace) -> Outcome:
    pages = report(arguments.runs, arguments.out)
    return Outcome({"out": arguments.out, "pages": pages}, f"{arguments.out}: {', '.join(pages)}")


if __name__ == "__main__":
    raise SystemExit(main())
