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

import numpy as np

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from longform.evidence.scan import pl
from longform.evidence.scores import ScoreTable, means, under
from longform.judges.kind import Kind
from longform.judges.kinds import KINDS
from longform.judges.kinds.support import NO, UNSURE, YES
from longform.judges.means import merged_repeats
from longform.keys import in_groups
from longform.results.evidence import QueryFacts, SummaryFacts, Unfolded, unfolded_of

_CHECK_COLUMNS = ["summary_id", "judge", "unit_index", "target_kind", "target_id", "text_index", "mode", "repeat"]
_CHECK_COLUMNS += ["answer", "probability", "reply", "failure", "doc_position", "chunk_index"]
_RANKS = (None, NO, UNSURE, YES)  # unjudged last
_HAYSTACKS_HELD = 2


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


DRILLDOWN = "report/drilldown.jsonl.gz"
_OF_OLDER_RUNS = "report/drilldown.json.gz"

_SUMMARIES_AT_ONCE = 64
_LEVEL = 6  # of compression: 9 takes twice as long for 3 % less
_HELD_BYTES = 4_000_000  # of parts that the next summaries may need, too
_VERDICT_COLUMNS = ["summary_id", "judge", "target_id", "answer", "linked_unit", "probability", "reply", "failure"]
_OF_SUMMARIES = ["work_id", "summary_id", "query_id", "setting", "summarizer", "order", "repeat", "failure"]
_OF_REPEATS = ["mode", "unit_index", "repeat"]
"""Columns by which the repeats of a judge are told apart; they are not shown."""


class Unfolding:
    """
    The summaries of a run with their bullets, verdicts and scores.

    By the work id of a summary stand those of its *units*, of the *verdicts* that are shown, and of *checks*, verdicts
    on documents. Judges without a kind judge coverage; scores are shown by *measures* alone.
    """

    def __init__(
        self,
        run: Folder,
        benchmark: Benchmark,
        facts: pl.DataFrame,
        scores: ScoreTable,
        *,
        measures: Collection[str],
        units: Mapping[str, str],
        verdicts: Mapping[str, Sequence[str]],
        checks: Mapping[str, Sequence[str]],
        kinds: Mapping[str, Kind],
    ) -> None:
        self._benchmark, self._written, self._scores = benchmark, facts, scores
        self._units, self._verdicts, self._checks = units, verdicts, checks
        self._tables = {table: run.snapshot(table, held_bytes=_HELD_BYTES) for table in ("units", "verdicts")}
        self._numbers = lru_cache(maxsize=_HAYSTACKS_HELD)(self._read_numbers)
        self._kinds = kinds
        ids = scores.frame["summary_id"]
        assert isinstance(ids.dtype, pl.Enum), "ids are categories in the order of the summaries"
        self._held, self._place = ids.to_physical().to_numpy(), {one: n for n, one in enumerate(ids.dtype.categories)}
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
            verdicts = [work_id for one in work_ids for work_id in self._verdicts.get(one, ())]
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
            for row in merged_repeats(self._kinds.get(judge, KINDS["coverage"]), own)
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


# ---------------------------------------------------------------- stored beside the results


def keep_unfolded(run: Folder, unfolded: Iterable[Unfolded]) -> None:
    """Store summaries with their queries beside the results, a line each, so that pages can be written from these."""
    keep_lines(run, DRILLDOWN, _contents(unfolded))
    run.delete(_OF_OLDER_RUNS)


def _contents(unfolded: Iterable[Unfolded]) -> Iterator[Mapping[str, object]]:
    query_id = None
    for summary, query in unfolded:
        if summary["query_id"] != query_id:
            query_id = summary["query_id"]
            yield {"query_id": query_id, "query": query}
        yield {"summary": summary}


def keep_lines(run: Folder, name: str, contents: Iterable[Mapping[str, object]]) -> None:
    """Store JSON objects, a gzipped line each, which `Folder.lines` reads."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "lines"
        with path.open("wb") as raw, gzip.GzipFile("", "wb", _LEVEL, raw, mtime=0) as file:
            for content in contents:
                file.write((json.dumps(content, allow_nan=False) + "\n").encode())
        run.upload(path, name)


def kept_unfolded(run: Folder) -> Iterator[Unfolded]:
    """Yield what `keep_unfolded` stored; that of an older version is read whole."""
    if not run.has(DRILLDOWN):
        yield from unfolded_of(json.loads(gzip.decompress(run.read_bytes(_OF_OLDER_RUNS))))
        return
    for content in run.lines(DRILLDOWN):
        if "query" in content:
            query: QueryFacts = content["query"]
        else:
            yield Unfolded(content["summary"], query)
