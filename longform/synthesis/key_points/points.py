"""Points and the passages that say them: extracted from one document in rounds, each span looked up (LONG2RAG, 3.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Self

from pydantic import JsonValue

from longform.synthesis.asking import Ask, Log, Plan
from longform.synthesis.key_points.replies import GROUNDED, POINT_NEW, POINTS, SPAN, Point, PointList
from longform.synthesis.key_points.sources import SourceDocument
from longform.synthesis.tries import Question, ask_until_read
from longform.text.spans import locate
from longform.text.words import words


class Grounds(NamedTuple):
    """A passage of a document that says a point, as the document has it."""

    doc_id: str
    start: int  # characters, from 0
    end: int
    exact: bool  # false if the white space of what was quoted differs
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
    """A point of a question after repetitions were merged."""

    point: FoundPoint  # text, with the passages of all points that it came from
    numbers: tuple[int, ...]  # those of these points, from 1 in the order of the documents
    score: float | None  # P(YES), or its score by rank in [0, 1]; None: it could not be read
    kept: bool  # it is a key point of the benchmark

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


# ---------------------------------------------------------------- of one document


_NOTHING = "(none yet)"


def extract(question: str, document: SourceDocument, *, rounds: int, replies: int, log: Log) -> Plan[list[FoundPoint]]:
    """Return the points of *document*; a round that adds none is the last, and so is one that cannot be read."""
    found: list[FoundPoint] = []
    for number in range(rounds):
        subject = f"{document.doc_id}, round {number + 1}"
        (read,) = yield from ask_until_read(
            [Question(subject, _ask(question, document, found))], PointList, check=POINTS, most=replies, log=log
        )
        if read.reason is not None:
            break
        log.accept(POINTS, subject, read.call_id)
        added = [
            grounded
            for point in read.answer.points
            if _is_new(point, found, log, read.call_id)
            and (grounded := _grounded(point, document, log, read.call_id)) is not None
        ]
        if not added:
            break
        found += _without_repetitions(added, log, read.call_id)
    return found


def _ask(question: str, document: SourceDocument, found: Sequence[FoundPoint]) -> Ask:
    listed = "\n".join(f"- {point.text}" for point in found) or _NOTHING
    return Ask("writer", "synthesize_points", {"document": document.text, "question": question, "found": listed})


def _is_new(point: Point, found: Sequence[FoundPoint], log: Log, call_id: str | None) -> bool:
    if words(point.point) in [words(one.text) for one in found]:
        log.reject(POINT_NEW, point.point, "found in an earlier round", call_id)
        return False
    return True


def _without_repetitions(added: Sequence[FoundPoint], log: Log, call_id: str | None) -> list[FoundPoint]:
    kept: dict[tuple[str, ...], FoundPoint] = {}
    for point in added:
        if kept.setdefault(tuple(words(point.text)), point) is point:
            log.accept(POINT_NEW, point.text, call_id)
        else:
            log.reject(POINT_NEW, point.text, "twice in one list", call_id)
    return [*kept.values()]


def _grounded(point: Point, document: SourceDocument, log: Log, call_id: str | None) -> FoundPoint | None:
    """Return *point* with those of its spans that stand in the document; None if none does."""
    grounds = [one for span in point.spans if (one := _looked_up(span, document, log, call_id)) is not None]
    if grounds:
        log.accept(GROUNDED, point.point, call_id)
        return FoundPoint(point.point, tuple(dict.fromkeys(grounds)))
    why = f"none of {len(point.spans)} spans stands in the document" if point.spans else "no span"
    log.reject(GROUNDED, point.point, why, call_id)
    return None


def _looked_up(span: str, document: SourceDocument, log: Log, call_id: str | None) -> Grounds | None:
    place = locate(span, document.text)
    if place is None:
        why = f"does not stand in {document.doc_id}" if span.strip() else "says nothing"
        log.reject(SPAN, span, why, call_id)
        return None
    log.accept(SPAN, span, call_id)
    return Grounds(document.doc_id, place.start, place.end, place.exact, document.text[place.start : place.end])
