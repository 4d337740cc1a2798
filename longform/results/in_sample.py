"""
Figures in sample: made by a shipped model on insights that this model was fitted on, and therefore too good.

Insights are known by their words, so that another name or layout of the same data makes no difference. `longform train`
writes the keys of what it fitted on, `seen_NAME.json`, beside the models.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cache

from longform.keys import content_key
from longform.models import read_model
from longform.results.cells import Columns, systems_in, table_rows, within
from longform.results.results import Results
from longform.settings.experiment import Experiment
from longform.settings.judges import JudgeSettings
from longform.settings.retrievers import RetrieverSettings

FILES = {
    "support": "seen_support",
    "ranker": "seen_ranker",
    "people": "seen_judge",
    "gpt-4o": "seen_judge",
    "people-vectors": "seen_judge",
}
"""Fitted model, or that of the offline judge -> the file that names what it was fitted on."""

Models = Mapping[str, frozenset[str]]
SUPPORT = frozenset({"support"})
TWINS_ONLY: Mapping[str, Models] = {"twins": {"": SUPPORT}}
"""The fitted models behind summaries written elsewhere, with twins by matrix beside them."""
_KEY_LENGTH = 10


def insight_keys(texts: Iterable[str]) -> list[str]:
    """Return the keys of insights, sorted."""
    return sorted({content_key("insight", " ".join(text.split()).casefold())[:_KEY_LENGTH] for text in texts})


@cache
def _seen(model: str) -> frozenset[str]:
    return frozenset(read_model(FILES[model])[model])


def in_sample(models: Collection[str], texts: Collection[str]) -> str | None:
    """Return the mark of a figure that *models* made on insights of these *texts*; None if they saw none of them."""
    keys = insight_keys(texts)
    seen = len(frozenset(keys) & frozenset().union(*(_seen(model) for model in models)))
    return f"in sample: fitted on {seen} of these {len(keys)} insights" if seen else None


def models_of_judge(judge: JudgeSettings, judges: Mapping[str, JudgeSettings]) -> frozenset[str]:
    """The fitted models behind a judge; those of a mean's members."""
    own = frozenset() if judge.fitted_model is None else frozenset({judge.fitted_model})
    return frozenset[str]().union(own, *(models_of_judge(judges[name], judges) for name in judge.members))


def models_of_retriever(name: str, retrievers: Mapping[str, RetrieverSettings]) -> frozenset[str]:
    """The fitted models behind a retriever and those that it combines."""
    retriever = retrievers[name]
    return retriever.fitted_models.union(*(models_of_retriever(base, retrievers) for base in retriever.bases))


def fitted_of(experiment: Experiment) -> Mapping[str, Models]:
    """Return the fitted models behind judges, summarizers and retrievers of a run, by name, and behind all twins."""
    retrievers = dict.fromkeys(system.retriever for system in experiment.all_systems())
    judges = experiment.judges_of("coverage").items()
    return {
        "judges": {name: models_of_judge(judge, experiment.judges) for name, judge in judges},
        "summarizers": {name: one.fitted_models for name, one in experiment.summarizers.items() if one.fitted_models},
        "retrievers": {name: models_of_retriever(name, experiment.retrievers) for name in retrievers},
        **(TWINS_ONLY if experiment.citing_judge is None else {}),
    }


def mark_in_sample(results: Results, texts: Collection[str], fitted: Mapping[str, Models]) -> None:
    """
    Add to *results* the figures in sample, made on insights of *texts*, and to each row of its tables its own.

    A row's `in_sample` names them: `summarizer` (of a twin: its citations), `setting`.
    """

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
