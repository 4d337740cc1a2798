"""Score: `verdicts` -> `scores`, the measures of each summary. N:1."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from actors.storage.benchmark import Benchmark
from jobs.stages.items import Given, Item, Row, Source
from jobs.stages.judge import Judged
from jobs.stages.runner import Worker
from jobs.stages.split import UnitsOf
from jobs.stages.stage import Plan, Site, Stage
from longform.keys import content_key
from longform.metrics.scoring import score_summary
from longform.settings.experiment import Experiment
from longform.tables import SCORES, TARGETS
from longform.text.citations import Bullet

VERSION = "summhay@1"

READS = {
    "verdicts": ("judge", "summary_id", "target_id", "answer", "linked_unit"),
    "units": ("unit_index", "text", "citations"),
}
"""What the scores of coverage are made from."""


class Scored(NamedTuple):
    """The scores that follow from verdicts, by their work id."""

    verdicts: str


def score_work_id(verdict_work_id: str, partial_score: float) -> str:
    return content_key("scores", verdict_work_id, partial_score, VERSION)


def scored_items(plan: Plan, work_id: Callable[[str], str], judges: Collection[str] | None) -> list[Item[Scored]]:
    """Return an item for all verdicts of *judges* (None: of all), made from them and from the units they judged."""
    units = {item.key.summary: Source("units", item.work_id) for item in plan.of(UnitsOf)}
    return [
        Item(
            work_id(judged.work_id),
            Scored(judged.work_id),
            (Source("verdicts", judged.work_id), units[judged.key.summary]),
        )
        for judged in plan.of(Judged)
        if judges is None or judged.key.judge in judges
    ]


@dataclass(frozen=True, kw_only=True)
class Score(Stage[Scored]):
    """
    Scores coverage and citations.

    Attributes:
        bench: URL of the benchmark.
        partial_score: What partial coverage counts.
        judges: Judges of coverage; None: all judges are.
    """

    step = "aggregate"
    name = "score"
    reads: ClassVar = {
        **READS,
        "targets": TARGETS.names,
        "documents": ("doc_id", "doc_index"),
        "qrels": ("target_id", "doc_id"),
    }
    table = "scores"
    columns = SCORES.names
    per_task = 256

    bench: str
    partial_score: float
    judges: frozenset[str] | None = None

    def items(self, plan: Plan) -> list[Item[Scored]]:
        return scored_items(plan, lambda verdict: score_work_id(verdict, self.partial_score), self.judges)

    def make_worker(self) -> Worker:
        reader, benchmark = self.reader(), Benchmark(self.bench)

        def score(given: Sequence[Given[Scored]]) -> list[Row]:
            return [
                row
                for one in given
                for verdicts, units in [[reader.rows(place) for place in one.sources]]
                for row in _summary_rows(one.work_id, verdicts, units, benchmark, self.partial_score)
            ]

        return score


def stages(experiment: Experiment, site: Site) -> list[Stage[Any]]:
    """Return the stage that scores; none without judges."""
    judges, share = frozenset(experiment.judges_of("coverage")), experiment.partial_score
    return [Score(run=site.run, bench=site.bench, partial_score=share, judges=judges)] if judges else []


def _summary_rows(
    work_id: str, verdicts: Sequence[Row], units: Sequence[Row], benchmark: Benchmark, partial_score: float
) -> Iterable[Row]:
    if not verdicts:
        return
    target = benchmark.target(verdicts[0]["target_id"])
    bullets = [Bullet(unit["text"], unit["citations"]) for unit in units]
    gold = benchmark.gold_numbers(target.haystack_id)
    for score in score_summary(verdicts, bullets, gold, partial_score=partial_score):
        yield {
            "work_id": work_id,
            "judge": verdicts[0]["judge"],
            "summary_id": verdicts[0]["summary_id"],
            "query_id": target.query_id,
            "haystack_id": target.haystack_id,
            "measure": score.measure,
            "value": score.value,
            "total": score.total,
            "n": score.n,
            "n_unjudged": score.n_unjudged,
            "reason": score.reason,
        }
