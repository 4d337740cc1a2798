"""
The calls of a ledger in one SQLite file.

    attempts    one row an attempt, as in the table `calls`; session is null if nobody waits for it
    answers     one row an answered call: its first answer's text and log probabilities
    sessions    the processes that made attempts
    progress    how much of a shared log this file holds
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import sqlite3
import tempfile
import uuid
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

import pyarrow as pa

from actors.ledger.entry import AnsweredCall, LedgerEntry, Session, SqlValue, intent_values, receipt_values
from actors.storage.errors import StorageError, damaged, disk_message
from actors.storage.primitives import sync
from longform.chat.call import ChatReply
from longform.chat.ledger_rows import Receipt
from longform.errors import LongformError
from longform.schemas import CALLS

_FORMAT = 1  # of the tables below, kept as the file's user_version
_BUSY_S = 120.0  # a writer may have to upload while it holds the file
_KEYS_AT_ONCE = 500  # SQLite builds of before 2020 take 999 parameters
_DOING = "be written"
_ERRNO = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_READONLY: errno.EACCES,
    sqlite3.SQLITE_CANTOPEN: errno.EACCES,
    sqlite3.SQLITE_PERM: errno.EACCES,
    sqlite3.SQLITE_IOERR: errno.EIO,
}
_OF_OTHERS = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_MIRROR_ADVICE = "delete this copy of a shared ledger, which is made anew"
_ADVICE = (
    "put it back from a copy, or save what can be read with `sqlite3 calls.sqlite .recover | sqlite3 new.sqlite` and "
    "put that in its place; a new ledger pays again what no run holds"
)
_NO_ROOM_BYTES = 100_000

_SCHEMA = """
CREATE TABLE sessions (session INTEGER PRIMARY KEY, host TEXT, pid INTEGER, started REAL, UNIQUE (host, pid, started));
CREATE TABLE attempts (
    attempt_id TEXT PRIMARY KEY, call_id TEXT NOT NULL, job TEXT, stage TEXT, provider TEXT, model TEXT,
    answered_model TEXT, repeat INTEGER, asked_at INTEGER, answered_at INTEGER, state TEXT NOT NULL, failure TEXT,
    finish_reason TEXT, input_tokens INTEGER, cached_tokens INTEGER, output_tokens INTEGER, reasoning_tokens INTEGER,
    cost_usd REAL, reserved_usd REAL, seconds REAL, counted_tokens REAL, ends_at INTEGER,
    session INTEGER
);
CREATE TABLE answers (call_id TEXT PRIMARY KEY, attempt_id TEXT NOT NULL, text BLOB NOT NULL, logprobs TEXT);
CREATE TABLE progress (applied INTEGER NOT NULL);
INSERT INTO progress VALUES (0);
"""

_INDEXES = {
    "open_attempts": "attempts (call_id) WHERE state = 'open'",
    "open_of_jobs": "attempts (job) WHERE state = 'open'",
    "attempts_of_calls": "attempts (call_id)",
    "attempts_of_jobs": "attempts (job, stage, model)",
    "answered_by_models": "attempts (model, provider) WHERE state = 'answered'",
}
"""One for each lookup of attempts, so that none reads them all."""

# A receipt whose intent is not here (its folder was lost meanwhile) is kept all the same: it was paid.
_RECEIPT = """
INSERT INTO attempts (attempt_id, call_id, job, answered_at, state, failure, finish_reason, answered_model,
                      input_tokens, cached_tokens, output_tokens, reasoning_tokens, cost_usd, seconds)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (attempt_id) DO UPDATE SET
    answered_at = excluded.answered_at, state = excluded.state, failure = excluded.failure,
    finish_reason = excluded.finish_reason, answered_model = excluded.answered_model,
    input_tokens = excluded.input_tokens, cached_tokens = excluded.cached_tokens,
    output_tokens = excluded.output_tokens, reasoning_tokens = excluded.reasoning_tokens,
    cost_usd = excluded.cost_usd, seconds = excluded.seconds
WHERE state = 'open'
"""

_INTENT = """
INSERT INTO attempts (attempt_id, call_id, job, stage, provider, model, repeat, asked_at, state, reserved_usd,
                      counted_tokens, ends_at, session)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'open', ?, ?, ?, ?)
ON CONFLICT (attempt_id) DO UPDATE SET session = excluded.session WHERE state = 'open'
"""

_ANSWERS = """
SELECT call_id, text, finish_reason, answered_model, input_tokens, cached_tokens, output_tokens, reasoning_tokens,
       cost_usd, logprobs
FROM answers JOIN attempts USING (call_id, attempt_id) WHERE call_id IN ({marks})
"""


class OpenAttempt(NamedTuple):
    """An attempt that may still be waited for; `ends_at_ms` is its deadline, since 1970 by the clock of who asked."""

    attempt_id: str
    session: Session
    ends_at_ms: int
    lasts_ms: int


Found = TypeVar("Found")


class CallRecords:
    """
    Calls in a file of SQLite, which is made if it is not there.

    Commits of a *durable* one outlive a loss of power, and not only of this process. If it is only for *reading*, a
    folder that may not be written to will do.

    Raises:
        LongformError: The file is not one of these, or is of another version.
    """

    def __init__(self, path: Path, *, durable: bool, reading: bool = False) -> None:
        self.path, self._file, self._is_all = path, path, durable
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        with self.explained():
            if reading and not os.access(path.parent, os.W_OK):
                self._copy = tempfile.TemporaryDirectory()
                self._file = _copied(path, Path(self._copy.name))
            if not self._file.exists():
                _create(path)
            self._connection = _connect(self._file)
            # with the file's last connection all that was added goes from the log beside it into the file
            self._closing = weakref.finalize(self, self._connection.close)
            self._connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            _add_indexes(self._connection)
        self._sessions: dict[Session, int] = {}

    def close(self) -> None:
        self._closing()
        if self._copy is not None:
            self._copy.cleanup()

    @contextmanager
    def explained(self) -> Iterator[None]:
        """
        Say in a sentence what the disk refuses, or what is damaged in the file.

        Raises:
            StorageError: In place of an error of SQLite's, or of what stands in a row.
        """
        try:
            yield
        except sqlite3.DatabaseError as error:
            kind = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF  # the lowest byte
            if kind in _OF_OTHERS:
                raise
            if kind not in _ERRNO:
                raise self._damaged(error) from error
            fault = OSError(_errno(kind, self.path.parent), str(error))
            raise StorageError(disk_message(str(self.path), _DOING, fault), lasts=True) from error
        except (UnicodeDecodeError, json.JSONDecodeError, pa.ArrowInvalid) as error:
            raise self._damaged(error) from error
        except StorageError:
            raise
        except OSError as error:
            raise StorageError(disk_message(str(self.path), _DOING, error), lasts=True) from error

    def check(self) -> None:
        """
        Read all pages once.

        Raises:
            StorageError: Some are not those of a ledger, or have been overwritten.
        """
        with self.explained():
            found = [row[0] for row in self._connection.execute("PRAGMA quick_check(1)")]
        if found != ["ok"]:
            raise self._damaged(found[0])

    def _damaged(self, found: object) -> StorageError:
        return damaged(str(self.path), "a ledger (a SQLite file)", found, _ADVICE if self._is_all else _MIRROR_ADVICE)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit everything done within, or nothing if it raises; one writer at a time, over all processes."""
        with self.explained():
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # a full disk may have ended it already
                    self._connection.execute("ROLLBACK")
                self._sessions.clear()
                raise

    def n_applied(self) -> int:
        """The number of the last entry of a shared log that is in here; 0: none."""
        return int(self._connection.execute("SELECT applied FROM progress").fetchone()[0])

    def set_applied(self, number: int) -> None:
        self._connection.execute("UPDATE progress SET applied = ?", (number,))

    def apply(self, entry: LedgerEntry) -> None:
        """Add *entry*, within a transaction; one that is in here changes nothing."""
        for receipt in entry.receipts:
            self._store_receipt(receipt, entry)
        given_up = [(attempt_id,) for attempt_id in entry.abandoned]
        self._connection.executemany("UPDATE attempts SET session = NULL WHERE attempt_id = ?", given_up)
        session = self._session_number(entry.session) if entry.intents else 0
        self._connection.executemany(_INTENT, [intent_values(intent, entry, session) for intent in entry.intents])

    # ------------------------------------------------------------ reading

    def answers(self, call_ids: Sequence[str]) -> dict[str, ChatReply]:
        """Return the replies of those calls that are answered; the cost is what each cost when it was made."""
        found: dict[str, ChatReply] = {}
        for start in range(0, len(call_ids), _KEYS_AT_ONCE):
            keys = call_ids[start : start + _KEYS_AT_ONCE]
            rows = self._connection.execute(_ANSWERS.format(marks=", ".join("?" * len(keys))), keys)
            found |= {answer.call_id: answer.reply() for answer in (AnsweredCall(*row) for row in rows)}
        return found

    def has_answered(self, model: str) -> bool:
        """Return whether any call of a model, as configured, was answered."""
        found = "SELECT 1 FROM attempts WHERE state = 'answered' AND model = ? LIMIT 1"
        return self._connection.execute(found, (model,)).fetchone() is not None

    def is_answered(self, call_id: str) -> bool:
        row = self._connection.execute("SELECT 1 FROM answers WHERE call_id = ?", (call_id,)).fetchone()
        return row is not None

    def open_attempts(self, call_id: str) -> list[OpenAttempt]:
        """Return the call's attempts without a receipt, but for those given up."""
        rows = self._connection.execute(
            "SELECT attempt_id, host, pid, started, ends_at, ends_at - asked_at "
            "FROM attempts JOIN sessions USING (session) WHERE call_id = ? AND state = 'open'",
            (call_id,),
        )
        return [OpenAttempt(row[0], Session(*row[1:4]), *row[4:]) for row in rows]

    def open_of(self, job: str) -> dict[str, float]:
        """Map a job's attempts without a receipt, but for those given up, to the dollars reserved, 0 if not known."""
        rows = self._connection.execute(
            "SELECT attempt_id, ifnull(reserved_usd, 0.0) FROM attempts "
            "WHERE job = ? AND state = 'open' AND session IS NOT NULL",
            (job,),
        )
        return dict(rows)

    def batches(self, rows: int) -> Iterator[pa.Table]:
        """Yield the table `calls`, *rows* at a time, in the order of the first words of each attempt."""
        names = ", ".join(CALLS.names)
        with closing(_connect(self._file)) as connection:  # its own, so that reading stops nobody's writing
            cursor = connection.execute(f"SELECT {names} FROM attempts ORDER BY rowid")  # noqa: S608 - our own names
            while found := cursor.fetchmany(rows):
                columns = zip(*found, strict=True)
                yield pa.table([pa.array(c, f.type) for c, f in zip(columns, CALLS, strict=True)], schema=CALLS)

    def rows(self, query: str, values: Mapping[str, SqlValue], of: type[Found]) -> list[Found]:
        """Return the rows of a query of these tables, each an *of* of its columns in order."""
        return [of(*row) for row in self._connection.execute(query, values)]

    def copy_to(self, path: Path) -> None:
        """Write all that is committed into a file of its own."""
        self._connection.execute("VACUUM INTO ?", (str(path),))

    # ------------------------------------------------------------ inside

    def _store_receipt(self, receipt: Receipt, entry: LedgerEntry) -> None:
        stored = self._connection.execute(_RECEIPT, receipt_values(receipt, entry)).rowcount
        reply = receipt.reply
        if stored and reply.text is not None:
            logprobs = None if reply.logprobs is None else json.dumps(reply.logprobs)
            values = (receipt.call_id, receipt.attempt_id, reply.text.encode(), logprobs)
            self._connection.execute("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?)", values)

    def _session_number(self, session: Session) -> int:
        if session not in self._sessions:
            add = "INSERT OR IGNORE INTO sessions (host, pid, started) VALUES (?, ?, ?)"
            self._connection.execute(add, session)
            find = "SELECT session FROM sessions WHERE host = ? AND pid = ? AND started = ?"
            self._sessions[session] = int(self._connection.execute(find, session).fetchone()[0])
        return self._sessions[session]


def _errno(kind: int, folder: Path) -> int:
    """Return the disk's own error number if it explains the fault: SQLite calls a full disk an I/O error, too."""
    disk = os.statvfs(folder)
    if disk.f_flag & os.ST_RDONLY:
        return errno.EROFS
    return errno.ENOSPC if disk.f_bavail * disk.f_frsize < _NO_ROOM_BYTES else _ERRNO[kind]


def _copied(path: Path, folder: Path) -> Path:
    """Copy a file, with what its last writer left beside it: SQLite wants to write there even to read."""
    for suffix in ("", "-wal"):
        with suppress(FileNotFoundError):
            shutil.copyfile(f"{path}{suffix}", folder / f"{path.name}{suffix}")
    return folder / path.name


def _create(path: Path) -> None:
    unfinished = beside(path)
    try:
        unfinished.touch()  # tells better than SQLite what is wrong
        with closing(sqlite3.connect(unfinished, isolation_level=None)) as connection:
            connection.executescript(_SCHEMA)
            _add_indexes(connection)
            connection.execute(f"PRAGMA user_version = {_FORMAT}")
            connection.execute("PRAGMA journal_mode = WAL")  # last: all before it is in the file, or has raised
        put_in_place(unfinished, path)
    finally:
        for rest in path.parent.glob(f"{unfinished.name}*"):
            rest.unlink(missing_ok=True)


def _add_indexes(connection: sqlite3.Connection) -> None:
    """Add the indexes that a file of an older version lacks; one that cannot be written is read without them."""
    there = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'index'")}
    for name in [name for name in _INDEXES if name not in there]:
        try:
            connection.execute(f"CREATE INDEX IF NOT EXISTS {name} ON {_INDEXES[name]}")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_READONLY:
                raise
            return


def beside(path: Path) -> Path:
    """Return a name of our own in the folder of *path*, which is made if it is not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.with_name(f"{path.name}.{uuid.uuid4().hex}.tmp")


def put_in_place(unfinished: Path, path: Path) -> None:
    """Give a finished file its name, durably; if another has taken the name meanwhile, that one stays."""
    with suppress(FileExistsError):
        os.link(unfinished, path)
    unfinished.unlink()
    sync(path.parent)


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        found = connection.execute("PRAGMA user_version").fetchone()[0]
    except sqlite3.OperationalError:  # of the disk, not of what stands in the file
        connection.close()
        raise
    except sqlite3.DatabaseError as error:
        connection.close()
        raise LongformError(f"{path}: expected a ledger (a SQLite file), found something else: {error}") from error
    if found != _FORMAT:
        connection.close()
        raise LongformError(f"{path}: expected a ledger of version {_FORMAT}, found {found}; name another folder")
    return connection
