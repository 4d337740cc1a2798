"""Marks the figures of a run's results that fitted models made on insights they were fitted on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple, TypedDict

from actors.storage.benchmark import Benchmark
from longform.results.cells import systems_in, table_rows
from longform.results.columns import Columns, within
from longform.results.in_sample import SUPPORT, in_sample, models_of_judge, models_of_retriever, models_of_summarizer
from longform.results.results import Results
from longform.settings.experiment import Experiment

Models = Mapping[str, frozenset[str]]


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


def mark_in_sample(results: Results, benchmark: Benchmark, queries: Collection[str], fitted: Fitted) -> None:
    """
    Add to *results* the figures in sample and the reason, and to each row of its tables its own.

    A row's `in_sample` names them: `summarizer` (of a twin: its citations), `setting`.
    """
    texts = [target.text for query in queries for target in benchmark.targets.get(query, [])]

    def told(models: Models) -> dict[str, str]:
        found = {name: in_sample(own, texts) for name, own in models.items() if own}
        return {name: words for name, words in found.items() if words is not None}

    judges, summarizers, retrievers = map(told, (fitted.judges, fitted.summarizers, fitted.retrievers))
    twins = in_sample(fitted.twins, texts) if fitted.twins else None
    for judge in results["judges"]:
        judge["in_sample"] = judges.get(judge["judge"])
    for row in _marked_rows(results):
        row["in_sample"] = list(_parts(row, summarizers, retrievers, twins))
    marked = {(cell["summarizer"], cell["setting"]): cell["in_sample"] for cell in systems_in(results)}
    families = table_rows(results, "comparisons_families")
    for compared in [*table_rows(results, "comparisons"), *families] if families else ():
        compared["in_sample"] = marked.get((str(compared.get("summarizer")), str(compared.get("setting"))), [])


class _Marked(TypedDict):
    in_sample: list[str]


def _marked_rows(results: Results) -> Iterator[_Marked]:
    for table in (results.get("tables") or {}).values():
        if any(column["name"] == "in_sample" for column in table["columns"]):
            yield from table["rows"]


def _parts(
    row: Columns, summarizers: Mapping[str, str], retrievers: Mapping[str, str], twins: str | None
) -> Iterable[str]:
    own = not row.get("elsewhere")  # the run's own components are no others of the same names
    if (own and (row.get("twin_of") or row.get("summarizer")) in summarizers) or (row.get("twin_of") and twins):
        yield "summarizer"
    if own and (within(row, "axes") or row).get("retriever") in retrievers:
        yield "setting"
