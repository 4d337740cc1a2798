"""
Score: `units`, `summaries` and `verdicts` -> `scores`, the measures that a configuration lists. N:1.

Measures that other stages score are left to them. A measure without a judge is scored once a summary, one that reads
verdicts once a summary and judge.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from actors.judges.kinds import kind_of
from actors.measures import Listed, open_measures
from actors.storage.benchmark import Benchmark
from jobs.stages.check import Checked
from jobs.stages.items import WHOLE, Given, Item, Row, Source
from jobs.stages.judge import Judged
from jobs.stages.runner import Worker
from jobs.stages.split import UnitsOf
from jobs.stages.stage import Plan, Site, Stage
from longform.judges import failure_modes
from longform.judges.kind import Kind
from longform.keys import content_key
from longform.metrics import coverage, faithfulness
from longform.metrics.measure import Facts, Measure, Verdict
from longform.records import Document, Target
from longform.settings.experiment import Experiment
from longform.settings.judges import JudgeSettings
from longform.tables import DOCUMENTS, SCORES, TARGETS
from longform.text.citations import Bullet

_SCORED_ELSEWHERE = frozenset(
    measure.name
    for measures in (coverage.MEASURES, failure_modes.MEASURES, faithfulness.MEASURES)
    for measure in measures
)
_SCORED_WITH_COVERAGE = frozenset({"words_per_bullet"})


class Measured(NamedTuple):
    """The scores of some measures on one summary, by its work id; `judge` is null if they read no verdicts."""

    summary: str
    judge: str | None
    measures: tuple[str, ...]


@dataclass(frozen=True)
class Sources:
    """The documents and targets of a haystack, read when a measure asks for them."""

    benchmark: Benchmark
    haystack_id: str

    def __hash__(self) -> int:
        return hash(self.haystack_id)

    def documents(self) -> Sequence[Document]:
        return self.benchmark.documents(self.haystack_id)

    def targets(self) -> Sequence[Target]:
        return self.benchmark.haystack_targets(self.haystack_id)

    def gold_numbers(self) -> Mapping[str, Collection[int]] | None:
        return self.benchmark.gold_numbers(self.haystack_id)


@dataclass(frozen=True, kw_only=True)
class ScoreMeasures(Stage[Measured]):
    """
    Scores measures that read no verdicts.

    Attributes:
        bench: URL of the benchmark.
        listed: Measures as the configuration lists them.
        names: Of them, those that are scored here.
        judges: The judges whose verdicts they read.
        partial_score: What partial coverage counts.
    """

    step = "aggregate"
    name = "score measures"
    reads: ClassVar = {
        "units": ("unit_index", "text", "citations"),
        "summaries": ("summary_id", "query_id", "haystack_id", "step", "text", "failure"),
        "targets": TARGETS.names,
        "documents": DOCUMENTS.names,
        "qrels": ("target_id", "doc_id"),
    }
    table = "scores"
    columns = SCORES.names
    per_task = 256

    bench: str
    listed: Listed
    names: frozenset[str]
    judges: Mapping[str, JudgeSettings]
    partial_score: float

    def items(self, plan: Plan) -> list[Item[Measured]]:
        units = {item.key.summary: Source("units", item.work_id) for item in plan.of(UnitsOf)}
        return [
            item
            for measures in _scored_together(self._measures())
            for summary, judge, verdicts in self._pairs(plan, units, measures[0].judged_by)
            for item in [self._item(units[summary], summary, judge, verdicts, measures)]
        ]

    def make_worker(self) -> Worker:
        reader, benchmark = self.reader(), Benchmark(self.bench)
        measures = {measure.name: measure for measure in self._measures()}
        kinds = {name: kind_of(settings) for name, settings in self.judges.items()}

        def score(given: Sequence[Given[Measured]]) -> list[Row]:
            return [row for one in given for row in scored(one)]

        def scored(one: Given[Measured]) -> Iterator[Row]:
            units, summaries, *verdicts = (reader.rows(place) for place in one.sources)
            (summary,) = (row for row in summaries if row["step"] is None)
            judge = one.key.judge
            read = [] if judge is None else [_verdict(kinds[judge], row) for of in verdicts for row in of]
            facts = Facts(
                query_id=summary["query_id"],
                failure=summary["failure"],
                text=summary["text"],
                units=[Bullet(unit["text"], unit["citations"]) for unit in _in_order(units)],
                verdicts=read,
                haystack=Sources(benchmark, summary["haystack_id"]),
                partial_score=self.partial_score,
            )
            known = {name: summary[name] for name in ("summary_id", "query_id", "haystack_id")}
            known |= {"work_id": one.work_id, "judge": judge}
            for name in one.key.measures:
                found = measures[name].per_summary(facts)
                yield known | found._asdict() | {"value": found.value}

        return score

    def _measures(self) -> list[Measure]:
        return [one for one in open_measures(self.listed) if isinstance(one, Measure) and one.name in self.names]

    def _pairs(
        self, plan: Plan, summaries: Iterable[str], task: str | None
    ) -> Iterator[tuple[str, str | None, Source | None]]:
        """Yield each summary, with each judge of the *task* and its verdicts."""
        if task is None:
            yield from ((summary, None, None) for summary in summaries)
            return
        asked: list[Item[Any]] = [*plan.of(Judged), *plan.of(Checked, table="verdicts")]
        for item in asked:
            if item.key.judge in self.judges and self.judges[item.key.judge].task == task:
                yield item.key.summary, item.key.judge, Source("verdicts", item.work_id)

    def _item(
        self, units: Source, summary: str, judge: str | None, verdicts: Source | None, measures: Sequence[Measure]
    ) -> Item[Measured]:
        sources = (units, Source("summaries", summary), *([] if verdicts is None else [verdicts]))
        settings = {"partial_score": self.partial_score} if any(one.settings for one in measures) else {}
        how = [[one.name, one.version] for one in measures]
        work_id = content_key("measures", [source.work_id for source in sources], how, settings)
        return Item(work_id, Measured(summary, judge, tuple(one.name for one in measures)), sources)


@dataclass(frozen=True, kw_only=True)
class ScoreVerdicts(ScoreMeasures):
    """Scores measures that read the verdicts of a judge."""

    name = "score verdicts"
    reads: ClassVar = {**ScoreMeasures.reads, "verdicts": WHOLE}


def stages(experiment: Experiment, site: Site) -> list[Stage[Any]]:
    """Return the stages that score; none if other stages score all measures that are listed."""
    listed = experiment.measures or ()
    elsewhere = _SCORED_ELSEWHERE | (_SCORED_WITH_COVERAGE if experiment.judges_of("coverage") else frozenset())
    measures = [one for one in open_measures(listed) if isinstance(one, Measure) and one.name not in elsewhere]
    names = {
        ScoreMeasures: frozenset(one.name for one in measures if one.judged_by is None),
        ScoreVerdicts: frozenset(one.name for one in measures if one.judged_by is not None),
    }
    return [
        make(
            run=site.run,
            bench=site.bench,
            listed=listed,
            names=own,
            judges=experiment.judges,
            partial_score=experiment.partial_score,
        )
        for make, own in names.items()
        if own
    ]


def _scored_together(measures: Sequence[Measure]) -> list[list[Measure]]:
    """Return the measures that share a version and a judge's task together; one without a version stands alone."""
    found: dict[tuple[str, str | None], list[Measure]] = {}
    for measure in measures:
        found.setdefault((measure.version or measure.name, measure.judged_by), []).append(measure)
    return list(found.values())


def _in_order(units: Iterable[Row]) -> list[Row]:
    return sorted(units, key=lambda unit: int(unit["unit_index"]))


def _verdict(kind: Kind, row: Row) -> Verdict:
    return Verdict(
        row["target_id"],
        row["answer"],
        kind.number(row["answer"], row["probability"]),
        row.get("linked_unit"),
        row["unit_index"],
        row["doc_position"],
    )
