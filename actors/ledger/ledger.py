"""
The ledger of model calls: requests about to leave, replies, and costs.

In a local folder it is one SQLite file. On `s3://` it is a log of objects that all writers share, mirrored in a SQLite
file of this machine (`actors/ledger/s3_log.py`). Several processes may write to one ledger at a time.
"""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.fs as pafs

from actors.ledger.entry import LedgerEntry, Session, process_lives, this_host, this_session
from actors.ledger.s3_log import IDENTITY, BehindTheLog, LedgerLog, open_mirror
from actors.ledger.sqlite import CallRecords, OpenAttempt
from actors.ledger.totals import By, Totals, call_failures, call_totals, history, stage_totals, totals
from actors.storage.folder import Folder, open_location
from longform.chat.call import ChatReply
from longform.chat.ledger_rows import Admission, Intent, Receipt
from longform.errors import UsageError
from longform.settings.chat import ChatSettings
from longform.spending import History

RECORDS = "calls.sqlite"


class Ledger:
    """
    The calls of a folder, as one process sees and makes them.

    Whatever a method has written is durable when it returns. All of them may be called from any thread.

    The folder, local or `s3://`, is made if it is not there; *job* is the name under which this process writes. The
    attempts are of *session*, by default this process: another may make them only once it is gone. If it is only for
    *reading*, nothing is added, and its disk may be read-only.
    """

    def __init__(self, url: str, *, job: str, session: Session | None = None, reading: bool = False) -> None:
        self.url, self._job = url, job
        self._session = session or this_session()
        self._lock = threading.Lock()
        self._seen_ms: dict[str, int] = {}  # when attempts of other machines were first met, by our clock
        filesystem, root = open_location(url)
        self._log: LedgerLog | None = None
        if isinstance(filesystem, pafs.LocalFileSystem):
            self._records = CallRecords(Path(root) / RECORDS, durable=True, reading=reading)
        else:
            self._log = LedgerLog(Folder(url))
            self._records = open_mirror(self._log)

    @classmethod
    def existing(cls, url: str) -> Ledger:
        """
        Open a ledger to read.

        Raises:
            UsageError: None stands at the URL.
        """
        if not any(Folder(url).has(name) for name in (RECORDS, IDENTITY)):
            raise UsageError(f"no ledger at {url!r}: expected a folder with {RECORDS}, or {IDENTITY} on s3://")
        return cls(url, job="", reading=True)

    def close(self) -> None:
        """Close the files, for good; a shared log is packed if much was added to it."""
        with self._lock:
            log, self._log = self._log, None
            if log is not None:
                log.pack(self._records)
            self._records.close()

    # ------------------------------------------------------------ the door of every call

    def finished(self, call_ids: Sequence[str]) -> dict[str, ChatReply]:
        """
        Return the replies of those calls that are answered, as they came.

        The cost is that of the call when it was made, and None if that is not known; the seconds are None.

        On `s3://` those that other machines have answered since the last exchange may be missing: an exchange finds
        them.
        """
        with self._turn():
            return self._records.answers(call_ids)

    def exchange(self, intents: Sequence[Intent], receipts: Sequence[Receipt]) -> list[Admission]:
        """
        Store *receipts*, then record those of *intents* that may go: all in one step, durable when this returns.

        Saying it twice changes nothing: an attempt has one receipt, the first, and an intent that is recorded may go.

        Returns:
            For each intent `go`; `finished` if the call is answered; `busy` if another attempt of it is under
            way.

        Raises:
            LongformError: A shared log could not be written.
        """
        return self._add(intents, receipts, abandoned=())

    def abandon(self, attempt_ids: Sequence[str]) -> None:
        """Leave attempts unsettled: the process that made them is gone, and nobody waits for them."""
        self._add((), (), abandoned=attempt_ids)

    def open_of(self, job: str) -> dict[str, float]:
        """Map a job's attempts that may be under way to the dollars reserved, 0 if not known."""
        with self._turn():
            return self._records.open_of(job)

    # ------------------------------------------------------------ what it holds

    def check(self) -> None:
        """
        Read all of it once.

        Raises:
            StorageError: It is damaged.
        """
        with self._turn():
            self._records.check()

    def has_answered(self, model: str) -> bool:
        """Return whether any call of a model, as configured, was answered."""
        with self._turn():
            return self._records.has_answered(model)

    def totals(self, *, job: str | None = None, stage: str | None = None) -> Totals:
        """Return sums over all attempts, or over those of one job or stage."""
        return self._totals(by=None, jobs=None if job is None else [job], stage=stage)[None]

    def totals_of(self, jobs: Sequence[str] | None) -> Totals:
        """Return sums over the attempts of *jobs*; None: over all."""
        return self._totals(by=None, jobs=jobs, stage=None)[None]

    def totals_by(self, by: By, *, jobs: Sequence[str] | None = None) -> dict[str | None, Totals]:
        """Return separate sums for each model, stage, job or day (UTC), of *jobs* alone; None: not known."""
        return self._totals(by=by, jobs=jobs, stage=None)

    def totals_by_stage(self, jobs: Sequence[str]) -> dict[tuple[str | None, str | None], Totals]:
        """Return sums over the attempts of *jobs* for each stage and configured model, in the order of the calls."""
        with self._turn():
            return stage_totals(self._records, jobs)

    def failures(self, jobs: Sequence[str]) -> dict[str, int]:
        """Return how many attempts of *jobs* failed for each reason, the most frequent first."""
        with self._turn():
            return call_failures(self._records, jobs)

    def totals_of_calls(self, call_ids: Sequence[str]) -> Totals:
        """Return sums over all attempts of these calls, by any job."""
        with self._turn():
            return call_totals(self._records, call_ids)

    def history(self, chat: ChatSettings, kind: str) -> History:
        """
        Return totals of answered calls of the configured model in stages of one *kind*, the first
        word of their names.
        """
        with self._turn():
            return history(self._records, chat, kind)

    def batches(self, rows: int = 10_000) -> Iterator[pa.Table]:
        """Yield the table `calls`, *rows* at a time."""
        with self._records.explained():
            yield from self._records.batches(rows)

    # ------------------------------------------------------------ inside

    @contextmanager
    def _turn(self) -> Iterator[None]:
        with self._lock, self._records.explained():
            yield

    def _totals(self, *, by: By | None, jobs: Sequence[str] | None, stage: str | None) -> dict[str | None, Totals]:
        with self._turn():
            return totals(self._records, by=by, jobs=jobs, stage=stage)

    def _add(self, intents: Sequence[Intent], receipts: Sequence[Receipt], abandoned: Sequence[str]) -> list[Admission]:
        if not (intents or receipts or abandoned):
            return []
        with self._turn():
            if self._log is not None:
                return self._add_to_log(self._log, intents, receipts, abandoned)
            with self._records.transaction():
                return self._record(intents, receipts, abandoned)[0]

    def _add_to_log(
        self, log: LedgerLog, intents: Sequence[Intent], receipts: Sequence[Receipt], abandoned: Sequence[str]
    ) -> list[Admission]:
        up_to_date = False
        while True:
            with suppress(BehindTheLog), self._records.transaction():
                admissions, entry = self._record(intents, receipts, abandoned)
                if not (entry.is_empty and up_to_date):
                    log.append(entry, self._records)
                return admissions
            log.catch_up(self._records)
            up_to_date = True

    def _record(
        self, intents: Sequence[Intent], receipts: Sequence[Receipt], abandoned: Sequence[str]
    ) -> tuple[list[Admission], LedgerEntry]:
        settled = self._entry(receipts=receipts, abandoned=abandoned)
        self._records.apply(settled)
        admissions = self._admissions(intents, settled.at_ms)
        going = tuple(intent for intent, admission in zip(intents, admissions, strict=True) if admission == "go")
        self._records.apply(settled._replace(receipts=(), abandoned=(), intents=going))
        return admissions, settled._replace(intents=going)

    def _entry(self, *, receipts: Sequence[Receipt], abandoned: Sequence[str]) -> LedgerEntry:
        now = round(time.time() * 1000)
        return LedgerEntry(uuid.uuid4().hex, self._session, self._job, now, tuple(receipts), tuple(abandoned))

    def _admissions(self, intents: Sequence[Intent], at_ms: int) -> list[Admission]:
        admissions: list[Admission] = []
        leaving: dict[str, str] = {}  # call -> its attempt of this very exchange
        for intent in intents:
            if self._records.is_answered(intent.call_id):
                admissions.append("finished")
            elif leaving.get(intent.call_id, intent.attempt_id) != intent.attempt_id or self._is_busy(intent, at_ms):
                admissions.append("busy")
            else:
                leaving[intent.call_id] = intent.attempt_id
                admissions.append("go")
        return admissions

    def _is_busy(self, intent: Intent, at_ms: int) -> bool:
        others = [a for a in self._records.open_attempts(intent.call_id) if a.attempt_id != intent.attempt_id]
        return any(self._lives(other, at_ms) for other in others)

    def _lives(self, other: OpenAttempt, at_ms: int) -> bool:
        if other.session == self._session:
            return True
        if other.session.host == this_host():
            return process_lives(other.session)
        # nobody can look into another machine, whose clock may be ahead of ours
        seen_ms = self._seen_ms.setdefault(other.attempt_id, at_ms)
        return at_ms < min(other.ends_at_ms, seen_ms + other.lasts_ms)
