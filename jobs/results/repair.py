"""Effects of repaired citations on each system: the data of the before-and-after section."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.stages.runner import Row
from longform.repair.by_matrix import best_evidence
from longform.repair.twins import LABEL, METHOD
from longform.results.aggregate import Aggregate, SummaryInfo, scored_summaries
from longform.results.before_after import SHOWN, Change, before_after, changes, drawn_examples
from longform.support.index import SupportIndex
from longform.text.citations import without_citations

BY_MATRIX: dict[str, Any] = {"by": "matrix", "label": LABEL}
"""What the report says of citations that the words of bullets and documents drove."""

_COLUMNS = ["work_id", "summary_id", "method", "parents"]


def repaired_originals(run: Folder, summary_work_ids: Sequence[str]) -> dict[str, str]:
    """Summary id of each repaired twin -> of its original, in the order given; empty if nothing was repaired."""
    rows = {
        row["work_id"]: row for row in run.read("summaries", work_ids=summary_work_ids, columns=_COLUMNS).to_pylist()
    }
    found = [rows[work_id] for work_id in summary_work_ids if work_id in rows]
    return {row["summary_id"]: row["parents"][0] for row in found if row["method"] == METHOD}


def repair_results(
    benchmark: Benchmark,
    *,
    originals: Mapping[str, str],
    driver: Mapping[str, Any],
    scores: Iterable[Row],
    infos: Mapping[str, SummaryInfo],
    drilldown: Mapping[str, Any],
    checked: Iterable[Row],
    aggregate: Aggregate,
    seed: int,
) -> dict[str, Any]:
    """
    `rows` of every judge, and, by the first judge's links, `changes` (how many of each kind) and `examples`.

    Where a support judge drove the citations, its `faithfulness` of the same bullets stands in each row.

    Args:
        benchmark: Whose documents hold the evidence.
        originals: Summary id of each twin -> of its original.
        driver: `by` (matrix, or the support judge), `label`, and what else the report says of it.
        scores: Rows of the scores table.
        infos: Summary id -> what the tables know of it, twins included.
        drilldown: Queries and summaries as the page unfolds them.
        checked: Rows of faithfulness, one a support judge, summarizer and setting.
        aggregate: How scores are averaged.
        seed: Of drawn sign changes.
    """
    by_judge = scored_summaries(scores, infos)
    given: dict[str, Any] = {"aggregate": aggregate, "seed": seed}
    rows = [
        row for judge, summaries in by_judge.items() for row in before_after(summaries, originals, judge=judge, **given)
    ]
    faithfulness = {
        (cell["dataset"], cell["setting"], cell["summarizer"]): cell["faithfulness"]
        for cell in checked
        if cell["judge"] == driver["by"]
    }
    if faithfulness:
        rows = [row | {"faithfulness": faithfulness[row["dataset"], row["setting"], row["summarizer"]]} for row in rows]
    judge = next(iter(by_judge), None)
    facts = {summary["summary_id"]: summary for summary in drilldown["summaries"]}
    targets = {t["target_id"]: t for query in drilldown["queries"].values() for t in query["targets"]}
    gold = {target_id: target["gold"] for target_id, target in targets.items()}
    found = changes(facts, originals, gold, judge=judge) if judge else []
    counted = Counter(change.kind for change in found)
    writer = _Examples(benchmark)
    return {
        **driver,
        "rows": rows,
        "judge": judge,
        "changes": {kind: counted[kind] for kind in SHOWN},
        "examples": [
            writer.row(change, facts[change.original_id], targets[change.target_id]) for change in drawn_examples(found)
        ],
    }


class _Examples:
    """Holds the sentences of the last haystacks it found evidence in."""

    def __init__(self, benchmark: Benchmark) -> None:
        self._benchmark = benchmark
        self._sources = lru_cache(maxsize=2)(self._read)

    def row(self, change: Change, summary: Mapping[str, Any], target: Mapping[str, Any]) -> dict[str, Any]:
        bullet = summary["bullets"][change.unit]["text"]
        index, numbers = self._sources(self._benchmark.queries[summary["query_id"]].haystack_id)
        evidence = best_evidence(bullet, change.after, index, numbers)
        before, after = change.f1
        return {
            "kind": change.kind,
            "summarizer": summary["summarizer"],
            "setting": summary["setting"],
            "summary_id": change.original_id,
            "repaired_id": change.twin_id,
            "bullet": without_citations(bullet),
            "insight": target["text"],
            "f1": [before, after],
            "before": _marked(change.before, change.gold),
            "after": _marked(change.after, change.gold),
            "gold": list(change.gold),
            "evidence": None
            if evidence is None
            else {"number": evidence.number, "right": evidence.number in change.gold, "text": evidence.text},
        }

    def _read(self, haystack_id: str) -> tuple[SupportIndex, list[int]]:
        documents = self._benchmark.documents(haystack_id)
        return SupportIndex([document.text for document in documents]), [document.number for document in documents]


def _marked(cited: Sequence[int], gold: Sequence[int]) -> list[dict[str, Any]]:
    return [{"number": number, "right": number in gold} for number in cited]
