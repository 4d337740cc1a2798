"""The models behind the names of systems and judges, in one sentence."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from longform.report.parts import main_cells
from longform.report.shown_names import scripted
from longform.results.results import Results

_USUAL = "openai"  # the provider that is not worth a word


def models_told(results: Results) -> list[str]:
    """
    Say which chat model stands behind each summarizer and judge of the tables, as the configuration names it.

    Names that are the model's own are left out, unless a script stands behind them; none is told if every name is.
    """
    config = (results.get("run") or {}).get("config")
    if not isinstance(config, Mapping):
        return []
    writers = {str(row["summarizer"]) for row in main_cells(results)}
    judges = {str(row["judge"]) for row in results.get("judges") or []}
    told = [*_told(config, "summarizers", writers, "summarizer"), *_told(config, "judges", judges, "judge")]
    told = [*scripted_told(results), *told]
    return [f"Models: {'; '.join(told)}."] if told else []


def scripted_told(results: Results) -> list[str]:
    """Say of each part of a run behind which no model stands, but a script, that it is a rehearsal."""
    return [
        f"{what} {name} is scripted: a rehearsal, no language model"
        for part, what in _PARTS.items()
        for name in sorted(scripted(results, part))
    ]


_PARTS = {"summarizers": "summarizer", "judges": "judge", "rerankers": "reranker"}


def _told(config: Mapping[str, object], part: str, shown: Collection[str], what: str) -> Iterator[str]:
    settings = config.get(part)
    for name, own in settings.items() if isinstance(settings, Mapping) else ():
        chat = own.get("chat") if isinstance(own, Mapping) else None
        model = chat.get("model") if isinstance(chat, Mapping) else None
        if name in shown and isinstance(model, str) and isinstance(chat, Mapping) and name != model:
            provider = chat.get("provider", _USUAL)
            if provider != "scripted":
                yield f"{what} {name} is {model}{'' if provider == _USUAL else f' ({provider})'}"
