"""The points of one document: extracted in rounds, each with spans that are looked up (LONG2RAG, section 3.3)."""

from __future__ import annotations

from collections.abc import Sequence

from longform.synthesis.asking import Ask, Log, Plan
from longform.synthesis.key_points.checks import GROUNDED, POINT_NEW, POINTS, SPAN
from longform.synthesis.key_points.points import FoundPoint, Grounds
from longform.synthesis.key_points.replies import Point, PointList
from longform.synthesis.key_points.sources import SourceDocument
from longform.synthesis.tries import Question, ask_until_read
from longform.text.spans import locate
from longform.text.words import words

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
