"""Plans the size of a study of positions from a run's prompts and its judges' cards, before anything is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from actors.judges.opening import card_of_file
from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.stages.pack import Packed
from jobs.stages.stage import Plan
from jobs.stages.summarize import n_bullets
from longform.evidence.scan import as_frame, pl
from longform.judges.cards import shipped_card_of
from longform.results.position_plan import DEPTHS, Row, positions_row, sentence_accuracy
from longform.settings.experiment import Experiment
from longform.settings.named_judges import ALIGNERS

_FEWEST = 3  # documents of a prompt whose curve has a shape


def positions_plan(
    run: Folder, benchmark: Benchmark, experiment: Experiment, plan: Plan, *, depth: float | None = None
) -> list[Row]:
    """
    Return a row for each support judge and data set; none if the experiment has no curves by place.

    *depth* is that of the U to find, in points; None: several. The contexts of the run must be there.
    """
    varied = [system for system in experiment.all_systems() if system.summarizer not in experiment.ignoring_order]
    curves = [system for system in varied if system.n_documents is None or system.n_documents >= _FEWEST]
    studied = experiment.studies is None or "faithfulness" in experiment.studies
    if not studied or not curves or experiment.support_mode != "document":
        return []
    prompts = list(_prompts(run, benchmark, experiment, plan))
    depths = DEPTHS if depth is None else (depth,)
    return [
        positions_row(one, judge, _accuracy(experiment, judge), n_curves=len(curves), depths=depths)
        for judge in experiment.support_judges
        if judge not in ALIGNERS
        for one in prompts
    ]


def _prompts(run: Folder, benchmark: Benchmark, experiment: Experiment, plan: Plan) -> Iterator[Row]:
    """Yield the prompts of each data set that has any of three documents or more."""
    queries = {item.work_id: item.key.query_id for item in plan.of(Packed)}
    contexts = as_frame(run.read("contexts", work_ids=queries, columns=["work_id", "doc_ids"]))
    datasets = {work_id: benchmark.queries[query_id].dataset for work_id, query_id in queries.items()}
    prompts = contexts.select("work_id", n=pl.col("doc_ids").list.len())
    for dataset in dict.fromkeys(datasets[work_id] for work_id in prompts["work_id"]):
        own = {work_id: n for work_id, n in prompts.iter_rows() if datasets[work_id] == dataset}
        if usual := Counter(n for n in own.values() if n >= _FEWEST):
            asked = [n_bullets(benchmark, experiment.bullets, one) for one in {queries[work_id] for work_id in own}]
            counts = {"n_summaries": len(asked), "n_documents": max(usual, key=lambda n: (usual[n], n))}
            yield {"dataset": dataset, **counts, "n_sentences": round(sum(asked) / len(asked), 1)}


def _accuracy(experiment: Experiment, judge: str) -> float | None:
    """Return what a judge's card says of sentences; None without a card."""
    path, settings = experiment.cards.get(judge), experiment.judges[judge]
    card = shipped_card_of(settings) if path is None else card_of_file(path, settings.task, expected=f"judge {judge!r}")
    return sentence_accuracy(card["data_sets"]) if card is not None and "data_sets" in card else None
