"""Tell whether the results of a run stand already: a second call of a finished run makes none again."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import actors
import jobs
import longform
from actors.storage.benchmark import ACCOUNT, AUDIT, TABLES, Benchmark
from actors.storage.folder import Folder
from longform.keys import content_key
from longform.schemas import SCHEMAS

MADE_OF = "made_of.json"
"""Beside the pages of a run's report: the key of what they were made of."""

_PAGE = "index.html"


def key_of(run: Folder, benchmark: Benchmark, *told: object) -> str:
    """
    Return a key of all that results are made of.

    Args:
        run: Its commits count, and with them its rows.
        benchmark: Of the run.
        told: What its results are made of besides, as JSON has it.
    """
    commits = {table: list(run.commits(table)) for table in sorted(SCHEMAS)}
    told_of = (AUDIT, ACCOUNT, TABLES)
    audits = {name: benchmark.folder.has(name) and benchmark.folder.read_json(name) for name in told_of}
    return content_key("results", list(_code()), commits, benchmark.manifest, audits, *told)


def stands(run: Folder, results: str, key: str) -> bool:
    """Return whether *results*, a file of the run, and the report's page were made of what *key* names."""
    report = run.child("report")
    made = report.has(MADE_OF) and run.has(results) and report.has(_PAGE)
    return made and report.read_json(MADE_OF) == {"key": key}


def note(run: Folder, key: str) -> None:
    """Note what the results and the report are made of, once they are written."""
    run.child("report").write_json(MADE_OF, {"key": key})


@cache
def _code() -> tuple[str, ...]:
    """Return what tells one version of the code from another, in a checkout that is worked on too."""
    return tuple(_files())


def _files() -> Iterator[str]:
    for package in (longform, actors, jobs):
        for folder in package.__path__:
            for file in sorted(Path(folder).rglob("*")):
                if file.is_file() and file.suffix != ".pyc":
                    state = file.stat()
                    yield f"{package.__name__}/{file.relative_to(folder)} {state.st_size} {state.st_mtime_ns}"
