"""A run as it stands in its folder, read without its plan and without a write: scores, judges, state, spend."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from pydantic import JsonValue, ValidationError

from actors.storage.benchmark import Benchmark
from actors.storage.errors import without_the_unreachable
from actors.storage.folder import Folder
from jobs.results.calls import Spend, run_spend
from jobs.results.run_status import run_status
from jobs.results.write import RESULTS, read_results
from jobs.runs.record import read_record
from longform.errors import UsageError
from longform.evidence.scan import as_frame, pl
from longform.evidence.scores import SCORE_COLUMNS, ScoreTable
from longform.evidence.summaries import clustered, summaries
from longform.measures import RANKING, SHIPPED, default_names
from longform.metrics.measure import Description, described
from longform.results.aggregate import Averaging, systems_in
from longform.results.cells import listed_in
from longform.results.differences import scored
from longform.results.run_status import Status
from longform.settings.experiment import Experiment
from longform.settings.named_judges import ALIGNERS, whole_identity
from longform.settings.systems import SystemName

JudgeSignature = Mapping[str, JsonValue]
"""
A judge as it answered; two are comparable if all of it is the same.

Its `settings` are all that can change an answer. Beside them stand the versions that its verdicts state and the models
that providers named, each in words; empty: none, or not known.
"""


class StoredRun(NamedTuple):
    """A run under a label, with its `run.json` as its record."""

    url: str
    label: str
    record: Mapping[str, Any]
    status: Status
    benchmark: Benchmark | None  # None: it is not where the run found it
    summaries: pl.DataFrame  # as `longform.evidence.frames.Frames` has them
    table: ScoreTable
    judges: Mapping[str, JudgeSignature]
    measures: Sequence[Description]  # those that the run lists
    spend: Spend

    @property
    def folder(self) -> Folder:
        return Folder(self.url)

    @property
    def dataset_hash(self) -> str:
        return str(self.record["benchmark"]["dataset_hash"])

    @property
    def finished(self) -> bool:
        """Return whether all stages have what they want, and no command is at work."""
        done = all(stage["done"] >= stage["wanted"] for stage in self.status["stages"])
        return done and self.status["state"] != "running"

    @property
    def query_ids(self) -> Collection[str]:
        return dict.fromkeys(self.summaries["query_id"])

    @property
    def systems(self) -> list[SystemName]:
        """Return the systems that have summaries, in order of appearance."""
        return systems_in(self.summaries)

    def scored(self, summaries: pl.DataFrame, judges: Sequence[str | None] = ()) -> pl.DataFrame:
        """Return the scores of some of its summaries by some judges, or all, with the label as `run`."""
        return scored(summaries, self.table, judges).with_columns(run=pl.lit(self.label))


def read_stored(url: str, label: str) -> StoredRun:
    """
    Read the run at *url*, whoever works on it.

    Raises:
        UsageError: No run stands there, or it has no scores yet.
    """
    run = Folder(url)
    status = run_status(url)
    record = read_record(run)
    benchmark = _benchmark(record["benchmark"]["url"], record["benchmark"]["dataset_hash"])
    known = _summaries(run, benchmark)
    judges = list((record["config"] or {}).get("judges") or {})
    parts = run.batches("scores", columns=SCORE_COLUMNS)
    table = ScoreTable((), known["summary_id"], judges, aside=ALIGNERS, parts=parts)
    if not table.judges:
        raise UsageError(
            f"{url}: expected a run with scores, found none yet; longform status {url} says how far it is, and the "
            "command that makes it goes on to its scores"
        )
    spend = run_spend(record)
    return StoredRun(
        url,
        label,
        record,
        status,
        benchmark,
        known,
        table,
        _signatures(run, record, table, spend),
        _measures(run, record),
        spend,
    )


def _benchmark(url: str, dataset_hash: str) -> Benchmark | None:
    with suppress(UsageError), without_the_unreachable():
        found = Benchmark(url)
        if found.manifest["dataset_hash"] == dataset_hash:
            return found
    return None


def _summaries(run: Folder, benchmark: Benchmark | None) -> pl.DataFrame:
    found = summaries(lambda columns: run.batches("summaries", columns=columns), run.locate("summaries"))
    stated = {} if benchmark is None else {one.query_id: one.dataset for one in benchmark.queries.values()}
    dataset = pl.col("query_id").cast(pl.String).replace_strict(stated, default=None, return_dtype=pl.String)
    return clustered(found.with_columns(dataset=pl.coalesce(dataset.cast(pl.Categorical), "dataset")))[0]


def _signatures(run: Folder, record: Mapping[str, Any], table: ScoreTable, spend: Spend) -> dict[str, JudgeSignature]:
    settings = _judge_settings(record)
    versions: dict[str, set[str]] = {}
    for batch in run.batches("verdicts", columns=["judge", "prompt_version"]):
        for judge, version in as_frame(batch).unique().iter_rows():
            versions.setdefault(judge, set()).update([version] if version else [])
    return {
        judge: {
            "settings": settings.get(judge, {"labels": judge}),
            "version of its prompt or model": ", ".join(sorted(versions.get(judge, ()))),
            "model that answered": ", ".join(
                sorted({one for step in ("judge", "check") for one in spend.models.get(f"{step} {judge}", ())})
            ),
        }
        for judge in table.judges
        if judge is not None
    }


def _judge_settings(record: Mapping[str, Any]) -> dict[str, JsonValue]:
    """Return the identity of each judge; the settings as they stand if an older version wrote others."""
    if record["verb"] != "evaluate":
        return {}
    try:
        judges = Experiment.model_validate(record["config"]).with_aligner().judges
    except ValidationError:
        return dict(record["config"].get("judges") or {})
    return {name: whole_identity(judge, judges) for name, judge in judges.items()}


def _measures(run: Folder, record: Mapping[str, Any]) -> list[Description]:
    """Return the measures that the results list; of a run without results those that follow from its judges."""
    if run.has(RESULTS) and (listed := listed_in(read_results(run))):
        return listed
    judges = (record["config"] or {}).get("judges") or {}
    names = default_names([str(judge.get("task", "coverage")) for judge in judges.values()])
    ranking = {one.name for one in RANKING}
    return [described(one) for one in SHIPPED if one.name in names and one.name not in ranking]


def written_elsewhere(run: StoredRun) -> str:
    """Name the systems whose texts a run did not write, as far as its results tell; empty if there are none."""
    if run.record["verb"] == "replay":
        return "all systems"
    rows = read_results(run.folder).get("elsewhere") or [] if run.folder.has(RESULTS) else []
    systems = set(systems_in(run.summaries.filter(pl.col("twin_of").is_null())))
    found = {SystemName(row["summarizer"], row["setting"]) for row in rows}
    return "all systems" if systems <= found else "; ".join(sorted(map(str, found)))


def averaging_of(run: StoredRun) -> Averaging:
    """Return how the run averages its scores."""
    config = run.record["config"]
    return Averaging(config.get("aggregate", "pooled"), int(config.get("seed", 1)), int(config.get("resamples", 2000)))


def labels_of(urls: Sequence[str]) -> list[str]:
    """Return names of runs: of their folders, with as many folders above as tell them apart; else the whole URLs."""
    parts = [url.rstrip("/").split("/") for url in urls]
    for depth in range(1, max(map(len, parts), default=1) + 1):
        names = ["/".join(part[-depth:]) for part in parts]
        if len(set(names)) == len(names):
            return names
    return [f"{'/'.join(part[-1:])} ({number})" for number, part in enumerate(parts, start=1)]
