"""A finished run as cells and studies read it: each table is read from its committed parts when it is asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from actors.judges.opening import kind_of
from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.results.calls import spent_on
from jobs.results.drilldown import Unfolding
from jobs.results.frames import checked_summaries, gold_by_query, packed_queries, ranked_queries
from jobs.stages.items import Item
from jobs.stages.judge import Judged
from jobs.stages.pack import Packed
from jobs.stages.retrieve import Ranked
from longform.evidence.frames import Frames
from longform.evidence.scan import Read, as_frame, pl
from longform.evidence.scores import SCORE_COLUMNS, ScoreTable
from longform.evidence.summaries import clustered, summaries
from longform.judges.means import repeated_pairs
from longform.judges.merges import CITED
from longform.keys import in_groups
from longform.measures import scored_together
from longform.records import Document
from longform.results.evidence import AskedAgain, Evidence, QueryFacts, SummaryFacts, Unfolded
from longform.results.order_dependence import with_dependence
from longform.settings.named_judges import ALIGNERS

_ASKED_AGAIN = [
    "summary_id", "mode", "unit_index", "target_id", "text_index", "doc_position", "chunk_index", "repeat", "answer",
    "probability",
]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ReportedWork:
    """Work ids of what is reported; a run may hold more."""

    summaries: Sequence[str]
    units: Sequence[str]  # of each summary
    verdicts: Mapping[str, Sequence[str]] = field(default_factory=dict)  # by summary; those that the report unfolds
    tables: Mapping[str, Sequence[str]] = field(default_factory=dict)  # of all rows of other tables, by table
    rankings: Mapping[str, Ranked] = field(default_factory=dict)
    contexts: Mapping[str, Packed] = field(default_factory=dict)
    checks: Sequence[Item[Judged]] = ()
    elsewhere: frozenset[str] = frozenset()  # of the summaries, those that an evaluation took as they were shipped
    again: Mapping[str, Sequence[Item[Judged]]] = field(default_factory=dict)  # by judge; of judges with repeats


def by_summary(verdicts: Iterable[Item[Judged]]) -> Mapping[str, Sequence[str]]:
    """Summary -> its *verdicts*, all by work id."""
    return in_groups((judged.key.summary, judged.work_id) for judged in verdicts)


@dataclass(frozen=True, kw_only=True)
class RunEvidence(Evidence):
    """The tables of a run in its folder."""

    run: Folder
    benchmark: Benchmark
    work: ReportedWork
    judges: Sequence[str]  # names, in the report's order
    ignoring_order: Collection[str] = ()  # summarizers that say that the order of documents changes nothing for them
    pooled: bool = False  # all data sets are taken as one

    @cached_property
    def all_summaries(self) -> pl.DataFrame:
        """Return a row for each summary, those that repeat another order's among them, with their dependence on it."""
        found = summaries(
            lambda columns: self.run.batches("summaries", work_ids=self.work.summaries, columns=columns),
            self.work.summaries,
            self.benchmark.queries,
        ).with_columns(elsewhere=pl.col("work_id").is_in(list(self.work.elsewhere)))
        own = clustered(found.with_columns(dataset=pl.lit(None, pl.Categorical)) if self.pooled else found)[0]
        return with_dependence(own, self.ignoring_order)

    @cached_property
    def summaries(self) -> pl.DataFrame:
        """Return a row for each summary that is reported."""
        return self.all_summaries.filter(~pl.col("idle")).drop("idle", "why")

    @cached_property
    def score_table(self) -> ScoreTable:
        parts = self.run.batches("scores", work_ids=self.work.tables.get("scores", ()), columns=SCORE_COLUMNS)
        return ScoreTable((), self.all_summaries["summary_id"], self.judges, aside=ALIGNERS, parts=parts)

    @cached_property
    def frames(self) -> Frames:
        return Frames(lambda: self.summaries, lambda: self.score_table.reported, self._read, lambda: self.calls or ())

    def _read(self, table: str) -> Read:
        """Return what reads a table; it does not hold all of this, as a lazy frame would never let go of it."""
        run, benchmark, work = self.run, self.benchmark.folder, self.work
        if table == "qrels":
            return lambda columns: benchmark.batches(table, columns=columns)
        work_ids = work.units if table == "units" else work.tables.get(table, ())
        return lambda columns: run.batches(table, work_ids=work_ids, columns=columns)

    @property
    def datasets(self) -> Mapping[str, str | None]:
        queries = self.benchmark.queries.items()
        return {query_id: None if self.pooled else query.dataset for query_id, query in queries}

    @property
    def pooled_datasets(self) -> list[str]:
        """Return the data sets that are taken as one; none if each stands apart, or there is one."""
        found = dict.fromkeys(self.benchmark.queries[one].dataset or "not stated" for one in self.query_ids)
        return list(found) if self.pooled and len(found) > 1 else []

    @property
    def facets(self) -> Mapping[str, Mapping[str, str]]:
        stated = {query_id: query.facets for query_id, query in self.benchmark.queries.items() if query.facets}
        return {query_id: {one["name"]: one["value"] for one in facets} for query_id, facets in stated.items()}

    @cached_property
    def gold(self) -> Mapping[str, Mapping[str, frozenset[str]]]:
        return gold_by_query(self.benchmark.qrels)

    def rankings(self) -> pl.DataFrame:
        return ranked_queries(self.run, self.work.rankings, max(self.cutoffs, default=0))

    def contexts(self) -> pl.DataFrame:
        return packed_queries(self.run, self.work.contexts)

    def documents(self, haystack_id: str) -> Sequence[Document]:
        return self.benchmark.documents(haystack_id)

    def asked_again(self) -> Iterator[AskedAgain]:
        for judge, items in self.work.again.items():
            assert self.experiment is not None, "repeats are of a configuration's judges"
            kind = kind_of(self.experiment.judges[judge])
            clusters, dataset_of = (
                dict(self.summaries.select("summary_id", column).iter_rows()) for column in ("query_id", "dataset")
            )
            batches = self.run.batches("verdicts", work_ids=[one.work_id for one in items], columns=_ASKED_AGAIN)
            asked = (row for batch in batches for row in batch.to_pylist() if row["summary_id"] in clusters)
            for dataset, rows in in_groups((dataset_of[row["summary_id"]], row) for row in asked).items():
                yield AskedAgain(judge, dataset, repeated_pairs(kind, rows, clusters))

    @cached_property
    def _unfolding(self) -> Unfolding:
        together = {one.name for group in scored_together(self.measures) for one in group}
        return Unfolding(
            self.run,
            self.benchmark,
            self.all_summaries,
            self.score_table,
            measures=together,
            units=dict(zip(self.work.summaries, self.work.units, strict=True)),
            verdicts=self.work.verdicts,
            checks=by_summary(self.work.checks),
            kinds={} if self.experiment is None else {k: kind_of(one) for k, one in self.experiment.judges.items()},
        )

    @property
    def query_ids(self) -> Collection[str]:
        """Return the queries that have a summary, those of a haystack together: its targets are then read once."""
        return dict.fromkeys(self.all_summaries["query_id"])

    def query(self, query_id: str) -> QueryFacts:
        return self._unfolding.query(query_id)

    def unfolded(self, summary_ids: Iterable[str]) -> Iterator[SummaryFacts]:
        return self._unfolding.summaries(summary_ids)

    def all_unfolded(self) -> Iterator[Unfolded]:
        """Yield all summaries with their queries, those of a query together, in the benchmark's order."""
        return self._unfolding.by_query()

    @cached_property
    def contents(self) -> pl.DataFrame:
        parts = self._read("units")(["summary_id", "text", "citations"])
        unit = pl.struct("text", "citations").hash().cast(pl.String)
        empty = pl.DataFrame(schema={"summary_id": str, "unit": str})
        units = pl.concat([empty, *(as_frame(part).select("summary_id", unit=unit) for part in parts)])
        joined = units.group_by("summary_id", maintain_order=True).agg(pl.col("unit").str.join(" "))
        written = self.all_summaries.select("summary_id", pl.col("failure").fill_null("no failure"))
        texts = written.join(joined, on="summary_id", how="left")
        content = pl.concat_str(pl.col("unit").fill_null("no unit"), "failure", separator=" ")
        return texts.select("summary_id", content=content)

    @cached_property
    def spent(self) -> pl.DataFrame:
        if self.experiment is None:
            return pl.DataFrame()
        return spent_on(self.run, self.work.summaries, self.all_summaries, self.experiment, self.calls)

    @cached_property
    def checked(self) -> pl.DataFrame | None:
        if self.experiment is None or not self.work.checks:
            return None
        mode = self.experiment.support_mode
        by_place = pl.col("why").is_null() & pl.col("is_ordered") & pl.col("numbers").is_not_null()
        found = checked_summaries(self.run, self.work.checks, all_cells=mode != CITED)
        facts = self.all_summaries.select("work_id", "summary_id", "dataset", "why")
        joined = found.join(facts, on="work_id", maintain_order="left")
        return joined.with_columns(by_place=by_place & (mode == "document")).drop("work_id", "why", "is_ordered")
