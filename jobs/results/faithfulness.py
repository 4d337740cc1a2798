"""Findings of support judges, as a part of a run's results: read from its verdicts a batch at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from actors.storage.tables import Snapshot
from jobs.results.write import summary_infos
from jobs.stages.check import Checked, Source
from jobs.stages.runner import Row
from jobs.stages.score_support import support_cells, support_score_work_id
from longform.metrics.faithfulness import Merging
from longform.metrics.position_bias import SummaryPlaces, summary_places
from longform.results import faithfulness_tables as tables
from longform.results.aggregate import SummaryInfo
from longform.results.attribution import Attribution, placed
from longform.results.faithfulness_tables import CheckedSummary, Settings
from longform.results.order_dependence import OrderDependence, order_dependence, varied
from longform.settings.experiment import Experiment, Permutations
from longform.settings.judges import ALIGNER

_CELL_COLUMNS = ["work_id", "doc_position", "unit_index", "answer", "probability"]


def faithfulness_results(
    run: Folder,
    benchmark: Benchmark,
    experiment: Experiment,
    checks: Mapping[Checked, Source],
    written: Sequence[str],
    *,
    budget_ended: bool = False,
) -> dict[str, Any]:
    """`faithfulness` of the results; nothing if no support judge was asked."""
    if not checks:
        return {}
    how = experiment.faithfulness
    merging = Merging(how.documents, how.sentences)
    infos = summary_infos(run, written, queries=benchmark.queries)
    dependence = order_dependence(infos.values(), experiment.ignoring_order)
    datasets = {work_id: info.dataset for work_id, info in infos.items()}
    found = _all_places(run, checks, datasets, how.attribution, experiment.aligner)
    known = _Known(infos, _scores(run, checks, merging), dependence, found.places)
    judged = list(_summaries(run, experiment, checks, known))
    summaries = [summary for summary in judged if summary.judge != ALIGNER]
    untestable = {(one.judge, one.dataset): why for one in found.attributions if (why := one.untestable) is not None}
    settings = Settings(experiment.seed, experiment.resamples)
    return {
        "faithfulness": {
            "mode": how.mode,
            "merging": merging._asdict(),
            "attribution": how.attribution,
            "attributed": [one.as_json() for one in found.attributions if one.judge != ALIGNER],
            "cells": tables.cells(summaries, settings),
            "places": tables.place_rows(summaries, settings, untestable),
            "orders": tables.order_rows(summaries, settings),
            "lengths": tables.length_rows(summaries, settings, untestable),
            "alignment": tables.alignment_rows(judged),
            "permutations": [
                row | {"stopped": _why_enough(row, experiment.permutations, budget_ended=budget_ended)}
                for row in tables.permutation_rows(summaries, experiment.permutations.half_width)
            ],
            "not_applicable": [
                {"summarizer": system.summarizer, "setting": system.setting, "method": system.method}
                for system in experiment.not_applicable()
            ],
        }
    }


def with_another_order(experiment: Experiment, results: Mapping[str, Any]) -> Experiment | None:
    """Return the experiment with one more drawn order, if the interval of a mean over orders is to be narrower."""
    settings = experiment.permutations
    rows = results.get("faithfulness", {}).get("permutations", [])
    if settings.half_width is None or settings.n_orders >= settings.most or all(row["narrow"] for row in rows):
        return None
    more = settings.model_copy(update={"n_orders": settings.n_orders + 1})
    return experiment.model_copy(update={"permutations": more})


def _why_enough(row: Row, settings: Permutations, *, budget_ended: bool) -> str:
    if settings.half_width is None:
        return "as many as asked for"
    if row["narrow"]:
        return f"narrower than {settings.half_width:g} to either side"
    if budget_ended:
        return "the budget ended"
    return "the most allowed" if row["n_orders"] >= settings.most else "not narrow yet"


class _Known(NamedTuple):
    """Summaries with their verdicts and places."""

    infos: Mapping[str, SummaryInfo]
    scores: Mapping[str, Row]
    dependence: OrderDependence
    places: _Places


def _summaries(
    run: Folder, experiment: Experiment, checks: Mapping[Checked, Source], known: _Known
) -> Iterator[CheckedSummary]:
    """Leave out summaries that repeat another order's, and places if the order of documents changes nothing."""
    systems = {(system.axes, system.summarizer): system for system in experiment.all_systems()}
    n_documents = _n_documents(run, {source.context for source in checks.values()})
    for checked, source in checks.items():
        info, row = known.infos[checked.summary], known.scores[source.work_id]
        if info.summary_id in known.dependence.idle:
            continue
        n_cells, found = known.places.get(source.work_id, (0, None))
        by_place = experiment.faithfulness.mode == "document" and varied(info) not in known.dependence.independent
        assert info.axes is not None, "summary_infos gives axes to all"
        yield CheckedSummary(
            system=systems[info.axes, info.summarizer],
            query_id=source.query_id,
            judge=checked.judge,
            failure=info.failure,
            cause=info.cause,
            total=row["total"],
            n=row["n"],
            n_unjudged=row["n_unjudged"],
            n_cells=n_cells,
            n_documents=n_documents[source.context],
            places=found if by_place else None,
            dataset=info.dataset,
            repeat=info.repeat or 0,
        )


def _n_documents(run: Folder, contexts: Collection[str]) -> dict[str, int]:
    """Work id of each context -> how many documents its prompt holds."""
    batches = run.batches("contexts", work_ids=contexts, columns=["work_id", "doc_ids"])
    return {row["work_id"]: len(row["doc_ids"]) for batch in batches for row in batch.to_pylist()}


def _scores(run: Folder, checks: Mapping[Checked, Source], merging: Merging) -> dict[str, Row]:
    """Verdict work id -> its score by the merging asked for."""
    of_scores = {support_score_work_id(source.work_id): source.work_id for source in checks.values()}
    rows = run.read("scores", work_ids=list(of_scores)).to_pylist()
    return {of_scores[row["work_id"]]: row for row in rows if row["measure"] == merging.name}


_Places = dict[str, tuple[int, SummaryPlaces]]
"""Verdict work id -> how many cells it has, and what they say by place."""


class _AllPlaces(NamedTuple):
    places: _Places
    attributions: list[Attribution]  # one a judge and data set


def _all_places(
    run: Folder,
    checks: Mapping[Checked, Source],
    datasets: Mapping[str, str | None],
    named: str | None,
    aligner: str | None,
) -> _AllPlaces:
    """
    Place all sentences: as each judge finds itself, unless a judge is *named* for that, or too few have a place.

    Then the *aligner* places them. Each data set decides for itself; *datasets* are by summary.
    """
    of: dict[tuple[str, str | None], dict[str, str]] = {}  # summary -> work id of its verdicts
    for checked, source in checks.items():
        of.setdefault((checked.judge, datasets[checked.summary]), {})[checked.summary] = source.work_id
    places: _Places = {}
    attributions = []
    verdicts = run.snapshot("verdicts")
    aligning = {checked.summary: source.work_id for checked, source in checks.items() if checked.judge == aligner}
    aligned = dict(_places(verdicts, list(aligning.values()), {}))
    for (judge, dataset), work_ids in of.items():
        if judge == aligner:
            own = {work_id: aligned[work_id] for work_id in work_ids.values() if work_id in aligned}
        else:
            own = dict(_places(verdicts, list(work_ids.values()), {}))
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
        found = dict(_places(verdicts, list(work_ids.values()), there))
        places |= found
        by_aligner = placed([summary for _, summary in found.values()])
        attributions.append(Attribution(judge, dataset, aligner, by_itself, by_aligner))
    return _AllPlaces(places, attributions)


def _places(
    verdicts: Snapshot, work_ids: Sequence[str], best: Mapping[str, Sequence[Sequence[int]]]
) -> Iterator[tuple[str, tuple[int, SummaryPlaces]]]:
    """The cells of one part are in memory at a time; each part is read once."""
    for batch in verdicts.batches(work_ids=work_ids, columns=_CELL_COLUMNS):
        rows = sorted(batch.to_pylist(), key=lambda row: row["work_id"])
        for work_id, own in groupby(rows, key=lambda row: row["work_id"]):
            cells = support_cells(own)
            yield work_id, (cells.size, summary_places(cells, best.get(work_id)))
