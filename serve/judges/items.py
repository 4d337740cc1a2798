"""Items of requests to judges, by kind, the verdicts that answer them, and the card that stands beside these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Annotated, Any, Protocol, runtime_checkable

from pydantic import Field, create_model

from actors.judges.opening import Judge, card_of_file
from actors.serving.messages import About
from longform.errors import UsageError
from longform.judges.cards import describe, judged_by, other_judge, shipped_card_of
from longform.judges.kinds import KINDS
from longform.judges.replies import BACKGROUND, QUERY
from longform.settings.strict import Strict
from serve.engine import JudgeItem, JudgeUnit, Work
from serve.settings import ServedKind

NO_CARD = "this judge has not been measured against people: no card is shipped or named for it"


@runtime_checkable
class JudgeWorker(Protocol):
    """A judge of any kind."""

    item: type[Strict]  # the type of one item of a request
    about: About

    def split(self, item: JudgeItem) -> list[JudgeUnit]:
        """Return the units of work in an item, as JSON values."""

    def run(self, units: list[JudgeUnit]) -> list[Work]:
        """Return each unit's verdicts, a list of mappings; one that has a `failure` has no answer."""


def common_item(types: Iterable[type[Strict]]) -> type[Strict]:
    """The type that has the fields of all, of judges of one task."""
    return max(types, key=lambda item: len(item.model_fields))


@cache
def judge_item(task: str, *, weighs_words: bool = False) -> type[Strict]:
    """
    Return the type of one item of a judge's requests, as `request_item` writes it: one verdict for each thing in it.

    Words weigh by how rare they are in `haystack_insights`, those of all queries to the same documents, if a judge
    weighs words; null: in the insights of the item.
    """
    kind = KINDS[task]
    shared, of_item = kind.fields
    texts = Annotated[tuple[str, ...], Field(min_length=1)]
    fields: dict[str, Any] = {shared: (tuple[str, ...] if kind.links else str, ...), f"{of_item}s": (texts, ...)}
    if kind.shows_query:
        fields[QUERY] = (str, ...)
    if weighs_words:
        fields[BACKGROUND] = (texts | None, None)
    name = "".join(part.title() for part in task.split("_"))
    return create_model(f"{'Weighed' if weighs_words else ''}{name}Item", __base__=Strict, **fields)


def reads_whole_items(settings: ServedKind) -> bool:
    """Return true if the judge reads the insights of an item together: they compete for bullets."""
    return settings.judge.fitted_model is not None


def item_of(settings: ServedKind) -> type[Strict]:
    """Return the type of one item of a judge's requests."""
    return judge_item(settings.task, weighs_words=True) if reads_whole_items(settings) else judge_item(settings.task)


def served_card(settings: ServedKind, judge: Judge, members: Mapping[str, Judge] | None = None) -> str | None:
    """
    Return the line of the card that the entry names, else of the one that ships; None: none.

    A card that is named must be of the judge's model and of its code or prompts; that of a mean, of its *members*'.

    Raises:
        UsageError: The file is no card, or is another judge's.
    """
    if settings.card is None:
        return describe(shipped) if (shipped := shipped_card_of(judge.settings)) else None
    card = card_of_file(settings.card, judge.kind.task, expected="a file that `longform calibrate` wrote")
    judges = {**(members or {}), judge.name: judge}
    settings_of = {name: one.settings for name, one in judges.items()}
    versions = {name: one.version for name, one in judges.items()}
    if reason := other_judge(card, judged_by(judge.name, settings_of, versions)):
        raise UsageError(f"card {settings.card!r}: expected that of this judge, found {reason}")
    return describe(card)
