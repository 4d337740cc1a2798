"""What support judges found, as a part of a run's results: read from its verdicts a batch at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from actors.storage import Folder
from actors.table_snapshot import Snapshot
from jobs.check import Checked, Source
from jobs.results import summary_infos
from jobs.score_support import support_cells, support_score_work_id
from jobs.stage import Row
from longform import faithfulness_tables as tables
from longform.aggregate import SummaryInfo
from longform.configuration import Experiment, Permutations, System
from longform.faithfulness_tables import CheckedSummary, Settings
from longform.metrics.faithfulness import Merging
from longform.position_bias import SummaryPlaces, summary_places

_CELL_COLUMNS = ["work_id", "doc_position", "unit_index", "answer", "probability"]


def faithfulness_results(
    run: Folder,
    experiment: Experiment,
    checks: Mapping[Checked, Source],
    written: Sequence[str],
    *,
    budget_ended: bool = False,
) -> dict[str, Any]:
    """`faithfulness` of the results; nothing where no support judge was asked."""
    if not checks:
        return {}
    how = experiment.faithfulness
    merging = Merging(how.documents, how.sentences)
    summaries = list(_summaries(run, experiment, checks, summary_infos(run, written), merging))
    settings = Settings(experiment.seed, experiment.resamples)
    return {
        "faithfulness": {
            "mode": how.mode,
            "merging": merging._asdict(),
            "attribution": how.attribution,
            "cells": tables.cells(summaries, settings),
            "places": tables.place_rows(summaries, settings),
            "orders": tables.order_rows(summaries, settings),
            "lengths": tables.length_rows(summaries, settings),
            "alignment": tables.alignment_rows(summaries),
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
    """The experiment with one more drawn order, where the interval of a mean over orders is to be narrower."""
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


def _summaries(
    run: Folder,
    experiment: Experiment,
    checks: Mapping[Checked, Source],
    infos: Mapping[str, SummaryInfo],
    merging: Merging,
) -> Iterator[CheckedSummary]:
    systems = {(system.setting, system.summarizer): system for system in experiment.all_systems()}
    scores = _scores(run, checks, merging)
    n_documents = _n_documents(run, {source.context for source in checks.values()})
    places = _all_places(run, checks, experiment.faithfulness.attribution)
    for checked, source in checks.items():
        info, row = infos[checked.summary], scores[source.work_id]
        n_cells, found = places.get(source.work_id, (0, None))
        yield CheckedSummary(
            system=_system(systems, info),
            query_id=source.query_id,
            judge=checked.judge,
            failure=info.failure,
            total=row["total"],
            n=row["n"],
            n_unjudged=row["n_unjudged"],
            n_cells=n_cells,
            n_documents=n_documents[source.context],
            places=found if experiment.faithfulness.mode == "document" else None,
        )


def _system(systems: Mapping[tuple[str, str], System], info: SummaryInfo) -> System:
    return systems[info.setting, info.summarizer]


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


def _all_places(run: Folder, checks: Mapping[Checked, Source], aligner: str | None) -> _Places:
    """The aligner's summaries first: the others' sentences stand where it puts them."""
    of = {checked: source.work_id for checked, source in checks.items()}
    verdicts = run.snapshot("verdicts")
    found = dict(_places(verdicts, [work_id for checked, work_id in of.items() if checked.judge == aligner], {}))
    best = {
        work_id: found[of[Checked(checked.summary, aligner)]][1].best
        for checked, work_id in of.items()
        if aligner is not None and of[Checked(checked.summary, aligner)] in found
    }
    return found | dict(_places(verdicts, [work_id for work_id in of.values() if work_id not in found], best))


def _places(
    verdicts: Snapshot, work_ids: Sequence[str], best: Mapping[str, Sequence[Sequence[int]]]
) -> Iterator[tuple[str, tuple[int, SummaryPlaces]]]:
    """The cells of one part are in memory at a time; each part is read once."""
    for batch in verdicts.batches(work_ids=work_ids, columns=_CELL_COLUMNS):
        rows = sorted(batch.to_pylist(), key=lambda row: row["work_id"])
        for work_id, own in groupby(rows, key=lambda row: row["work_id"]):
            cells = support_cells(own)
            yield work_id, (cells.size, summary_places(cells, best.get(work_id)))
