"""Marks the figures of a run's results that fitted models made on insights they were fitted on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from actors.storage.benchmark import Benchmark
from longform.results.in_sample import SUPPORT, in_sample, models_of_judge, models_of_retriever, models_of_summarizer
from longform.settings.experiment import Experiment

Models = Mapping[str, frozenset[str]]
_TABLES = ("cells", "per_summary_cells", "position", "curve", "failure_modes", "retrieval")


class Fitted(NamedTuple):
    """
    The fitted models behind each part of a run.

    Attributes:
        judges: By name.
        summarizers: By name.
        retrievers: By name.
        twins: Of all twins.
    """

    judges: Models
    summarizers: Models
    retrievers: Models
    twins: frozenset[str]


TWINS_ONLY = Fitted({}, {}, {}, SUPPORT)
"""The fitted models behind summaries written elsewhere, with twins by matrix beside them."""


def fitted_of(experiment: Experiment) -> Fitted:
    retrievers = dict.fromkeys(system.retriever for system in experiment.all_systems())
    return Fitted(
        judges={
            name: models_of_judge(judge, experiment.judges) for name, judge in experiment.judges_of("coverage").items()
        },
        summarizers={name: models_of_summarizer(s) for name, s in experiment.summarizers.items()},
        retrievers={name: models_of_retriever(name, experiment.retrievers) for name in retrievers},
        twins=SUPPORT if experiment.citing_judge is None else frozenset(),
    )


def mark_in_sample(results: Mapping[str, Any], benchmark: Benchmark, queries: Collection[str], fitted: Fitted) -> None:
    """
    Add to *results* the in-sample figures and the reason, and to each row of its tables its own.

    A row's `in_sample` names them: `summarizer` (of a twin: its citations), `setting`.
    """
    texts = [target.text for query in queries for target in benchmark.targets.get(query, [])]

    def told(models: Models) -> dict[str, str]:
        found = {name: in_sample(own, texts) for name, own in models.items() if own}
        return {name: words for name, words in found.items() if words is not None}

    judges, summarizers, retrievers = map(told, (fitted.judges, fitted.summarizers, fitted.retrievers))
    twins = in_sample(fitted.twins, texts) if fitted.twins else None
    for row in results["judges"]:
        row["in_sample"] = judges.get(row["judge"])
    tables = [row for name in _TABLES for row in results.get(name) or []]
    for row in tables:
        row["in_sample"] = list(_parts(row, summarizers, retrievers, twins))
    marked = {_named(row) for row in results["cells"] if row["in_sample"]}
    for family in results.get("comparisons") or []:
        family["reference_in_sample"] = _named(family["reference_system"] or {}) in marked
        for row in family["rows"]:
            row["in_sample"] = _named(row) in marked
    if results.get("repair"):
        results["repair"]["in_sample"] = twins


def _named(row: Mapping[str, Any]) -> tuple[str | None, str | None]:
    return row.get("summarizer"), row.get("setting")


def _parts(
    row: Mapping[str, Any], summarizers: Mapping[str, str], retrievers: Mapping[str, str], twins: str | None
) -> Iterable[str]:
    if (row.get("twin_of") or row.get("summarizer")) in summarizers or (row.get("twin_of") and twins):
        yield "summarizer"
    if (row.get("axes") or row).get("retriever") in retrievers:
        yield "setting"
