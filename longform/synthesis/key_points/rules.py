"""Key points without a model: sentences with a number, a date or a name that share stems with the question."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from longform.retrieval.bm25 import Bm25
from longform.synthesis.asking import Log
from longform.synthesis.key_points.points import FoundPoint, Grounds, Selected, passages
from longform.synthesis.key_points.search import K1, B, SourceDocument
from longform.synthesis.key_points.settings import RulesSettings
from longform.synthesis.key_points.steps import ALONE, IN_RANK, LENGTH, MERGED, ON_QUESTION, SPECIFIC, Group
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
        text, passage = " ".join(sentence.text.split()), document.text[sentence.start : sentence.end]
        check, fault = _verdict(text, asked, settings)
        if fault is not None:
            log.decide(check, text, fault)
        elif text not in found:
            place = {"doc_id": document.doc_id, "start": sentence.start, "end": sentence.end}
            grounds = Grounds.model_validate({**place, "exact": text == passage, "text": passage})
            found[text] = FoundPoint(text=text, grounds=(grounds,))
            log.accept(check, text)
    return [*found.values()]


def unwrapped_sentences(text: str) -> list[Sentence]:
    """Return the sentences of *text* with their places in it; a line break within a sentence ends none."""
    return sentences(_WRAPPED.sub(lambda match: " " * len(match[0]), text))


def _verdict(text: str, asked: set[str], settings: RulesSettings) -> tuple[str, str | None]:
    """Return the first check that rejects a sentence, with the reason; the last one without if all accept."""
    n_words = len(text.split())
    if not settings.least_words <= n_words <= settings.most_words:
        return LENGTH, f"{n_words} words"
    if not stands_alone(text):
        return ALONE, "a question, an exclamation, or an opening that points back"
    if not is_specific(text):
        return SPECIFIC, "no number, date or name"
    shared = len(asked & set(stems(text)))
    return ON_QUESTION, f"{shared} stems of the question" if shared < settings.shared_stems else None


# ---------------------------------------------------------------- of all documents together


def select_by_rules(question: str, points: Sequence[FoundPoint], settings: RulesSettings, log: Log) -> list[Selected]:
    """
    Return the points without repetitions, the best first by BM25 of the question, the first *most* of them kept.

    A score is a share of the best one's; it ranks, and is no probability.
    """
    groups = list(grouped([point.text for point in points], settings.alike, log))
    if not groups:
        return []
    texts = [stems(group.point) for group in groups]
    raw = np.round(Bm25(texts, k1=K1, b=B).scores(stems(question)), _DIGITS)
    best = float(raw.max()) or 1.0
    found: list[Selected] = []
    for rank, place in enumerate(sorted(range(len(groups)), key=lambda place: -raw[place]), start=1):
        group, score = groups[place], round(float(raw[place]) / best, _DIGITS)
        kept = log.decide(
            IN_RANK, group.point, None if rank <= settings.most else f"rank {rank}, after {settings.most}"
        )
        grounds = passages(group, points)
        found.append(Selected(text=group.point, grounds=grounds, numbers=group.numbers, score=score, kept=kept))
    return found


def grouped(texts: Sequence[str], alike: float, log: Log) -> Iterator[Group]:
    """Give groups of texts with the same numbers and names that share *alike* of their stems with the first of it."""
    groups: list[tuple[set[str], set[str], list[int]]] = []  # stems and specifics of the first, numbers of all
    for number, text in enumerate(texts, start=1):
        said, specifics = set(stems(text)), {*numbers(text), *names(text)}
        same = next(
            (
                members
                for first, others, members in groups
                if others == specifics and len(first & said) >= alike * len(first | said)
            ),
            None,
        )
        if same is None:
            groups.append((said, specifics, [number]))
            log.accept(MERGED, text)
        else:
            same.append(number)
            log.decide(MERGED, text, f"says what point {same[0]} says")
    for _, _, members in groups:
        yield Group(point=texts[members[0] - 1], numbers=tuple(members))
