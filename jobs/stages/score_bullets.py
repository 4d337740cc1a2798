"""Classify: `verdicts` and `units` -> `scores`, how many bullets of a summary are of which kind. N:1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.stages.items import Item, PartReader, plan
from jobs.stages.runner import Row, Stage, Task
from jobs.stages.score import score_items
from longform.judges import failure_modes
from longform.judges.lexical_coverage import QueryInsights, StemWeights
from longform.keys import content_key
from longform.support.index import SupportIndex
from longform.text.citations import Bullet

VERSION = "classify@1"
PREFIX = "bullets_"

_SUMMARIES_A_TASK = 256


def classify_work_id(verdict_work_id: str) -> str:
    return content_key("classes", verdict_work_id, VERSION)


def classify_stage(run: Folder, bench_url: str) -> Stage:
    return Stage(
        name="classify",
        table="scores",
        identity=content_key(run.url, bench_url),
        make_worker=partial(_worker, run, bench_url),
    )


def classify_tasks(run: Folder, judged: Mapping[str, str]) -> list[Task]:
    """Tasks for verdict work id -> units work id, where they are not done."""
    items = score_items(run, judged, classify_work_id)
    return plan(run, "verdicts", run, "scores", items, per_task=_SUMMARIES_A_TASK)


def _worker(run: Folder, bench_url: str) -> Any:
    verdicts, units = PartReader(run), PartReader(run)
    classifier = _Classifier(Benchmark(bench_url))

    def classify(payload: Mapping[str, Any]) -> list[Row]:
        return [
            row
            for item in payload["items"]
            for row in classifier.rows(
                item,
                verdicts.rows(item["part"], item["source"]),
                units.rows(item["units_part"], item["units"]),
            )
        ]

    return classify


class _Classifier:
    """Holds the last haystack's sentences and insights."""

    def __init__(self, benchmark: Benchmark) -> None:
        self._benchmark = benchmark
        self._index = lru_cache(maxsize=1)(self._make_index)
        self._others = lru_cache(maxsize=64)(self._make_others)

    def rows(self, item: Item, verdicts: Sequence[Row], units: Sequence[Row]) -> Iterable[Row]:
        """The counts of one summary; nothing for one that has no bullets or whose documents are not known."""
        if not verdicts or not units:
            return
        target = self._benchmark.target(verdicts[0]["target_id"])
        index = self._index(target.haystack_id)
        if index is None:
            return
        bullets = [Bullet(unit["text"], unit["citations"]) for unit in units]
        classes = failure_modes.classify(
            bullets,
            linked={v["linked_unit"] for v in verdicts if v["answer"] in ("full", "partial")},
            other_scores=failure_modes.other_subtopic_scores(bullets, self._others(target.query_id)),
            best_support=index.support([bullet.text for bullet in bullets]).max(axis=1).tolist(),
            idf=index.idf,
        )
        for name, count in failure_modes.class_counts(classes).items():
            yield {
                "work_id": item["work_id"],
                "judge": verdicts[0]["judge"],
                "summary_id": verdicts[0]["summary_id"],
                "query_id": target.query_id,
                "haystack_id": target.haystack_id,
                "measure": f"{PREFIX}{name}",
                "value": count / len(bullets),
                "total": float(count),
                "n": len(bullets),
                "n_unjudged": 0,
            }

    def _make_index(self, haystack_id: str) -> SupportIndex | None:
        documents = self._benchmark.documents(haystack_id)
        return SupportIndex([document.text for document in documents]) if documents else None

    def _make_others(self, query_id: str) -> QueryInsights:
        query = self._benchmark.queries[query_id]
        insights = self._benchmark.haystack_targets(query.haystack_id)
        weights = StemWeights.of([insight.text for insight in insights])
        return QueryInsights([insight.text for insight in insights if insight.query_id != query_id], weights)
