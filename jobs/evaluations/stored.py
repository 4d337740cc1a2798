"""Open the job that made a stored run: score the run again, or write it in the format of a release."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

import pyarrow as pa

from actors.python_class import named_value
from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.command.calling import Calling, ledger_beside
from jobs.configs import validated
from jobs.evaluations.evaluation import Evaluation
from jobs.evaluations.replay import Replay, ReplaySettings
from jobs.files.exported import write_files
from jobs.results.evidence import by_summary
from jobs.results.write import read_results
from jobs.runs.record import read_record
from jobs.stages.cluster import Cluster
from jobs.stages.released import labelled_tasks
from jobs.stages.retrieve import Ranked
from jobs.stages.split import UnitsOf
from jobs.stages.stage import Plan
from jobs.stages.verdicts import Judged
from longform.errors import UsageError, meant
from longform.evidence.summaries import summaries
from longform.formats.exported import Export, HaystackOfRun, SystemOf
from longform.formats.names import EXPORTS, FULL_CONTEXT
from longform.keys import in_groups
from longform.retrieval.ranking import NOT_RANKED
from longform.schemas import SCHEMAS
from longform.settings.experiment import Experiment


def open_run(url: str, changes: Sequence[str], *, cluster: Cluster) -> Evaluation | Replay:
    """
    Open the job that made the run at *url*, with `key=value` changes to its configuration.

    Raises:
        UsageError: No run stands there, or a change is not one of its configuration.
    """
    record = read_record(Folder(url))
    config, bench_url = record["config"], record["benchmark"]["url"]
    if record["verb"] == "replay":
        return Replay(bench_url, url, validated(ReplaySettings, config, changes, where=url), cluster=cluster)
    experiment = validated(Experiment, config, changes, where=url)
    calling = Calling("aggregate", ledger=ledger_beside(url))
    return Evaluation(experiment, bench_url, url, cluster=cluster, calling=calling, limit=record["limit"])


def aggregate(url: str, changes: Sequence[str], *, cluster: Cluster) -> dict[str, Any]:
    """Return the results of the run at *url*, scored again."""
    job = open_run(url, changes, cluster=cluster)
    job.do("aggregate")
    return job.report()


_JUDGED = ["summary_id", "judge", "target_id", "answer", "linked_unit", "repeat"]
_LINES = ["summary_id", "unit_index", "text"]
_RANKED = ["query_id", "system", "doc_id", "rank", "score"]
RESULTS = "results.json"
_USUAL_SHARE = 0.5  # what partial coverage counts where nothing else is said


@dataclass(frozen=True)
class _Stored:
    """A run with what a format may ask of it (`longform.formats.exported.RunToExport`), and settings of its scores."""

    run: Folder
    benchmark: Benchmark
    plan: Plan
    judges: Sequence[str]  # of coverage
    full_context: frozenset[str]
    partial_score: float
    aggregate: str
    judge: str = ""
    exported_at: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))

    @cached_property
    def results(self) -> Mapping[str, Any]:
        if not self.run.has(RESULTS):
            told = f"expected a run with {RESULTS}, found none; the command that made it writes it"
            raise UsageError(f"{self.run.url}: {told}")
        return read_results(self.run)

    def table(self, name: str, /) -> pa.Table:
        if name not in SCHEMAS:
            known = sorted({stage.table for stage in self.plan.stages})
            raise LookupError(f"table: expected one of {', '.join(known)}, found {name!r}{meant(name, known)}")
        return self.run.read(name, work_ids=self.plan.work_ids(name))

    @cached_property
    def systems(self) -> dict[str, SystemOf]:
        work_ids, queries = self.plan.work_ids("summaries"), self.benchmark.queries
        found = summaries(lambda columns: self.run.batches("summaries", work_ids=work_ids, columns=columns), work_ids)
        named = found.select("summary_id", "summarizer", "setting", "query_id").iter_rows()
        return {one: SystemOf(summarizer, setting, queries[query].dataset) for one, summarizer, setting, query in named}

    @property
    def haystacks(self) -> Iterator[HaystackOfRun]:
        """The rows of each haystack of which summaries or rankings are there."""
        run, plan = self.run, self.plan
        summaries = _by("haystack_id", _rows(run, "summaries", plan.work_ids("summaries"), None))
        units = {item.key.summary: item.work_id for item in plan.of(UnitsOf)}
        verdicts = by_summary(plan.of(Judged))
        rankings = in_groups((ranked.key.haystack_id, ranked.work_id) for ranked in plan.of(Ranked))
        for haystack_id in self.benchmark.haystack_ids:
            own = summaries.get(haystack_id, [])
            placed = _rows(run, "rankings", rankings.get(haystack_id, []), _RANKED)
            lists = [row for row in placed if row["doc_id"] != NOT_RANKED]
            if own or lists:
                work_ids = {row["work_id"] for row in own}
                lines = _rows(run, "units", [units[one] for one in work_ids if one in units], _LINES)
                texts = _by("summary_id", sorted(lines, key=lambda row: int(row["unit_index"])))
                judgements = [one for work_id in work_ids for one in verdicts.get(work_id, ())]
                yield HaystackOfRun(
                    haystack_id,
                    *self.benchmark.haystack_tables(haystack_id),
                    rankings=lists,
                    summaries=own,
                    units={summary_id: [row["text"] for row in rows] for summary_id, rows in texts.items()},
                    verdicts=_by("summary_id", _rows(run, "verdicts", judgements, _JUDGED)),
                )


def export(url: str, out: str, *, form: str, judge: str | None) -> dict[str, Any]:
    """
    Write the run at *url* in a format (a name of `longform.formats.names`, or a user's MODULE:NAME) to *out*.

    Return what was written and left out.

    A format that has labels writes those of *judge*; None: of the only judge of coverage.

    Raises:
        UsageError: No run stands there, it names no such judge, it holds nothing that the format can say, or there is
            no such format.
        UserCodeError: A user's format raised, or yielded what is no file.
    """
    made = named_value(form, EXPORTS, Export, asked="--as")
    opened = _open(url)
    chosen = _chosen(url, opened.judges, judge) if made.labelled else None
    if chosen is None and judge is not None:
        raise UsageError(f"--judge {judge}: --as {form} writes no labels of one judge; leave it out")
    folder, run = Folder(out), replace(opened, judge=chosen or "")
    names, n_summaries, left_out = write_files(form, lambda: made.files(run), folder)
    if not names or (made.labelled and not n_summaries):
        raise UsageError(f"{url}: expected a run with {made.of}, found none that can be written")
    return {
        "out": out,
        "files": names,
        "others": [name for name in folder.names() if name.endswith(".json") and name not in names] if chosen else [],
        "summaries": n_summaries,
        "judge": chosen,
        "left_out": dict(left_out),
        "settings": _settings(opened) if chosen else [],
    }


def _open(url: str) -> _Stored:
    job = open_run(url, [], cluster=Cluster(address=None, workers=0))
    match job:
        case Evaluation(experiment=experiment):
            whole = {name for name, retriever in experiment.retrievers.items() if retriever.whole}
            judges = list(experiment.judges_of("coverage"))
            share, aggregate = experiment.partial_score, experiment.aggregate
        case Replay(settings=settings):
            whole = {FULL_CONTEXT}
            judges = [name for name, task in labelled_tasks(job.benchmark).items() if task == "coverage"]
            share, aggregate = settings.partial_score, settings.aggregate
    return _Stored(job.run, job.benchmark, job.plan, judges, frozenset(whole), share, aggregate)


def _chosen(url: str, judges: Sequence[str], judge: str | None) -> str:
    if judge is None and len(judges) == 1:
        return judges[0]
    if judge in judges:
        return str(judge)
    found = "no judge of coverage" if not judges else f"judges of coverage {', '.join(judges)}"
    wanted = "--judge with one of them" if judge is None else f"one of them, found --judge {judge}"
    raise UsageError(f"{url}: {found}; expected {wanted if judges else 'a run that was judged'}")


def _settings(opened: _Stored) -> list[str]:
    """Return the settings that a replay needs to give the run's scores, as `--set` takes them."""
    return [
        *([f"partial_score={opened.partial_score}"] if opened.partial_score != _USUAL_SHARE else []),
        *([f"aggregate={opened.aggregate}"] if opened.aggregate != "pooled" else []),
    ]


def _rows(run: Folder, table: str, work_ids: Iterable[str], columns: list[str] | None) -> Iterator[Any]:
    for batch in run.batches(table, work_ids=list(work_ids), columns=columns):
        yield from batch.to_pylist()


def _by(column: str, rows: Iterable[Any]) -> dict[str, list[Any]]:
    return in_groups((row[column], row) for row in rows)
