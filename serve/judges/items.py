"""Items of a judge's requests, by task, and the answers that a judge of any kind makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Protocol, runtime_checkable

from pydantic import Field

from actors.serving.messages import About
from longform.judges.support_prompts import SupportGroup
from longform.settings.strict import Strict
from serve.engine import Work


@runtime_checkable
class JudgeWorker(Protocol):
    """
    A judge of any kind.

    Attributes:
        item: The type of one item of a request.
        about: Of kind `judge`.
    """

    item: type[Strict]
    about: About

    def split(self, item: Any) -> list[Any]:
        """The units of work in an item, as JSON values."""

    def run(self, units: list[Any]) -> list[Work]:
        """Each unit's verdicts, a list of mappings; one that has a `failure` has no answer."""


class SupportItem(Strict):
    """Sentences to be checked against one document; one verdict a sentence."""

    document: str
    sentences: tuple[str, ...] = Field(min_length=1)


class InsightsItem(Strict):
    """Insights to be looked for in one summary's bullets; one verdict an insight."""

    bullets: tuple[str, ...]
    insights: tuple[str, ...] = Field(min_length=1)


class CoverageItem(InsightsItem):
    """
    The same for a judge that counts words.

    Words weigh by how rare they are in `haystack_insights`, those of all queries to the same documents; null:
    `insights`.
    """

    haystack_insights: Annotated[tuple[str, ...], Field(min_length=1)] | None = None


def common_item(types: Sequence[type[Strict]]) -> type[Strict]:
    """The type that has the fields of all, of judges of one task."""
    return max(types, key=lambda item: len(item.model_fields))


def support_groups(units: Sequence[Sequence[str]]) -> list[SupportGroup]:
    """(document, sentence) pairs, the sentences of one document together."""
    groups: dict[str, list[str]] = {}
    for document, sentence in units:
        groups.setdefault(document, []).append(sentence)
    return [SupportGroup(document, document, tuple(sentences)) for document, sentences in groups.items()]
