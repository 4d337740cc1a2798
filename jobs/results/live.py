"""Write the report of a run while its command goes on, from a process beside it."""

from __future__ import annotations

import logging
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from types import TracebackType
from typing import Self

from actors.secret_values import redacted
from actors.storage.folder import Folder
from jobs.results.documents import kept_documents
from jobs.results.drilldown import kept_unfolded
from jobs.results.live_pages import publish, retire, stored_so_far
from jobs.results.so_far import JudgedSoFar, OpenRun, OwnResults, judged_so_far
from jobs.results.write import REPORT, read_results, write_pages
from jobs.runs.record import RECORD_FILE, read_record
from longform.errors import LongformError, UsageError
from longform.results.run_status import Status

_NOTHING = JudgedSoFar(frozenset(), ())
NOTHING_JUDGED = "no query is judged yet"
_LOAD = 10  # pages that take long to make wait so many times as long before they are made again
_LOG = logging.getLogger(__name__)


class LiveReport:
    """
    Writes the pages of a run's live report whenever more queries are judged, in the `with`.

    What goes wrong ends nothing: it is told in the status.
    """

    def __init__(self, url: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._run, self._clock = Folder(url), clock
        self._place = tempfile.TemporaryDirectory(prefix="longform-live-", ignore_cleanup_errors=True)
        self._own = OwnResults(self._place.name, self._run)
        self._opened: OpenRun | None = None
        self._shown = _NOTHING
        self._unmade: str | None = NOTHING_JUDGED  # why there are no pages of what is judged
        self._reason: str | None = NOTHING_JUDGED
        self._not_before = clock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._place.cleanup()

    def refresh(self, status: Status) -> Status:
        """Write the pages if more is judged; return the status of the run that is at work, with what they show."""
        began = self._clock()
        if began >= self._not_before:
            self._reason = _guarded(self._look)
            self._not_before = self._clock() + _LOAD * (self._clock() - began)
        return self._with_pages(status)

    def end(self, status: Status) -> Status:
        """Lead from the pages to the run's own report if it is done, else state in them that it stopped."""
        self._reason = _guarded(partial(retire, self._run) if is_done(status) else self._stop)
        return self._with_pages(status)

    def _with_pages(self, status: Status) -> Status:
        found = {**status, "live_report": None, "live_report_reason": self._reason}
        with suppress(LongformError, OSError):
            found["live_report"] = stored_so_far(self._run)
        return found

    def _look(self) -> str | None:
        """Write the pages if more is judged; return why there are none of what is judged, None if there are."""
        record = read_record(self._run)
        if self._opened is None or any(record[key] != self._opened.record[key] for key in ("config", "limit")):
            self._opened, self._shown = OpenRun(self._run, record), _NOTHING
        self._opened.record = record
        judged = judged_so_far(self._opened.wanted, self._own.hold())
        if judged.query_ids and judged != self._shown:
            self._shown = judged  # also if its pages cannot be made: the next ones are of more queries
            self._unmade = _guarded(partial(self._write, self._opened, judged))
        return self._unmade

    def _write(self, opened: OpenRun, judged: JudgedSoFar) -> None:
        so_far = {
            "judged": len(judged.query_ids),
            "queries": len(opened.wanted.texts),
            "waiting": list(judged.waiting),
            "as_of": f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC",
            "goes_on": True,
        }
        opened.results(judged, so_far, self._own)
        self._publish(so_far)

    def _publish(self, so_far: Status) -> None:
        if not self._run.has(RECORD_FILE):
            raise UsageError(f"{self._run.url}: {RECORD_FILE} is gone: expected the run that was watched")
        publish(self._run, self._own.child(REPORT), so_far)

    def _stop(self) -> None:
        """Write the pages of this process again, with the words that the run goes on no more."""
        so_far = stored_so_far(self._run)
        if so_far is None or not so_far["goes_on"] or self._shown == _NOTHING:
            return
        results = read_results(self._own)
        results["so_far"] = {**results["so_far"], "goes_on": False}
        write_pages(self._own.child(REPORT), results, kept_unfolded(self._own), kept_documents(self._own))
        self._publish(results["so_far"])


def _guarded(step: Callable[[], str | None]) -> str | None:
    """Do a step, and return what it returns, or the words of its error."""
    try:
        return step()
    except (LongformError, OSError) as error:
        return redacted(str(error))
    except Exception as error:  # noqa: BLE001  # a fault of ours or of a user's class costs the pages alone
        _LOG.debug("why there is no live report", exc_info=True)
        return redacted(f"{type(error).__name__}: {error}")


def is_done(status: Status) -> bool:
    """Return whether the run's own report stands there, made of all that the run wants."""
    done = all(stage["done"] >= stage["wanted"] for stage in status["stages"])
    return status["state"] == "ended" and status["report"] is not None and done
