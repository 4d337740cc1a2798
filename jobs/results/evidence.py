"""A finished run as cells, studies and unfolding pages read it: each table from its committed parts when asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import islice, product
from typing import Any

import numpy as np

from actors.judges.opening import kind_of
from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.results.calls import spent_on
from jobs.results.frames import checked_summaries, gold_by_query, packed_queries, ranked_queries
from jobs.stages.items import Item
from jobs.stages.pack import Packed
from jobs.stages.retrieve import Ranked
from jobs.stages.verdicts import Judged
from longform.evidence.frames import Frames
from longform.evidence.scan import Read, as_frame, pl
from longform.evidence.scores import SCORE_COLUMNS, ScoreTable, means, under
from longform.evidence.summaries import clustered, summaries
from longform.judges.kinds import KINDS
from longform.judges.kinds.support import NO, UNSURE, YES
from longform.judges.means import merged_repeats, repeated_pairs
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
        return Unfolding(self)

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


# ---------------------------------------------------------------- summaries as the pages of a report unfold them

_HAYSTACKS_HELD = 2
_SUMMARIES_AT_ONCE = 64
_HELD_BYTES = 4_000_000  # of parts that the next summaries may need, too
_VERDICT_COLUMNS = ["summary_id", "judge", "target_id", "answer", "linked_unit", "probability", "reply", "failure"]
_OF_SUMMARIES = ["work_id", "summary_id", "query_id", "setting", "summarizer", "order", "repeat", "failure"]
_OF_REPEATS = ["mode", "unit_index", "repeat"]
"""Columns by which the repeats of a judge are told apart; they are not shown."""
_CHECK_COLUMNS = ["summary_id", "judge", "unit_index", "target_kind", "target_id", "text_index", "mode", "repeat"]
_CHECK_COLUMNS += ["answer", "probability", "reply", "failure", "doc_position", "chunk_index"]
_RANKS = (None, NO, UNSURE, YES)  # unjudged last


class Unfolding:
    """
    The summaries of a run with their bullets, verdicts and scores.

    Judges without a kind judge coverage; scores are shown by measures that are scored with the summaries alone.
    """

    def __init__(self, of: RunEvidence) -> None:
        self._benchmark, self._written, self._scores, self._work = (
            of.benchmark,
            of.all_summaries,
            of.score_table,
            of.work,
        )
        self._units = dict(zip(self._work.summaries, self._work.units, strict=True))
        self._checks = by_summary(self._work.checks)
        self._tables = {table: of.run.snapshot(table, held_bytes=_HELD_BYTES) for table in ("units", "verdicts")}
        self._judges = {} if of.experiment is None else of.experiment.judges
        ids = self._scores.frame["summary_id"]
        assert isinstance(ids.dtype, pl.Enum), "ids are categories in the order of the summaries"
        self._held, self._place = ids.to_physical().to_numpy(), {one: n for n, one in enumerate(ids.dtype.categories)}
        together = {one.name for group in scored_together(of.measures) for one in group}
        self._shown = [(j, one) for j in self._scores.judges for one in self._scores.measures(j) if one in together]
        self.query = lru_cache(maxsize=_SUMMARIES_AT_ONCE)(self._query)
        self._numbers = lru_cache(maxsize=_HAYSTACKS_HELD)(self._read_numbers)

    def _query(self, query_id: str) -> QueryFacts:
        query = self._benchmark.queries[query_id]
        gold = self._benchmark.gold_numbers(query.haystack_id) or {}
        return {
            "haystack": query.haystack_id,
            "topic": query.topic,
            "subtopic": query.subtopic_name,
            "text": query.text,
            "dataset": query.dataset,
            "targets": [
                {
                    "target_id": t.target_id,
                    "name": t.name,
                    "text": t.text,
                    "gold": sorted(gold.get(t.target_id, ())),
                    "kind": t.kind,
                }
                for t in self._benchmark.targets.get(query_id, [])
            ],
        }

    def by_query(self) -> Iterator[Unfolded]:
        """Yield all summaries, those of a query together, in the benchmark's order."""
        queries = pl.DataFrame({"query_id": list(self._benchmark.queries)}, schema={"query_id": pl.Categorical})
        ordered = queries.join(self._written, on="query_id", maintain_order="left_right")
        for summary in self.summaries(ordered["summary_id"]):
            yield Unfolded(summary, self.query(summary["query_id"]))

    def summaries(self, summary_ids: Iterable[str]) -> Iterator[SummaryFacts]:
        """Yield these summaries in their order."""
        wanted = iter(summary_ids)
        while some := list(islice(wanted, _SUMMARIES_AT_ONCE)):
            scores = self._scored(some)
            rows = (
                self._written.filter(pl.col("summary_id").is_in(some))
                .with_columns(repeat="summary_repeat")
                .select(_OF_SUMMARIES)
            )
            written = {row["summary_id"]: row for row in rows.to_dicts()}
            work_ids = [written[one].pop("work_id") for one in some]
            facts: dict[str, SummaryFacts] = {
                one: {**written[one], "bullets": [], "verdicts": [], "scores": scores.get(one, {})} for one in some
            }
            for row in self._rows("units", [self._units[one] for one in work_ids], ["summary_id", "text", "citations"]):
                facts[row["summary_id"]]["bullets"].append({"text": row["text"], "citations": row["citations"]})
            verdicts = [work_id for one in work_ids for work_id in self._work.verdicts.get(one, ())]
            for row in self._merged(verdicts):
                facts[row["summary_id"]]["verdicts"].append({name: row[name] for name in _VERDICT_COLUMNS[1:]})
            self._add_support(facts, [work_id for one in work_ids for work_id in self._checks.get(one, ())])
            yield from facts.values()

    def _merged(self, work_ids: Sequence[str]) -> list[Any]:
        """Return one verdict of each judge on each target, in the order in which they are stored."""
        rows = list(self._rows("verdicts", work_ids, [*_VERDICT_COLUMNS, *_OF_REPEATS]))
        if not any(row["repeat"] for row in rows):
            return rows
        return [
            row
            for judge, own in in_groups((row["judge"], row) for row in rows).items()
            for row in merged_repeats(kind_of(self._judges[judge]) if judge in self._judges else KINDS["coverage"], own)
        ]

    def _add_support(self, facts: Mapping[str, SummaryFacts], work_ids: Sequence[str]) -> None:
        """Add what support judges found of the bullets of some summaries."""
        found = in_groups(
            ((row["summary_id"], row["judge"]), row)
            for row in (self._rows("verdicts", work_ids, _CHECK_COLUMNS) if work_ids else ())
            if row["summary_id"] in facts and row["unit_index"] is not None
        )
        for (summary_id, judge), rows in found.items():
            summary = facts[summary_id]
            by_unit = in_groups((row["unit_index"], row) for row in merged_repeats(KINDS["support"], rows))
            numbers = self._numbers(self._benchmark.queries[summary["query_id"]].haystack_id)
            for unit, own in by_unit.items():
                if unit < len(summary["bullets"]):
                    bullet = summary["bullets"][unit]
                    bullet.setdefault("support", []).append(_support(judge, bullet["citations"], own, numbers))

    def _read_numbers(self, haystack_id: str) -> Mapping[str, int]:
        rows = self._benchmark.rows("documents", haystack_id, ["doc_id", "doc_index"]).to_pylist()
        return {row["doc_id"]: row["doc_index"] + 1 for row in rows}

    def _rows(self, table: str, work_ids: Sequence[str], columns: list[str]) -> Iterator[Any]:
        for batch in self._tables[table].batches(work_ids=work_ids, columns=columns):
            yield from batch.to_pylist()

    def _scored(self, summary_ids: Sequence[str]) -> Mapping[str, dict[str, dict[str, float | None]]]:
        """Summary id -> judge -> measure -> value."""
        own = [np.arange(*np.searchsorted(self._held, [self._place[one], self._place[one] + 1])) for one in summary_ids]
        rows = self._scores.frame[np.concatenate([np.arange(0), *own])]
        value = pl.when(pl.col("n") > 0).then(pl.col("total") / pl.col("n"))
        values = {
            (judge, measure, summary_id): found
            for judge in dict.fromkeys(judge for judge, _ in self._shown)
            for own in [means(under(rows, judge)).select("measure", "summary_id", value)]
            for measure, summary_id, found in own.iter_rows()
        }
        scored: dict[str, dict[str, dict[str, float | None]]] = {}
        for (judge, measure), summary_id in product(self._shown, summary_ids):
            if (key := (judge, measure, summary_id)) in values:
                scored.setdefault(summary_id, {}).setdefault(judge or "", {})[measure] = values[key]
        return scored


def _support(
    judge: str, citations: Sequence[int], rows: Sequence[Any], numbers: Mapping[str, int]
) -> Mapping[str, Any]:
    """Say what a judge found of the documents that a bullet cites, and which of all supports it best."""
    on_documents = [row for row in rows if row["target_kind"] == "document"]
    answers = {numbers[row["target_id"]]: row["answer"] for row in on_documents if row["target_id"] in numbers}
    best = max(rows, key=lambda row: (_RANKS.index(row["answer"]), row["probability"] or 0.0))
    supported = best["answer"] in (YES, UNSURE) and best["target_kind"] == "document"
    return {
        "judge": judge,
        "cited": [answers.get(number) for number in citations],
        "answer": best["answer"],
        "best": numbers.get(best["target_id"]) if supported else None,
        "n": len(rows) if best["target_kind"] == "document" else None,
    }
