"""
The report of a run while its command goes on, from a process beside it: of the queries that are judged so far.

    RUN/report/live/index.html     and the other pages, written by `status --watch` while the run goes on
    RUN/report/live/so_far.json    how much of the run they show

All is read from committed parts, as they stood at one moment. Scores and results are made in a folder of the reader's
own: those of the run are written by the run alone. Once it has written its report, the first page leads there, and the
others are removed.
"""

from __future__ import annotations

import logging
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple

from actors.secret_values import redacted
from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from actors.storage.tables import Snapshot
from jobs.command.calling import Calling, ledger_beside
from jobs.configs import validated
from jobs.results.documents import kept_documents, kept_unfolded
from jobs.results.evaluated import made_results, told_of
from jobs.results.run_status import SO_FAR, stored_so_far
from jobs.results.write import MARKDOWN, REPORT, read_results, remove_pages, retire, write_pages
from jobs.runs.begin import versions_of
from jobs.runs.record import RECORD_FILE, check_goes_on, read_record
from jobs.runs.stage_order import stages_of
from jobs.stages.items import Source, ready
from jobs.stages.parcels import queries_of
from jobs.stages.score import Score
from jobs.stages.stage import Plan, Site, Works
from jobs.stages.stations import awaited
from longform.errors import LongformError, UsageError
from longform.report.page import INDEX
from longform.report.site import is_page
from longform.results.run_status import LIVE, Status
from longform.settings.experiment import Experiment

_TABLES = ("rankings", "contexts", "summaries", "units", "verdicts")
_HELD_BYTES = 8_000_000  # of the parts of a table that were read last
_REPAIR_LATER = "Repaired citations are not shown yet: they are made when all is judged."


class OwnResults(Folder):
    """The folder of scores and results that are made of the tables of a *run*, as these stood at one moment."""

    def __init__(self, url: str, run: Folder) -> None:
        super().__init__(url)
        self._run = run
        self._held: dict[str, Snapshot] = {}

    def hold(self) -> Mapping[str, Snapshot]:
        """Take the run's tables as they stand now, and return them."""
        self._held = {table: self._run.snapshot(table, held_bytes=_HELD_BYTES) for table in _TABLES}
        return self._held

    def snapshot(self, table: str, *, held_bytes: int = 0) -> Snapshot:
        return self._held.get(table) or super().snapshot(table, held_bytes=held_bytes)


class RunRows(NamedTuple):
    """All that a run makes before it scores."""

    texts: Mapping[str, Sequence[Source]]  # query -> what is made of it before it is judged
    verdicts: Mapping[str, Mapping[str, Sequence[Source]]]  # judge -> query -> its verdicts


class JudgedSoFar(NamedTuple):
    """A part of a run that can be reported: the queries that all judges have judged but those that wait."""

    query_ids: frozenset[str]
    waiting: tuple[str, ...]


class OpenRun:
    """
    A run that another command works on; nothing is written there, and no model is called.

    Raises:
        UsageError: It is no run of `evaluate`, or something that its configuration names is not found from here.
    """

    def __init__(self, run: Folder, record: Mapping[str, Any], into: OwnResults) -> None:
        if record["verb"] != "evaluate":
            raise UsageError(f"expected a run of longform evaluate, found one of longform {record['verb']}")
        self.run, self.record, self.into = run, record, into
        configured = validated(Experiment, record["config"], (), where=run.url)
        check_goes_on(run, configured, limit=record["limit"], prompts=versions_of(configured))
        self._benchmark = Benchmark(record["benchmark"]["url"])
        self._repairs = configured.citations != "written"
        self._experiment = configured.model_copy(update={"citations": "written"}).with_aligner()
        calling = Calling("status", ledger=ledger_beside(run.url))
        self._stages = stages_of(self._experiment, Site(run.url, self._benchmark.folder.url, 1, calling))
        self._scoring = [
            (stage, stage.opened(locate=into.locate)) for stage in self._stages if isinstance(stage, Score)
        ]
        self.wanted = wanted_pieces(Plan(self._stages, self._benchmark, limit=record["limit"]))

    def results(self, judged: JudgedSoFar, so_far: Mapping[str, Any]) -> dict[str, Any]:
        """
        Return the results of what is *judged* by the tables that its folder holds, written into it with their pages.

        Scores that it has are not made again; *so_far* is the share of the run that these are, as pages state it.
        """
        stages = [one for one in self._stages if one.judged_by not in judged.waiting]
        plan = Plan(stages, self._benchmark, limit=self.record["limit"], only=judged.query_ids)
        for stage, worker in self._scoring:
            _score(stage, worker, plan, self.into)
        record = dict(self.record)
        told = told_of(self.run, self._benchmark, record, self._experiment, plan, stages=self._stages)
        told.more["so_far"] = dict(so_far)
        if self._repairs:
            told.more["unscored"].append(_REPAIR_LATER)
        return made_results(self.into, self._benchmark, record, self._experiment, plan, told=told)


def wanted_pieces(plan: Plan) -> RunRows:
    """Return all that a run makes of each query before its summaries are scored."""
    texts: dict[str, list[Source]] = {}
    verdicts: dict[str, dict[str, list[Source]]] = {}
    stages = [stage for stage in plan.stages if not isinstance(stage, Score)]
    query_of = queries_of(plan.items(stage) for stage in stages)
    for stage in stages:
        of_stage = texts if stage.judged_by is None else verdicts.setdefault(stage.judged_by, {})
        for item in plan.items(stage):
            of_stage.setdefault(query_of[item.work_id], []).append(Source(stage.table, item.work_id))
    return RunRows(texts, {judge: pieces for judge, pieces in verdicts.items() if pieces})


def judged_so_far(wanted: RunRows, tables: Mapping[str, Snapshot]) -> JudgedSoFar:
    """
    Return what *tables* hold of all that is *wanted*.

    The queries are those of the judge that has judged most of them; judges that have not judged all of these wait.
    """

    def there(pieces: Iterable[Source]) -> bool:
        return all(piece.work_id in tables[piece.table].located for piece in pieces)

    written = {query_id for query_id, pieces in wanted.texts.items() if there(pieces)}
    if not wanted.verdicts:
        return JudgedSoFar(frozenset(written), ())
    asked = {
        judge: {query_id for query_id, pieces in of.items() if query_id in written and there(pieces)}
        for judge, of in wanted.verdicts.items()
    }
    most = max(asked.values(), key=len)
    waiting = [judge for judge, of in wanted.verdicts.items() if (most & of.keys()) - asked[judge]]
    return JudgedSoFar(frozenset(most), tuple(waiting))


def _score(stage: Score, worker: Works[Any], plan: Plan, into: OwnResults) -> None:
    """Score what is not scored yet."""
    there = into.locate(stage.table)
    given = ready(into, stage.name, plan.items(stage), but=there)
    for group in stage.groups(given):
        part = into.write_part(stage.table, awaited(worker(group)), work_ids=[one.work_id for one in group])
        into.commit(stage.table, [part])


_NOTHING = JudgedSoFar(frozenset(), ())
NOTHING_JUDGED = "no query is judged yet"
_LOAD = 10  # pages that take long to make wait so many times as long before they are made again
_LOG = logging.getLogger(__name__)


class LiveReport(AbstractContextManager["LiveReport"]):
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

    def __exit__(self, *error: object) -> None:
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
            self._opened, self._shown = OpenRun(self._run, record, self._own), _NOTHING
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
        opened.results(judged, so_far)
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


def publish(run: Folder, made: Folder, so_far: Status) -> None:
    """Put the pages in the folder *made* into the run, the first page last; older ones are removed."""
    live = run.child(LIVE)
    files = [name for name in made.names() if (is_page(name) and name != INDEX) or name == MARKDOWN]
    for name in [*files, INDEX]:
        live.write_bytes(name, made.read_bytes(name))
    live.write_json(SO_FAR, so_far)
    remove_pages(live, but={*files, INDEX})


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
