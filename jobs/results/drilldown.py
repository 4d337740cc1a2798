"""Queries and summaries of a run as the pages of its report unfold them, read some at a time."""

from __future__ import annotations

import gzip
import json
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice, product
from pathlib import Path
from typing import Any

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.results.unfolded_support import UnfoldedSupport
from longform.evidence.scan import pl
from longform.evidence.scores import means, of_summaries, under
from longform.judges.kind import Kind
from longform.judges.kinds import KINDS
from longform.judges.repeats import merged_repeats
from longform.results.aggregate import SummaryInfo
from longform.results.drilldown import Drilldown, QueryFacts, SummaryFacts, Unfolded, unfolded_of
from longform.results.score_table import ScoreTable

DRILLDOWN = "report/drilldown.jsonl.gz"
_OF_OLDER_RUNS = "report/drilldown.json.gz"

_SUMMARIES_AT_ONCE = 64
_HELD_BYTES = 4_000_000  # of parts that the next summaries may need, too
_VERDICT_COLUMNS = ["summary_id", "judge", "target_id", "answer", "linked_unit", "probability", "reply", "failure"]
_OF_REPEATS = ["mode", "unit_index", "repeat"]
"""Columns by which the repeats of a judge are told apart; they are not shown."""


class Unfolding:
    """
    The summaries of a run with their bullets, verdicts and scores.

    Args:
        run: The folder with the tables.
        benchmark: Of the run.
        infos: By summary id.
        scores: Of the run.
        measures: Whose scores are shown.
        units: Summary id -> work id of its units.
        verdicts: Summary id -> work ids of the verdicts that are shown.
        checks: The same of verdicts on documents.
        kinds: Judge -> its kind; the others judge coverage.
    """

    def __init__(
        self,
        run: Folder,
        benchmark: Benchmark,
        infos: Mapping[str, SummaryInfo],
        scores: ScoreTable,
        *,
        measures: Collection[str],
        units: Mapping[str, str],
        verdicts: Mapping[str, Sequence[str]],
        checks: Mapping[str, Sequence[str]],
        kinds: Mapping[str, Kind],
    ) -> None:
        self._benchmark, self._infos, self._scores = benchmark, infos, scores
        self._units, self._verdicts = units, verdicts
        self._tables = {table: run.snapshot(table, held_bytes=_HELD_BYTES) for table in ("units", "verdicts")}
        self._support = UnfoldedSupport(self._tables["verdicts"], benchmark, checks)
        self._kinds = kinds
        self._shown = [
            (judge, measure) for judge in scores.judges for measure in scores.measures(judge) if measure in measures
        ]
        self.query = lru_cache(maxsize=_SUMMARIES_AT_ONCE)(self._query)

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
        found: dict[str, list[str]] = {}
        for summary_id, info in self._infos.items():
            found.setdefault(info.query_id, []).append(summary_id)
        ordered = (summary_id for query_id in self._benchmark.queries for summary_id in found.get(query_id, ()))
        for summary in self.summaries(ordered):
            yield Unfolded(summary, self.query(summary["query_id"]))

    def summaries(self, summary_ids: Iterable[str], *, with_verdicts: bool = True) -> Iterator[SummaryFacts]:
        """Yield these summaries in their order; without verdicts these are left empty."""
        wanted = iter(summary_ids)
        while some := list(islice(wanted, _SUMMARIES_AT_ONCE)):
            scores = self._scored(some)
            facts = {summary_id: self._facts(summary_id, scores.get(summary_id, {})) for summary_id in some}
            for row in self._rows("units", [self._units[one] for one in some], ["summary_id", "text", "citations"]):
                facts[row["summary_id"]]["bullets"].append({"text": row["text"], "citations": row["citations"]})
            verdicts = [work_id for one in some for work_id in self._verdicts[one]] if with_verdicts else []
            for row in self._merged(verdicts):
                summary_id = row.pop("summary_id")
                shown: Any = {name: row[name] for name in row if name not in _OF_REPEATS}
                facts[summary_id]["verdicts"].append(shown)
            if with_verdicts:
                self._support.add(facts)
            yield from facts.values()

    def _merged(self, work_ids: Sequence[str]) -> list[Any]:
        """Return one verdict of each judge on each target, in the order in which they are stored."""
        rows = list(self._rows("verdicts", work_ids, [*_VERDICT_COLUMNS, *_OF_REPEATS]))
        if not any(row["repeat"] for row in rows):
            return rows
        by_judge: dict[str, list[Any]] = {}
        for row in rows:
            by_judge.setdefault(row["judge"], []).append(row)
        return [
            row
            for judge, own in by_judge.items()
            for row in merged_repeats(self._kinds.get(judge, KINDS["coverage"]), own)
        ]

    def _rows(self, table: str, work_ids: Sequence[str], columns: list[str]) -> Iterator[Any]:
        for batch in self._tables[table].batches(work_ids=work_ids, columns=columns):
            yield from batch.to_pylist()

    def _scored(self, summary_ids: Sequence[str]) -> Mapping[str, dict[str, dict[str, float | None]]]:
        """Summary id -> judge -> measure -> value."""
        rows = of_summaries(self._scores.frame, summary_ids)
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

    def _facts(self, summary_id: str, scores: dict[str, dict[str, float | None]]) -> SummaryFacts:
        info = self._infos[summary_id]
        return {
            "summary_id": summary_id,
            "query_id": info.query_id,
            "setting": info.setting,
            "summarizer": info.summarizer,
            "order": info.order,
            "repeat": info.repeat,
            "failure": info.failure,
            "bullets": [],
            "verdicts": [],
            "scores": scores,
        }


# ---------------------------------------------------------------- stored beside the results


def keep_unfolded(run: Folder, unfolded: Iterable[Unfolded]) -> None:
    """Store summaries with their queries beside the results, a line each, so that pages can be written from these."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "lines"
        with path.open("wb") as raw, gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as file:
            query_id = None
            for summary, query in unfolded:
                if summary["query_id"] != query_id:
                    query_id = summary["query_id"]
                    file.write(_line({"query_id": query_id, "query": query}))
                file.write(_line({"summary": summary}))
        run.upload(path, DRILLDOWN)
    run.delete(_OF_OLDER_RUNS)


def _line(content: Mapping[str, object]) -> bytes:
    return (json.dumps(content, allow_nan=False) + "\n").encode()


def kept_unfolded(run: Folder) -> Iterator[Unfolded]:
    """Yield what `keep_unfolded` stored; that of an older version is read whole."""
    if not run.has(DRILLDOWN):
        drilldown: Drilldown = json.loads(gzip.decompress(run.read_bytes(_OF_OLDER_RUNS)))
        yield from unfolded_of(drilldown)
        return
    for content in run.lines(DRILLDOWN):
        if "query" in content:
            query: QueryFacts = content["query"]
        else:
            yield Unfolded(content["summary"], query)
