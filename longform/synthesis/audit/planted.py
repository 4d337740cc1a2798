"""Knowledge of a haystack that its maker has beyond its tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, NotRequired, TypedDict

from pydantic import JsonValue

Kind = Literal["insight", "contradiction", "distractor"]


class Planted(NamedTuple):
    """
    A sentence that a document was made to state.

    Attributes:
        doc_id: The document.
        target_id: The insight that it states or contradicts; None for a distractor.
        kind: An insight's statements are the gold map; a contradiction states another number for the same fact; a
            distractor is a statement of the same kind that belongs to no insight. Neither is in the gold map.
        text: The sentence, as it stands in the document.
    """

    doc_id: str
    target_id: str | None
    kind: Kind
    text: str


class StoredPlanted(TypedDict):
    doc_id: str
    target_id: str | None
    kind: Kind
    text: str


class StoredFacts(TypedDict):
    """The facts as JSON."""

    haystack_id: str
    settings: dict[str, JsonValue]
    planted: list[StoredPlanted]
    prose: NotRequired[dict[str, JsonValue] | None]


class HaystackFacts(NamedTuple):
    """
    The content of `haystacks/<haystack_id>.json`: how a haystack was made, and the statements planted in each document.

    `prose` counts a chat model's passages around the planted sentences (`longform.synthesis.grammar.passages`); None:
    no model was asked.
    """

    haystack_id: str
    settings: Mapping[str, JsonValue]
    planted: list[Planted]
    prose: Mapping[str, JsonValue] | None = None

    def as_json(self) -> dict[str, JsonValue]:
        return {
            "haystack_id": self.haystack_id,
            "settings": dict(self.settings),
            "planted": [one._asdict() for one in self.planted],
            "prose": None if self.prose is None else dict(self.prose),
        }

    @classmethod
    def from_json(cls, content: StoredFacts) -> HaystackFacts:
        planted = [Planted(**one) for one in content["planted"]]
        return cls(content["haystack_id"], content["settings"], planted, content.get("prose"))
