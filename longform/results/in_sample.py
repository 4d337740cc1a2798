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
from longform.settings.chat import SummarizerSettings
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

SUPPORT = frozenset({"support"})
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


def models_of_summarizer(summarizer: SummarizerSettings) -> frozenset[str]:
    """The fitted models that choose what a summarizer writes."""
    return frozenset({"support", "ranker"}) if summarizer.kind == "offline" else frozenset()


def models_of_retriever(name: str, retrievers: Mapping[str, RetrieverSettings]) -> frozenset[str]:
    """The fitted models behind a retriever and those that it combines."""
    retriever = retrievers[name]
    return retriever.fitted_models.union(*(models_of_retriever(base, retrievers) for base in retriever.bases))
