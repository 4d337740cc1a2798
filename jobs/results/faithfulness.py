"""Findings of support judges, for the study of faithfulness: read from a run's verdicts a batch at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import groupby
from typing import Any, NamedTuple

from actors.storage.folder import Folder
from actors.storage.tables import Snapshot
from jobs.stages.items import Item, Row
from jobs.stages.judge import Judged, with_repeats
from longform.axes import Axes
from longform.evidence.scan import pl
from longform.evidence.scores import ScoreTable, means, of_judge
from longform.judges.kinds import KINDS
from longform.judges.meta_evaluation import CITED
from longform.judges.repeats import merged_repeats
from longform.metrics.cited_support import SHARE
from longform.metrics.faithfulness import Merging, place_of, support_cells
from longform.metrics.measure import Verdict
from longform.metrics.position_bias import SummaryPlaces, summary_places
from longform.results.cells import table_rows
from longform.results.checked import Attribution, Cell, CheckedRun, CheckedSummary, placed
from longform.results.order_dependence import OrderDependence, varied
from longform.settings.experiment import Experiment
from longform.settings.judges import ALIGNERS
from longform.settings.systems import System

_WRITTEN = ("summary_id", "query_id", "dataset", "failure")
_CELL_COLUMNS = ["work_id", "doc_position", "text_index", "unit_index", "answer", "probability"]
_OF_REPEATS = ["summary_id", "mode", "target_id", "repeat", "reply", "linked_unit"]
_SUMMARIES_AT_ONCE = 64


def checked_run(
    run: Folder,
    experiment: Experiment,
    checks: Sequence[Item[Judged]],
    summaries: pl.DataFrame,
    *,
    dependence: OrderDependence,
    scores: ScoreTable,
    budget_ended: bool = False,
) -> CheckedRun | None:
    """
    Return what support judges found; None if none was asked.

    Args:
        run: The folder with the tables.
        experiment: What was asked for.
        checks: Of the run.
        summaries: Those of the run.
        dependence: Which summaries repeat those of another order.
        scores: Of the run, those of all support judges among them.
        budget_ended: Whether the budget ended before all orders were drawn.
    """
    if not checks:
        return None
    how = experiment.faithfulness
    merging = Merging(how.documents, how.sentences)
    datasets = dict(summaries.select("work_id", "dataset").iter_rows())
    asked = {check.key.judge for check in checks}
    aligner = experiment.aligner if experiment.aligner in asked else None  # it may come after the run's other judges
    all_cells = experiment.support_mode != CITED
    found = _all_places(run, checks, datasets, how.attribution, aligner) if all_cells else _counted(run, checks)
    known = _Known(summaries, cache(partial(_cells, scores.frame)), merging.name, dependence, found.places)
    return CheckedRun(
        mode=experiment.support_mode,
        merging=merging,
        attribution=how.attribution,
        aligners=ALIGNERS,
        attributions=found.attributions,
        summaries=list(_summaries(run, experiment, checks, known)),
        permutations=experiment.permutations,
        not_applicable=experiment.not_applicable(),
        budget_ended=budget_ended,
    )


def _cells(scores: pl.DataFrame, judge: str, measure: str) -> dict[str, Cell]:
    """Summary id -> its score."""
    own = means(of_judge(scores, judge).filter(pl.col("measure") == measure))
    return {
        summary_id: (total, n, unjudged)
        for summary_id, total, n, unjudged in own.select("summary_id", "total", "n", "unjudged").iter_rows()
    }


def with_another_order(experiment: Experiment, results: Mapping[str, Any]) -> Experiment | None:
    """Return the experiment with one more drawn order, if the interval of a mean over orders is to be narrower."""
    settings = experiment.permutations
    rows = table_rows(results, "faithfulness_permutations")
    if settings.half_width is None or settings.n_orders >= settings.most or all(row["narrow"] for row in rows):
        return None
    more = settings.model_copy(update={"n_orders": settings.n_orders + 1})
    return experiment.model_copy(update={"permutations": more})


class _Known(NamedTuple):
    """Summaries with their verdicts and places."""

    summaries: pl.DataFrame
    cells: Callable[[str, str], Mapping[str, Cell]]  # judge and measure -> the score of each summary
    measure: str  # the merging that is reported
    dependence: OrderDependence
    places: _Places


def _summaries(
    run: Folder, experiment: Experiment, checks: Sequence[Item[Judged]], known: _Known
) -> Iterator[CheckedSummary]:
    """Leave out summaries that repeat another order's, and places if the order of documents changes nothing."""
    systems = {(system.axes, system.summarizer): system for system in experiment.all_systems()}
    work_ids = {checked.key.context or "" for checked in checks}
    batches = run.batches("contexts", work_ids=work_ids, columns=["work_id", "order", "doc_ids"])
    prompts = {row["work_id"]: (row["order"], len(row["doc_ids"])) for batch in batches for row in batch.to_pylist()}
    infos = {row["work_id"]: row for row in known.summaries.iter_rows(named=True)}
    for checked, *_ in with_repeats(checks):
        facts = infos[checked.key.summary]
        score, share = (known.cells(checked.key.judge, one)[facts["summary_id"]] for one in (known.measure, SHARE))
        if facts["summary_id"] in known.dependence.idle:
            continue
        n_cells, found = known.places.get(checked.work_id, (0, None))
        order, n_documents = prompts[checked.key.context or ""]
        by_place = experiment.support_mode == "document" and varied(facts) not in known.dependence.independent
        axes, summarizer = Axes(**{name: facts[name] for name in Axes._fields}), facts["summarizer"]
        written_elsewhere = System(**axes._asdict(), summarizer=summarizer)
        yield CheckedSummary(
            **{name: facts[name] for name in _WRITTEN},
            repeat=facts["summary_repeat"] or 0,
            faithfulness=score,
            supported=share,
            system=systems.get((axes, summarizer), written_elsewhere),
            judge=checked.key.judge,
            n_cells=n_cells,
            n_documents=n_documents,
            places=found if by_place and order is not None else None,
        )


_Places = dict[str, tuple[int, SummaryPlaces | None]]
"""Verdict work id -> how many cells it has, and what they say by place; None: not all documents were checked."""


class _AllPlaces(NamedTuple):
    places: _Places
    attributions: list[Attribution]  # one a judge and data set


def _counted(run: Folder, checks: Sequence[Item[Judged]]) -> _AllPlaces:
    """Count the cells of verdicts on some documents, which place no sentence."""
    work_ids = [checked.work_id for checked in checks]
    batches = run.batches("verdicts", work_ids=work_ids, columns=["work_id"])
    counts = Counter(work_id for batch in batches for work_id in batch.column("work_id").to_pylist())
    return _AllPlaces({work_id: (n, None) for work_id, n in counts.items()}, [])


def _all_places(
    run: Folder,
    checks: Sequence[Item[Judged]],
    datasets: Mapping[str, str | None],
    named: str | None,
    aligner: str | None,
) -> _AllPlaces:
    """
    Place all sentences: as each judge finds itself, unless a judge is *named* for that, or too few have a place.

    Then the *aligner* places them. Each data set decides for itself; *datasets* are by summary.
    """
    of: dict[tuple[str, str | None], dict[str, str]] = {}  # summary -> work id of its verdicts, the first repeat's
    repeated: dict[str, list[str]] = {}
    for checked, *more in with_repeats(checks):
        name = (checked.key.judge, datasets[checked.key.summary])
        of.setdefault(name, {})[checked.key.summary] = checked.work_id
        if more:
            repeated[checked.work_id] = [one.work_id for one in more]
    places: _Places = {}
    attributions = []
    verdicts = run.snapshot("verdicts")
    aligning = {one.key.summary: one.work_id for one, *_ in with_repeats(checks) if one.key.judge == aligner}
    aligned = dict(_places(verdicts, list(aligning.values()), {}, repeated))
    for (judge, dataset), work_ids in of.items():
        if judge == aligner:
            own = {work_id: aligned[work_id] for work_id in work_ids.values() if work_id in aligned}
        else:
            own = dict(_places(verdicts, list(work_ids.values()), {}, repeated))
        by_itself = placed([summary for _, summary in own.values()])
        if judge == aligner or aligner is None or (named is None and by_itself.enough):
            places |= own
            attributions.append(Attribution(judge, dataset, judge, by_itself, by_itself))
            continue
        there = {
            work_ids[summary]: aligned[aligning[summary]][1].best
            for summary in work_ids
            if aligning[summary] in aligned
        }
        found = dict(_places(verdicts, list(work_ids.values()), there, repeated))
        places |= found
        by_aligner = placed([summary for _, summary in found.values()])
        attributions.append(Attribution(judge, dataset, aligner, by_itself, by_aligner))
    return _AllPlaces(places, attributions)


def _places(
    verdicts: Snapshot,
    work_ids: Sequence[str],
    best: Mapping[str, Sequence[Sequence[int]]],
    repeated: Mapping[str, Sequence[str]],
) -> Iterator[tuple[str, tuple[int, SummaryPlaces]]]:
    """The cells of one part are in memory at a time; each part is read once. *repeated* ones are merged with more."""
    if any(work_id in repeated for work_id in work_ids):
        yield from _merged_places(verdicts, work_ids, best, repeated)
        return
    for batch in verdicts.batches(work_ids=work_ids, columns=_CELL_COLUMNS):
        rows = sorted(batch.to_pylist(), key=lambda row: row["work_id"])
        for work_id, own in groupby(rows, key=lambda row: row["work_id"]):
            cells = support_cells(_verdict(row) for row in own)
            yield work_id, (cells.size, summary_places(cells, best.get(work_id)))


def _merged_places(
    verdicts: Snapshot,
    work_ids: Sequence[str],
    best: Mapping[str, Sequence[Sequence[int]]],
    repeated: Mapping[str, Sequence[str]],
) -> Iterator[tuple[str, tuple[int, SummaryPlaces]]]:
    """Do the same of what the repeats of each summary come to; those of a few summaries are in memory at a time."""
    for start in range(0, len(work_ids), _SUMMARIES_AT_ONCE):
        some = work_ids[start : start + _SUMMARIES_AT_ONCE]
        first = {one: work_id for work_id in some for one in (work_id, *repeated.get(work_id, ()))}
        rows: dict[str, list[Any]] = {}
        for row in verdicts.read(work_ids=list(first), columns=[*_CELL_COLUMNS, *_OF_REPEATS]).to_pylist():
            rows.setdefault(first[row["work_id"]], []).append(row)
        for work_id, own in rows.items():
            cells = support_cells(_verdict(row) for row in merged_repeats(KINDS["support"], own))
            yield work_id, (cells.size, summary_places(cells, best.get(work_id)))


def _verdict(row: Row) -> Verdict:
    number = KINDS["support"].number(row["answer"], row["probability"])
    place = place_of(row["doc_position"], row["text_index"])
    return Verdict(None, row["answer"], number, unit_index=row["unit_index"], doc_position=place)
