"""Queries and summaries of a run as the report's page unfolds them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from longform.results.aggregate import SummaryInfo
from longform.results.drilldown import QueryFacts, SummaryFacts
from longform.rows import ScoreRow


def query_facts(benchmark: Benchmark, query_ids: Collection[str]) -> Iterable[tuple[str, QueryFacts]]:
    """Yield each query by its id, as the page unfolds it."""
    for query_id, query in benchmark.queries.items():
        if query_id in query_ids:
            gold = benchmark.gold_numbers(query.haystack_id) or {}
            yield (
                query_id,
                {
                    "haystack": query.haystack_id,
                    "topic": query.topic,
                    "subtopic": query.subtopic_name,
                    "text": query.text,
                    "targets": [
                        {
                            "target_id": t.target_id,
                            "name": t.name,
                            "text": t.text,
                            "gold": sorted(gold.get(t.target_id, ())),
                        }
                        for t in benchmark.targets.get(query_id, [])
                    ],
                },
            )


def summary_facts(
    run: Folder,
    infos: Mapping[str, SummaryInfo],
    scores: Sequence[ScoreRow],
    unit_work_ids: Sequence[str],
    verdict_work_ids: Sequence[str],
) -> list[SummaryFacts]:
    """Return each summary with its bullets, verdicts and scores, as the page unfolds it."""
    facts: dict[str, SummaryFacts] = {
        summary_id: {
            "summary_id": summary_id,
            "query_id": info.query_id,
            "setting": info.setting,
            "summarizer": info.summarizer,
            "order": info.order,
            "repeat": info.repeat,
            "failure": info.failure,
            "bullets": [],
            "verdicts": [],
            "scores": {},
        }
        for summary_id, info in infos.items()
    }
    for batch in run.batches("units", work_ids=unit_work_ids):
        for row in batch.to_pylist():
            facts[row["summary_id"]]["bullets"].append({"text": row["text"], "citations": row["citations"]})
    for batch in run.batches("verdicts", work_ids=verdict_work_ids):
        for row in batch.to_pylist():
            facts[row["summary_id"]]["verdicts"].append(
                {
                    "judge": row["judge"],
                    "target_id": row["target_id"],
                    "answer": row["answer"],
                    "linked_unit": row["linked_unit"],
                    "probability": row["probability"],
                    "reply": row["reply"],
                    "failure": row["failure"],
                }
            )
    for row in scores:
        facts[row["summary_id"]]["scores"].setdefault(row["judge"] or "", {})[row["measure"]] = row["value"]
    return list(facts.values())
