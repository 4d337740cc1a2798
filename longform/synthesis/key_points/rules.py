"""Key points without a model: sentences with a number, a date or a name that share stems with the question."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from longform.retrieval.bm25 import Bm25
from longform.synthesis.asking import Log
from longform.synthesis.key_points.points import FoundPoint, Grounds, PointGroup, Selected, joined
from longform.synthesis.key_points.replies import ALONE, IN_RANK, LENGTH, MERGED, ON_QUESTION, SPECIFIC
from longform.synthesis.key_points.search import K1, B
from longform.synthesis.key_points.settings import RulesSettings
from longform.synthesis.key_points.sources import SourceDocument
from longform.synthesis.written.insights import is_specific, names
from longform.text.sentences import Sentence, sentences
from longform.text.stand_alone import stands_alone
from longform.text.words import numbers, stems

_DIGITS = 6
_WRAPPED = re.compile(r"(?<=[^\n]{50}[^\s.!?:\"”’])[ \t]*\n(?=[^\s\-*•–])")
"""A line break of a text that is set in lines: after 50 characters, none of them the end of a sentence."""


def extract_by_rules(question: str, document: SourceDocument, settings: RulesSettings, log: Log) -> list[FoundPoint]:
    """Return the sentences of *document* that may be key points; the log has why others are none."""
    asked = set(stems(question))
    found: dict[str, FoundPoint] = {}
    for sentence in unwrapped_sentences(document.text):
        text = " ".join(sentence.text.split())
        refused = _refused(text, asked, settings)
        if refused is not None:
            log.reject(refused.check, text, refused.reason)
        elif text not in found:
            passage = document.text[sentence.start : sentence.end]
            grounds = Grounds(document.doc_id, sentence.start, sentence.end, text == passage, passage)
            found[text] = FoundPoint(text, (grounds,))
            log.accept(ON_QUESTION, text)
    return [*found.values()]


def unwrapped_sentences(text: str) -> list[Sentence]:
    """Return the sentences of *text* with their places in it; a line break within a sentence ends none."""
    return sentences(_WRAPPED.sub(lambda match: " " * len(match[0]), text))


class _Refused(NamedTuple):
    check: str
    reason: str


def _refused(text: str, asked: set[str], settings: RulesSettings) -> _Refused | None:
    n_words = len(text.split())
    if not settings.least_words <= n_words <= settings.most_words:
        return _Refused(LENGTH, f"{n_words} words")
    if not stands_alone(text):
        return _Refused(ALONE, "a question, an exclamation, or an opening that points back")
    if not is_specific(text):
        return _Refused(SPECIFIC, "no number, date or name")
    shared = len(asked & set(stems(text)))
    if shared < settings.shared_stems:
        return _Refused(ON_QUESTION, f"{shared} stems of the question")
    return None


# ---------------------------------------------------------------- of all documents together


def select_by_rules(question: str, points: Sequence[FoundPoint], settings: RulesSettings, log: Log) -> list[Selected]:
    """
    Return the points without repetitions, the best first by BM25 of the question, the first *most* of them kept.

    A score is a share of the best one's; it ranks, and is no probability.
    """
    groups = joined(list(grouped([point.text for point in points], settings.alike, log)), points)
    if not groups:
        return []
    texts = [stems(point.text) for point, _ in groups]
    raw = np.round(Bm25(texts, k1=K1, b=B).scores(stems(question)), _DIGITS)
    best = float(raw.max()) or 1.0
    order = sorted(range(len(groups)), key=lambda place: -raw[place])
    found: list[Selected] = []
    for rank, place in enumerate(order):
        kept = rank < settings.most
        point, numbers_of = groups[place]
        if kept:
            log.accept(IN_RANK, point.text)
        else:
            log.reject(IN_RANK, point.text, f"rank {rank + 1}, after {settings.most}")
        found.append(Selected(point, numbers_of, round(float(raw[place]) / best, _DIGITS), kept))
    return found


class _PointSaid(NamedTuple):
    stems: frozenset[str]
    specifics: frozenset[str]  # numbers and names


def grouped(texts: Sequence[str], alike: float, log: Log) -> Iterator[PointGroup]:
    """Give groups of texts with the same numbers and names that share *alike* of their stems with the first of it."""
    groups: list[tuple[_PointSaid, list[int]]] = []
    for number, text in enumerate(texts, start=1):
        said = _PointSaid(frozenset(stems(text)), frozenset(numbers(text)) | frozenset(names(text)))
        same = next((members for first, members in groups if _say_the_same(first, said, alike)), None)
        if same is None:
            groups.append((said, [number]))
            log.accept(MERGED, text)
        else:
            same.append(number)
            log.reject(MERGED, text, f"says what point {same[0]} says")
    for _, members in groups:
        yield PointGroup(texts[members[0] - 1], tuple(members))


def _say_the_same(first: _PointSaid, second: _PointSaid, alike: float) -> bool:
    both, either = first.stems & second.stems, first.stems | second.stems
    return first.specifics == second.specifics and len(both) >= alike * len(either)
