"""Names the summaries of an evaluation without a score, with the reason."""

from __future__ import annotations

from collections.abc import Collection

from actors.measures import open_measures, wanted_measures
from actors.storage.benchmark import Benchmark
from jobs.stages.summarize import USUAL_BULLETS
from longform.metrics.measure import Measure
from longform.records import Target
from longform.settings.experiment import Experiment


def unscored(experiment: Experiment, benchmark: Benchmark, query_ids: Collection[str]) -> list[str]:
    """
    Return a sentence for each thing that a run on these queries cannot score or had to assume.

    A benchmark of documents and queries alone is retrieved and summarised, and its summaries have no score.
    """
    without = [query_id for query_id in query_ids if not _insights(benchmark, query_id)]
    uncounted = [query_id for query_id in without if not benchmark.targets.get(query_id)]
    found = []
    if not experiment.judges and not _measured_without_judge(experiment):
        found.append("No summary is scored: the configuration names no judge, and no measure that needs none.")
    if experiment.judges_of("coverage") and without:
        found.append(
            f"Coverage, citation and joint scores need insights, and {_share(without, query_ids)} insights: "
            "the summaries of such queries are written and not scored."
        )
    if experiment.bullets == "targets" and uncounted:
        found.append(
            f"Summaries have as many bullets as their query has targets, and {_share(uncounted, query_ids)} targets: "
            f"{USUAL_BULLETS} bullets are asked for there; set bullets to another number."
        )
    return found


def _measured_without_judge(experiment: Experiment) -> bool:
    measures = open_measures(wanted_measures(experiment))
    return any(isinstance(measure, Measure) and measure.judged_by is None for measure in measures)


def _share(without: Collection[str], query_ids: Collection[str]) -> str:
    return "no query has" if len(without) == len(query_ids) else f"{len(without)} of {len(query_ids)} queries have no"


def _insights(benchmark: Benchmark, query_id: str) -> list[Target]:
    return [target for target in benchmark.targets.get(query_id, []) if target.kind == "insight"]
