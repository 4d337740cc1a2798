"""Verdicts of support judges as the pages of a report unfold them: each bullet's, by the documents that it cites."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from actors.storage.benchmark import Benchmark
from actors.storage.tables import Snapshot
from longform.judges.kinds import KINDS
from longform.judges.kinds.support import NO, UNSURE, YES
from longform.judges.repeats import merged_repeats
from longform.results.drilldown import SummaryFacts, SupportFacts

_COLUMNS = ["summary_id", "judge", "unit_index", "target_kind", "target_id", "text_index", "mode", "repeat"]
_COLUMNS += ["answer", "probability", "reply", "failure", "doc_position", "chunk_index"]
_RANKS = (None, NO, UNSURE, YES)  # unjudged last
_HAYSTACKS_HELD = 2


class UnfoldedSupport:
    """
    Adds the verdicts of support judges to bullets.

    Args:
        verdicts: The table.
        benchmark: Of the run.
        checks: Summary id -> work ids of the verdicts on its documents.
    """

    def __init__(self, verdicts: Snapshot, benchmark: Benchmark, checks: Mapping[str, Sequence[str]]) -> None:
        self._verdicts, self._benchmark, self._checks = verdicts, benchmark, checks
        self._numbers = lru_cache(maxsize=_HAYSTACKS_HELD)(self._read_numbers)

    def add(self, facts: Mapping[str, SummaryFacts]) -> None:
        """
        Add what is known of some summaries.

        Args:
            facts: Summary id -> the summary with its bullets.
        """
        work_ids = [work_id for summary_id in facts for work_id in self._checks.get(summary_id, ())]
        found: dict[tuple[str, str], list[Any]] = {}
        for batch in self._verdicts.batches(work_ids=work_ids, columns=_COLUMNS) if work_ids else ():
            for row in batch.to_pylist():
                if row["summary_id"] in facts and row["unit_index"] is not None:
                    found.setdefault((row["summary_id"], row["judge"]), []).append(row)
        for (summary_id, judge), rows in found.items():
            self._add(facts[summary_id], judge, rows)

    def _add(self, summary: SummaryFacts, judge: str, rows: Iterable[Any]) -> None:
        by_unit: dict[int, list[Any]] = {}
        for row in merged_repeats(KINDS["support"], rows):
            by_unit.setdefault(row["unit_index"], []).append(row)
        numbers = self._numbers(self._benchmark.queries[summary["query_id"]].haystack_id)
        for unit, own in by_unit.items():
            if unit < len(summary["bullets"]):
                bullet = summary["bullets"][unit]
                bullet.setdefault("support", []).append(_support(judge, bullet["citations"], own, numbers))

    def _read_numbers(self, haystack_id: str) -> Mapping[str, int]:
        rows = self._benchmark.rows("documents", haystack_id, ["doc_id", "doc_index"]).to_pylist()
        return {row["doc_id"]: row["doc_index"] + 1 for row in rows}


def _support(judge: str, citations: Sequence[int], rows: Sequence[Any], numbers: Mapping[str, int]) -> SupportFacts:
    """Say what a judge found of the documents that a bullet cites, and which of all supports it best."""
    answers = dict(_answered(rows, numbers))
    best = max(rows, key=lambda row: (_RANKS.index(row["answer"]), row["probability"] or 0.0))
    supported = best["answer"] in (YES, UNSURE) and best["target_kind"] == "document"
    return {
        "judge": judge,
        "cited": [answers.get(number) for number in citations],
        "answer": best["answer"],
        "best": numbers.get(best["target_id"]) if supported else None,
        "n": len(rows) if best["target_kind"] == "document" else None,
    }


def _answered(rows: Iterable[Any], numbers: Mapping[str, int]) -> Iterator[tuple[int, str | None]]:
    for row in rows:
        if row["target_kind"] == "document" and row["target_id"] in numbers:
            yield numbers[row["target_id"]], row["answer"]
