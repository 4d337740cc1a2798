"""
Score: `verdicts`, `units` and `summaries` -> `scores`, the measures of each summary. N:1.

Measures that are scored together make the rows of one item. A measure that needs no judge reads no verdicts, and its
rows have none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import Any, NamedTuple

from actors.judges.opening import named_kind
from actors.local_models.checkpoints import MINILM
from actors.local_models.encoder import Encoder
from actors.local_models.text_model import token_vectors
from actors.measures import Listed, open_measures, wanted_measures
from actors.storage.benchmark import Benchmark
from jobs.stages.items import Item, Made, Source, SourceReader
from jobs.stages.split import UnitsOf
from jobs.stages.stage import Plan, Site, Stage, Works
from jobs.stages.verdicts import Judged
from longform.judges.kind import Kind
from longform.judges.kinds import KINDS
from longform.judges.kinds.support import SUPPORT
from longform.judges.merges import CITED
from longform.keys import KEY_LENGTH, content_key
from longform.measures import scored_together
from longform.metrics.faithfulness import place_of
from longform.metrics.measure import Facts, Measure, Verdict
from longform.records import Document, Target
from longform.rows import JudgementRow, ScoreRow, SummaryRow, UnitRow, VerdictRow
from longform.schemas import DOCUMENTS, RELEASED_SCORES, SCORES, TARGETS
from longform.settings.experiment import Experiment
from longform.text.citations import Bullet

_HAYSTACKS_HELD = 4
_VERDICTS_HELD = 256  # of summaries: several measures read the verdicts of one
_OF_ALL = ("target_id", "answer", "probability")
_OF_PAIRS = ("unit_index", "doc_position", "text_index", "mode")
"""Columns of verdicts of every kind, and of those on pairs of document and sentence."""


class Scored(NamedTuple):
    """The scores of one summary by measures of one version, under a judge or under none."""

    summary: str  # work id
    judge: str | None
    version: str
    repeat: int | None = None  # of the judge's answers


class TaskOf(NamedTuple):
    """The task of a judge, and the folder of a kind of a user's own."""

    task: str
    folder: str | None = None


@dataclass(frozen=True, kw_only=True)
class Score(Stage[Scored]):
    """Scores summaries."""

    step = "aggregate"
    name = "score"
    table = "scores"
    columns = SCORES.names
    per_task = 256

    bench: str  # URL
    listed: Listed  # the measures that are wanted
    partial_score: float  # what partial coverage counts
    judges: Mapping[str, TaskOf]  # by name

    @property
    def reads(self) -> Mapping[str, Collection[str]]:
        """Table -> columns; verdicts are read only if a measure needs them."""
        found: dict[str, Collection[str]] = {
            "units": ("unit_index", "text", "citations"),
            "summaries": ("summary_id", "query_id", "haystack_id", "step", "failure", "text"),
            "targets": TARGETS.names,
            "documents": DOCUMENTS.names,
            "qrels": ("target_id", "doc_id"),
            "released_scores": RELEASED_SCORES.names,
        }
        kinds = dict.fromkeys(group[0].judged_by for group in self._groups() if group[0].judged_by)
        pairs = _OF_PAIRS if SUPPORT.task in kinds else ()
        links = ["linked_unit"] if any(kind != SUPPORT.task for kind in kinds) else []
        return found | ({"verdicts": (*_OF_ALL, *links, *pairs)} if kinds else {})

    @property
    def holds_model(self) -> bool:
        return self.embeds

    @property
    def embeds(self) -> bool:
        return any({"encoder", "tokens"} & measure.needs for group in self._groups() for measure in group)

    def items(self, plan: Plan) -> Sequence[Item[Scored]]:
        split = plan.of(UnitsOf)
        units = {item.key.summary: item.work_id for item in split}
        bases: dict[str | None, list[Any]] = {None: split}
        for item in plan.of(Judged):
            bases.setdefault(self.judges[item.key.judge].task, []).append(item)
        return Made(*(self._made(units, measure, bases.get(measure.judged_by, [])) for measure, *_ in self._groups()))

    def _made(self, units: Mapping[str, str], measure: Measure, bases: Sequence[Any]) -> tuple[Any, range]:
        """Return what scores summaries by the verdicts of a judge, or by their units alone; keys are made once."""
        settings = [self.partial_score] if "partial_score" in measure.settings else []
        keys = "".join(content_key(measure.work, base.work_id, *settings, _version(measure)) for base in bases)

        def item(place: int) -> Item[Scored]:
            base, key = bases[place], bases[place].key
            judged = None if measure.judged_by is None else key
            there = [] if judged is None else [Source("verdicts", base.work_id)]
            there += [Source("units", units[key.summary]), Source("summaries", key.summary)]
            of = Scored(key.summary, judged and judged.judge, _version(measure), judged and judged.repeat)
            return Item(keys[place * KEY_LENGTH : (place + 1) * KEY_LENGTH], of, tuple(there))

        return item, range(len(bases))

    def _groups(self) -> list[tuple[Measure, ...]]:
        return scored_together([one for one in open_measures(self.listed) if isinstance(one, Measure)])

    def worker(self, reader: SourceReader) -> Works[Scored]:
        benchmark = Benchmark(self.bench)
        groups = {_version(group[0]): group for group in self._groups()}
        kinds = {name: named_kind(of.task, folder=of.folder) for name, of in self.judges.items()}

        haystack = lru_cache(maxsize=_HAYSTACKS_HELD)(partial(ScoredHaystack, benchmark))
        encoder = cache(partial(Encoder, MINILM, threads=1))
        of_release = lru_cache(maxsize=_HAYSTACKS_HELD)(benchmark.released_scores)

        @lru_cache(maxsize=_VERDICTS_HELD)
        def verdicts_of(place: Source, judge: str | None) -> Sequence[Verdict]:
            kind = kinds.get(judge or "", KINDS["coverage"])
            return [verdict_of(row, kind) for row in reader.rows(place, VerdictRow)]

        def released(summary: SummaryRow) -> Mapping[str, float]:
            return of_release(summary["haystack_id"]).get((summary["query_id"], summary["text"] or ""), {})

        def score(given: Sequence[Item[Scored]]) -> list[ScoreRow]:
            return [row for one in given for row in rows(one, groups[one.key.version])]

        def rows(one: Item[Scored], measures: Sequence[Measure]) -> Iterator[ScoreRow]:
            at = {place.table: place for place in one.sources}
            (summary,) = (row for row in reader.rows(at["summaries"], SummaryRow) if row["step"] is None)
            units = sorted(reader.rows(at["units"], UnitRow), key=lambda unit: unit["unit_index"])
            judged = reader.rows(at["verdicts"], VerdictRow) if "verdicts" in at else []
            verdicts = verdicts_of(at["verdicts"], one.key.judge) if "verdicts" in at else []
            if measures[0].judged_by == "coverage" and not verdicts:
                return  # the query has no insights
            facts = Facts(
                query_id=summary["query_id"],
                failure=summary["failure"],
                text=summary["text"],
                units=[Bullet(unit["text"], unit["citations"]) for unit in units],
                verdicts=verdicts,
                haystack=haystack(summary["haystack_id"]),
                partial_score=self.partial_score,
                encode=lambda texts: encoder().embed(texts),
                tokens=token_vectors,
                released=released(summary) if "released" in measures[0].needs else {},
                checked_some=measures[0].judged_by == SUPPORT.task and any(row["mode"] == CITED for row in judged),
            )
            for measure in measures:
                found = measure.per_summary(facts)
                yield {
                    "work_id": one.work_id, "judge": one.key.judge, "repeat": one.key.repeat,
                    "summary_id": summary["summary_id"], "query_id": summary["query_id"],
                    "haystack_id": summary["haystack_id"], "measure": found.measure, "value": found.value,
                    "total": found.total, "n": found.n, "n_unjudged": found.n_unjudged, "reason": found.reason,
                }  # fmt: skip

        return score


def stages(experiment: Experiment, site: Site) -> list[Score]:
    """Return the stage that scores; none if nothing is to be scored."""
    listed, share = wanted_measures(experiment), experiment.partial_score
    judges = {name: TaskOf(judge.task, judge.folder) for name, judge in experiment.judges.items()}
    return [Score(run=site.run, bench=site.bench, listed=listed, partial_score=share, judges=judges)] if listed else []


def _version(measure: Measure) -> str:
    return measure.version or measure.name


def verdict_of(row: JudgementRow, kind: Kind) -> Verdict:
    """Return a verdict or a label as measures read it."""
    return Verdict(
        row["target_id"],
        row["answer"],
        kind.number(row["answer"], row["probability"]),
        linked_unit=row.get("linked_unit"),
        unit_index=row.get("unit_index"),
        doc_position=place_of(row.get("doc_position"), row.get("text_index")),
    )


class ScoredHaystack:
    """A haystack of a benchmark, as measures ask for it."""

    def __init__(self, benchmark: Benchmark, haystack_id: str) -> None:
        self.haystack_id = haystack_id
        self.documents: Callable[[], Sequence[Document]] = partial(benchmark.documents, haystack_id)
        self.gold_numbers = partial(benchmark.gold_numbers, haystack_id)
        self.targets: Callable[[], Sequence[Target]] = cache(partial(benchmark.haystack_targets, haystack_id))
