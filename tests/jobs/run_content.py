"""The content of a run's tables, for comparing runs, and copies of what a command has written."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa

from actors.ledger.ledger import RECORDS
from actors.storage.folder import Folder
from longform.schemas import SCHEMAS

TABLES = ("rankings", "contexts", "summaries", "units", "verdicts", "scores")
OF_A_CLOCK = ("seconds",)


def sorted_content(run: Folder, table: str) -> tuple[list[dict[str, Any]], pa.Table]:
    """All but the floats of a table's rows, which hold its key, in their order; and the floats in the same order."""
    schema = [field for field in SCHEMAS[table] if field.name not in OF_A_CLOCK]
    floats = [field.name for field in schema if pa.types.is_floating(field.type)]
    content = run.read(table)
    rows = content.select([field.name for field in schema if field.name not in floats]).to_pylist()
    order = sorted(range(len(rows)), key=lambda place: json.dumps(rows[place], sort_keys=True))
    return [rows[place] for place in order], content.select(floats).take(pa.array(order, pa.int64()))


def assert_same_tables(run: Folder, expected: Folder) -> None:
    """Both runs have the same rows in all tables, floats to the last digit, and each table has some."""
    for table in TABLES:
        (exact, floats), (other, other_floats) = (sorted_content(one, table) for one in (run, expected))
        assert exact == other != [], table
        assert floats.equals(other_floats), table


def copy_runs(source: Path, target: Path) -> None:
    """Copy a folder of runs and their ledger, whose last process may be closing it just now, into an empty folder."""
    shutil.copytree(source, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns(f"{RECORDS}*"))
    for records in source.rglob(RECORDS):
        copy = target / records.relative_to(source)
        with closing(sqlite3.connect(records)) as old, closing(sqlite3.connect(copy)) as new:
            old.backup(new)
