"""Marks the figures of a run's results that fitted models made on insights they were fitted on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from actors.storage.benchmark import Benchmark
from longform.results.cells import systems_in, table_rows
from longform.results.columns import Columns, within
from longform.results.in_sample import SUPPORT, in_sample, models_of_judge, models_of_retriever, models_of_summarizer
from longform.results.results import Results
from longform.settings.experiment import Experiment

Models = Mapping[str, frozenset[str]]


TWINS_ONLY: Mapping[str, Models] = {"twins": {"": SUPPORT}}
"""The fitted models behind summaries written elsewhere, with twins by matrix beside them."""


def fitted_of(experiment: Experiment) -> Mapping[str, Models]:
    """Return the fitted models behind judges, summarizers and retrievers of a run, by name, and behind all twins."""
    retrievers = dict.fromkeys(system.retriever for system in experiment.all_systems())
    judges = experiment.judges_of("coverage").items()
    return {
        "judges": {name: models_of_judge(judge, experiment.judges) for name, judge in judges},
        "summarizers": {name: models_of_summarizer(one) for name, one in experiment.summarizers.items()},
        "retrievers": {name: models_of_retriever(name, experiment.retrievers) for name in retrievers},
        **(TWINS_ONLY if experiment.citing_judge is None else {}),
    }


def mark_in_sample(
    results: Results, benchmark: Benchmark, queries: Collection[str], fitted: Mapping[str, Models]
) -> None:
    """
    Add to *results* the figures in sample and the reason, and to each row of its tables its own.

    A row's `in_sample` names them: `summarizer` (of a twin: its citations), `setting`.
    """
    texts = [target.text for query in queries for target in benchmark.targets.get(query, [])]

    def told(models: Models) -> dict[str, str]:
        found = {name: in_sample(own, texts) for name, own in models.items() if own}
        return {name: words for name, words in found.items() if words is not None}

    found = {part: told(models) for part, models in fitted.items()}
    for judge in results["judges"]:
        judge["in_sample"] = found.get("judges", {}).get(judge["judge"])
    for table in (results.get("tables") or {}).values():
        if any(column["name"] == "in_sample" for column in table["columns"]):
            for row in table["rows"]:
                row["in_sample"] = list(_parts(row, found))
    marked = {(cell["summarizer"], cell["setting"]): cell["in_sample"] for cell in systems_in(results)}
    families = table_rows(results, "comparisons_families")
    for compared in [*table_rows(results, "comparisons"), *families] if families else ():
        compared["in_sample"] = marked.get((str(compared.get("summarizer")), str(compared.get("setting"))), [])


def _parts(row: Columns, found: Mapping[str, Mapping[str, str]]) -> Iterable[str]:
    own = not row.get("elsewhere")  # the run's own components are no others of the same names
    twin, summarizers = row.get("twin_of"), found.get("summarizers", {})
    if (own and (twin or row.get("summarizer")) in summarizers) or (twin and found.get("twins")):
        yield "summarizer"
    if own and (within(row, "axes") or row).get("retriever") in found.get("retrievers", {}):
        yield "setting"
