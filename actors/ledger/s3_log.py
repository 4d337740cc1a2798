"""
A ledger that many machines share: a log of small objects in one total order, and this machine's mirror of it.

    ledger.json                          which ledger this is
    log/000001/000000001234.jsonl        entry 1234; folders hold a thousand
    packs/000000001234.sqlite.gz         the mirror as it was after entry 1234

An entry is created under the next free number, and only if nobody else has taken it (a conditional write). The second
writer reads the first one's object, and decides again with that knowledge: so no two writers record an intent for a
call that is open. Entries are never deleted: to a writer that slept meanwhile a free number would look like the next
one.
"""

from __future__ import annotations

import gzip
import os
import shutil
import sqlite3
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import islice, takewhile
from pathlib import Path

from actors.ledger.entry import LedgerEntry, from_lines, to_lines
from actors.ledger.sqlite import CallRecords, beside, put_in_place
from actors.storage.folder import Folder
from longform.errors import LongformError
from longform.keys import content_key

IDENTITY = "ledger.json"
_FOLDER_ENTRIES = 1000
_ENTRIES_AT_ONCE = 256
_READERS = 16  # a read is a wait of some 20 ms
_TRIES = 3  # each is up to six requests of the client's own
_PACK_AFTER = 500  # entries: reading them takes about a second


class BehindTheLog(Exception):  # noqa: N818 - a turn of events, not a fault
    """Others have written entries that the mirror lacks."""


class LedgerLog:
    """The shared objects under one URL, each of them written once."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        if not folder.has(IDENTITY):
            folder.create_bytes(IDENTITY, f'{{"ledger": "{uuid.uuid4().hex}"}}\n'.encode())
        self.ledger_id = str(folder.read_json(IDENTITY)["ledger"])

    @property
    def url(self) -> str:
        return self._folder.url

    def append(self, entry: LedgerEntry, records: CallRecords) -> None:
        """
        Write *entry* behind the entries that *records* has, within a transaction of theirs.

        Raises:
            BehindTheLog: Others have written one since; or there is nothing to write, so that this could not show.
            LongformError: The storage does not answer; whether the entry is there is not known.
        """
        if entry.is_empty:
            raise BehindTheLog
        number = records.n_applied() + 1
        self._create(entry, number)
        records.set_applied(number)

    def catch_up(self, records: CallRecords) -> None:
        """Apply the entries that the mirror lacks."""
        missing = self._numbers_after(records.n_applied())
        with ThreadPoolExecutor(_READERS) as readers:
            while numbers := list(islice(missing, _ENTRIES_AT_ONCE)):
                entries = list(readers.map(self._read, numbers))
                with records.transaction():
                    last = records.n_applied()  # another process of this machine may have been faster
                    for number, entry in zip(numbers, entries, strict=True):
                        if number > last:
                            records.apply(entry)
                    records.set_applied(max(last, numbers[-1]))

    def check(self, records: CallRecords) -> None:
        """
        Check that the log still has the entries that the mirror has from it.

        Raises:
            LongformError: Entries have been deleted.
        """
        last = records.n_applied()
        if last and not self._folder.has(_entry_name(last)):
            raise LongformError(
                f"{self.url}: expected {_entry_name(last)}, which this machine has read before, found no such object; "
                f"restore it, or delete the mirror {records.path.parent} to go on with what is left"
            )

    def pack(self, records: CallRecords) -> None:
        """Upload the mirror if many entries have come since the last time, so that others start from it."""
        number = records.n_applied()
        if number - max(self._packs(), default=0) < _PACK_AFTER:
            return
        copy, packed = beside(records.path), beside(records.path)
        try:
            records.copy_to(copy)
            with copy.open("rb") as source, gzip.open(packed, "wb", compresslevel=1) as target:
                shutil.copyfileobj(source, target)
            self._folder.upload(packed, _pack_name(number))
        finally:
            copy.unlink(missing_ok=True)
            packed.unlink(missing_ok=True)

    def fetch_pack(self, path: Path) -> None:
        """Start a mirror at *path* from the newest pack, if there is one."""
        if not (packs := self._packs()):
            return
        packed, unfinished = beside(path), beside(path)
        try:
            self._folder.download(_pack_name(max(packs)), packed)
            with gzip.open(packed, "rb") as source, unfinished.open("wb") as target:
                shutil.copyfileobj(source, target)
        finally:
            packed.unlink(missing_ok=True)
        with closing(sqlite3.connect(unfinished)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
        put_in_place(unfinished, path)

    # ------------------------------------------------------------ inside

    def _create(self, entry: LedgerEntry, number: int) -> None:
        fault: OSError | None = None
        for _ in range(_TRIES):
            try:
                created = self._folder.create_bytes(_entry_name(number), to_lines(entry))
                # Not created, and ours: an earlier try had come through, only its answer had not.
                ours = created or self._read(number).entry_id == entry.entry_id
            except OSError as error:
                fault = error
            else:
                if not ours:
                    raise BehindTheLog
                return
        raise LongformError(
            f"{self.url}: the ledger could not write {_entry_name(number)} in {_TRIES} tries: {fault}; "
            "no call left without its entry: run the command again"
        ) from fault

    def _read(self, number: int) -> LedgerEntry:
        content = self._folder.read_bytes(_entry_name(number))
        try:
            return from_lines(content)
        except (ValueError, KeyError, TypeError) as error:
            raise LongformError(
                f"{self.url}/{_entry_name(number)}: expected a ledger entry in JSON lines, found {content[:80]!r} "
                f"({error}); the file is not ours, or was changed: restore it"
            ) from error

    def _numbers_after(self, number: int) -> Iterator[int]:
        """Yield the numbers of entries after *number*, without a gap."""
        while True:
            names = self._folder.names(_entry_name(number + 1).rsplit("/", 1)[0])
            found = {int(name.removesuffix(".jsonl")) for name in names if name.endswith(".jsonl")}
            end = (number + 1) // _FOLDER_ENTRIES * _FOLDER_ENTRIES + _FOLDER_ENTRIES
            yield from takewhile(found.__contains__, range(number + 1, end))
            if end - 1 not in found:
                return
            number = end - 1

    def _packs(self) -> list[int]:
        suffix = ".sqlite.gz"
        return [int(name.removesuffix(suffix)) for name in self._folder.names("packs") if name.endswith(suffix)]


def open_mirror(log: LedgerLog) -> CallRecords:
    """Bring this machine's copy of a shared ledger up to date; its cache folder may be deleted at any time."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    path = cache / "longform" / "ledgers" / content_key(log.url.rstrip("/"), log.ledger_id) / "calls.sqlite"
    if not path.exists():
        log.fetch_pack(path)
    records = CallRecords(path, durable=False)  # what a loss of power takes from it stands in the log
    log.check(records)
    log.catch_up(records)
    log.pack(records)
    return records


def _entry_name(number: int) -> str:
    return f"log/{number // _FOLDER_ENTRIES:06d}/{number:012d}.jsonl"


def _pack_name(number: int) -> str:
    return f"packs/{number:012d}.sqlite.gz"
