"""Classify: `verdicts` and `units` -> `scores`, how many bullets of a summary are of which kind. N:1."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from actors.storage.benchmark import Benchmark
from jobs.stages.items import Given, Item, Row
from jobs.stages.runner import Worker
from jobs.stages.score import READS, Scored, scored_items
from jobs.stages.stage import Plan, Site, Stage
from longform.judges import failure_modes
from longform.judges.lexical_coverage import QueryInsights, StemWeights
from longform.keys import content_key
from longform.settings.experiment import Experiment
from longform.support.index import SupportIndex
from longform.tables import DOCUMENTS, SCORES, TARGETS
from longform.text.citations import Bullet

VERSION = "classify@1"
PREFIX = "bullets_"


def classify_work_id(verdict_work_id: str) -> str:
    return content_key("classes", verdict_work_id, VERSION)


@dataclass(frozen=True, kw_only=True)
class Classify(Stage[Scored]):
    """
    Counts the bullets of each class.

    Attributes:
        bench: URL of the benchmark.
        judges: Judges of coverage; None: all judges are.
    """

    step = "aggregate"
    name = "classify"
    reads: ClassVar = {**READS, "targets": TARGETS.names, "documents": DOCUMENTS.names}
    table = "scores"
    columns = frozenset(SCORES.names) - {"reason"}
    per_task = 256

    bench: str
    judges: frozenset[str] | None = None

    def items(self, plan: Plan) -> list[Item[Scored]]:
        return scored_items(plan, classify_work_id, self.judges)

    def make_worker(self) -> Worker:
        reader, classifier = self.reader(), _Classifier(Benchmark(self.bench))

        def classify(given: Sequence[Given[Scored]]) -> list[Row]:
            return [
                row
                for one in given
                for row in classifier.rows(one.work_id, *(reader.rows(place) for place in one.sources))
            ]

        return classify


def stages(experiment: Experiment, site: Site) -> list[Stage[Any]]:
    """Return the stage that classifies; none without judges."""
    judges = frozenset(experiment.judges_of("coverage"))
    return [Classify(run=site.run, bench=site.bench, judges=judges)] if judges else []


class _Classifier:
    """Holds the last haystack's sentences and insights."""

    def __init__(self, benchmark: Benchmark) -> None:
        self._benchmark = benchmark
        self._index = lru_cache(maxsize=1)(self._make_index)
        self._others = lru_cache(maxsize=64)(self._make_others)

    def rows(self, work_id: str, verdicts: Sequence[Row], units: Sequence[Row]) -> Iterable[Row]:
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
                "work_id": work_id,
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
