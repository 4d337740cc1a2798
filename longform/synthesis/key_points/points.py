"""Points and where they stand in documents, as pieces keep them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Self

from pydantic import JsonValue


class Grounds(NamedTuple):
    """
    A passage of a document that says a point.

    Attributes:
        doc_id: Of the document.
        start: Of its first character, from 0.
        end: Behind its last character.
        exact: False if the white space of what was quoted differs.
        text: The passage as the document has it.
    """

    doc_id: str
    start: int
    end: int
    exact: bool
    text: str


class FoundPoint(NamedTuple):
    """A point and the passages that say it."""

    text: str
    grounds: tuple[Grounds, ...]

    def as_json(self) -> dict[str, JsonValue]:
        return {"text": self.text, "grounds": [{**one._asdict()} for one in self.grounds]}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self:
        """Read a point back."""
        return cls(content["text"], tuple(Grounds(**one) for one in content["grounds"]))


class Selected(NamedTuple):
    """
    A point of a question after repetitions were merged.

    Attributes:
        point: Its text, with the passages of all points that it came from.
        numbers: Of those points, from 1 in the order of the documents.
        score: P(YES), or its score by rank in [0, 1]; None: it could not be read.
        kept: True if it is a key point of the benchmark.
    """

    point: FoundPoint
    numbers: tuple[int, ...]
    score: float | None
    kept: bool

    def as_json(self) -> dict[str, JsonValue]:
        return {**self.point.as_json(), "numbers": [*self.numbers], "score": self.score, "kept": self.kept}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self:
        """Read a point back."""
        return cls(FoundPoint.from_json(content), tuple(content["numbers"]), content["score"], content["kept"])


class PointGroup(NamedTuple):
    """Points that say the same, by their numbers from 1, and what they say."""

    text: str
    numbers: tuple[int, ...]


def joined(groups: Iterable[PointGroup], points: Sequence[FoundPoint]) -> list[tuple[FoundPoint, tuple[int, ...]]]:
    """Return each group as a point with the passages of all its points, each passage once."""
    return [
        (
            FoundPoint(
                group.text,
                tuple(dict.fromkeys(one for number in group.numbers for one in points[number - 1].grounds)),
            ),
            group.numbers,
        )
        for group in groups
    ]
