"""
Find the queries of a run that are judged so far, and make their results while its command goes on.

All is read from committed parts, as they stood at one moment. Scores and results are made in a folder of the reader's
own: those of the run are written by the run alone, when all is judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from actors.storage.tables import Snapshot
from jobs.calling import Calling, ledger_beside
from jobs.configs import validated
from jobs.results.evaluated import made_results, told_of
from jobs.runs.begin import class_versions
from jobs.runs.checks import prompt_versions
from jobs.runs.record import check_goes_on
from jobs.runs.stage_order import stages_of
from jobs.stages.items import Source, placed
from jobs.stages.performing import awaited
from jobs.stages.score import Score
from jobs.stages.stage import Plan, Site, Works
from longform.errors import UsageError
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

    def __init__(self, run: Folder, record: Mapping[str, Any]) -> None:
        if record["verb"] != "evaluate":
            raise UsageError(f"expected a run of longform evaluate, found one of longform {record['verb']}")
        self.run, self.record = run, record
        configured = validated(Experiment, record["config"], (), where=run.url)
        prompts = prompt_versions(configured) | class_versions(configured)
        check_goes_on(run, configured, limit=record["limit"], prompts=prompts)
        self._benchmark = Benchmark(record["benchmark"]["url"])
        self._repairs = configured.citations != "written"
        self._experiment = configured.model_copy(update={"citations": "written"}).with_aligner()
        calling = Calling("status", ledger=ledger_beside(run.url))
        self._stages = stages_of(self._experiment, Site(run.url, self._benchmark.folder.url, 1, calling))
        self._scoring = [(stage, stage.make_worker()) for stage in self._stages if isinstance(stage, Score)]
        self.wanted = wanted_pieces(Plan(self._stages, self._benchmark, limit=record["limit"]))

    def results(self, judged: JudgedSoFar, so_far: Mapping[str, Any], into: OwnResults) -> dict[str, Any]:
        """
        Return the results of what is *judged* by the tables that a folder holds, written *into* it with their pages.

        Scores that it has are not made again; *so_far* is the share of the run that these are, as pages state it.
        """
        stages = [one for one in self._stages if one.judged_by not in judged.waiting]
        plan = Plan(stages, self._benchmark, limit=self.record["limit"], only=judged.query_ids)
        for stage, worker in self._scoring:
            _score(stage, worker, plan, into)
        record = dict(self.record)
        told = told_of(self.run, self._benchmark, record, self._experiment, plan, stages=self._stages)
        told.more["so_far"] = dict(so_far)
        if self._repairs:
            told.more["unscored"].append(_REPAIR_LATER)
        return made_results(into, self._benchmark, record, self._experiment, plan, told=told)


def wanted_pieces(plan: Plan) -> RunRows:
    """Return all that a run makes of each query before its summaries are scored."""
    query_of: dict[str, str] = {}
    texts: dict[str, list[Source]] = {}
    verdicts: dict[str, dict[str, list[Source]]] = {}
    for stage in plan.stages:
        of_stage = texts if stage.judged_by is None else verdicts.setdefault(stage.judged_by, {})
        for item in () if isinstance(stage, Score) else plan.items(stage):
            named: str | None = getattr(item.key, "query_id", None)
            query_id = query_of[item.sources[0].work_id] if named is None else named
            query_of[item.work_id] = query_id
            of_stage.setdefault(query_id, []).append(Source(stage.table, item.work_id))
    return RunRows(texts, {judge: pieces for judge, pieces in verdicts.items() if pieces})


def judged_so_far(wanted: RunRows, tables: Mapping[str, Snapshot]) -> JudgedSoFar:
    """
    Return what *tables* hold of all that is *wanted*.

    Judges work one after another. The queries are those of the judge that has judged most of them; judges that have
    not judged all of these wait.
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
    given = placed(into, stage.name, plan.items(stage), but=there)
    for group in stage.groups(given):
        part = into.write_part(stage.table, awaited(worker(group)), work_ids=[one.work_id for one in group])
        into.commit(stage.table, [part])
