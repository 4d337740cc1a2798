"""Every lookup of the ledger finds its rows by an index, however many calls there are."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from actors.ledger.entry import LedgerEntry, this_session
from actors.ledger.sqlite import CallRecords
from actors.ledger.totals import call_totals, history, stage_totals, totals
from longform.settings.chat import ChatSettings
from tests.actors.ledger.ledgers import answered, intent

CHAT = ChatSettings(provider="scripted", model="m")


def entry(number: int) -> LedgerEntry:
    attempt, call = f"a{number}", f"c{number}"
    receipts = [answered(attempt, call)] if number % 2 else []
    return LedgerEntry(f"e{number}", this_session(), "job", number, receipts, ["a0"], [intent(attempt, call)])


def ask_all(records: CallRecords) -> None:
    """Make every lookup that the product makes."""
    with records.transaction():
        records.apply(entry(1))
    records.answers(["c1", "c3"])
    records.has_answered("m")
    records.is_answered("c1")
    records.open_attempts("c2")
    records.open_of("job")
    totals(records, by="model", jobs=["job"], stage=None)
    totals(records, by=None, jobs=["job"], stage="judge")
    stage_totals(records, ["job", "other"])
    call_totals(records, ["c1", "c2"])
    history(records, CHAT, "judge")


def scans(records: CallRecords) -> list[str]:
    """Return the statements of all lookups that read a table of the ledger from end to end."""
    statements: list[str] = []
    connection = records._connection
    connection.set_trace_callback(statements.append)
    ask_all(records)
    connection.set_trace_callback(None)
    asked = [one for one in dict.fromkeys(statements) if one.lstrip().startswith(("SELECT", "UPDATE", "INSERT"))]
    assert len(asked) >= 11
    tables = ("attempts", "answers", "sessions")
    return [
        f"{detail}: {statement}"
        for statement in asked
        for *_, detail in connection.execute(f"EXPLAIN QUERY PLAN {statement}")
        if detail.startswith(tuple(f"SCAN {table}" for table in tables))
    ]


def test_no_lookup_reads_all_attempts(tmp_path: Path) -> None:
    records = CallRecords(tmp_path / "calls.sqlite", durable=False)
    with records.transaction():
        for number in range(2, 9):
            records.apply(entry(number))

    assert scans(records) == []


def test_a_ledger_of_an_older_version_is_given_the_indexes(tmp_path: Path) -> None:
    path = tmp_path / "calls.sqlite"
    CallRecords(path, durable=False).close()
    with closing(sqlite3.connect(path)) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE sql LIKE '%INDEX%'")]
        for name in names:
            connection.execute(f"DROP INDEX {name}")
    assert len(names) == 5

    assert scans(CallRecords(path, durable=False)) == []
