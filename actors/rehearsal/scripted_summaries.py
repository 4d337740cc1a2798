"""
Summaries of a scripted model: their faithfulness follows a known profile over the places of the documents, so that a
whole study can be held against the truth.

A sentence of a summary is about one document. With a probability that depends on the document's place in the prompt it
is a copy of one of the document's sentences; else it is that sentence with its numbers and half of its content words
changed, so that no document states it, and its other words still tell which document it is about. Which sentence is
copied follows from the document alone, how one is changed from the whole request: orders of the same documents repeat
the faithful sentences and nothing else, and a merge prefers repeated ones.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest
from math import floor
from random import Random
from typing import NamedTuple

from longform.keys import stable_seed
from longform.summaries.methods import Place
from longform.text.sentences import sentences
from longform.text.words import STOP_WORDS

Profile = Callable[[float], float]
"""The place of a document, from 0 (first) to 1 (last) -> the probability that a sentence about it is faithful."""

PROFILES: Mapping[str, Profile] = {
    "profile-u": lambda place: 0.55 + 0.4 * (2 * place - 1) ** 2,
    "profile-lead": lambda place: 0.95 - 0.4 * place,
    "profile-flat": lambda _: 0.75,
}
FOCUSED = 0.98
"""The least faithfulness at the place that the prompt says to attend to: a third of the documents."""


def faithful(_: float) -> float:
    """Return the profile of a model that changes nothing."""
    return 1.0


_PLACES: Mapping[Place, Callable[[float], bool]] = {
    "top": lambda place: place < 1 / 3,
    "middle": lambda place: 1 / 3 <= place <= 2 / 3,
    "bottom": lambda place: place > 2 / 3,
}
_HEADING = re.compile(r"\A(?:Conversation|Article|Document) (\d+):\n")
_BULLET = "- "
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
_SHORTEST = 5  # words of a sentence worth copying
_SHORTEST_CONTENT = 4  # letters of a word that is changed
_CONSONANTS, _VOWELS, _SYLLABLES = "bdfgjklmnprtvz", "aeiou", 3
LABEL = "Summary:"


class Sentences(NamedTuple):
    """A summary of documents in a number of sentences."""

    documents: tuple[str, ...]
    n_sentences: int
    focus: Place | None
    profile: Profile
    seed: int

    def reply(self) -> str:
        shown = [(place, copies) for place, text in enumerate(self.documents) if (copies := worth_copying(text))]
        said = [
            self.sentence(place, copies[turn % len(copies)], turn)
            for (place, copies), n in zip(shown, self._shares(len(shown)), strict=True)
            for turn in range(n)
        ]
        return _labelled(said, bullets=False)

    def _shares(self, n_shown: int) -> list[int]:
        """Share the sentences out over documents: as even as can be, and over many requests alike for all places."""
        start = Random(stable_seed(self.seed, "shares")).random()
        about = Counter(floor((turn + start) * n_shown / self.n_sentences) for turn in range(self.n_sentences))
        return [about[index] for index in range(n_shown)]

    def sentence(self, place: int, copy: str, turn: int) -> str:
        """Return the *turn*-th sentence about the document at *place*: *copy*, or what became of it."""
        draw = Random(stable_seed(self.seed, place, turn))
        return copy if draw.random() < self.faithfulness(place) else changed(copy, draw)

    def faithfulness(self, place: int) -> float:
        """Return the probability that a sentence about the document at *place* (from 0) is faithful."""
        relative = place / max(1, len(self.documents) - 1)
        planted = self.profile(relative)
        focused = self.focus is not None and _PLACES[self.focus](relative)
        return max(planted, FOCUSED) if focused else planted


def merged(summaries: Sequence[str], n_sentences: int, seed: int) -> str:
    """Return what most summaries say, then any statement of each in turn, so that no place is lost by rule."""
    stated = [list(dict.fromkeys(statements(summary))) for summary in summaries]
    draw = Random(stable_seed(seed, "turns"))
    for summary in stated:
        draw.shuffle(summary)
    votes = Counter(statement for summary in stated for statement in summary)
    in_turn = (statement for turn in zip_longest(*stated) for statement in turn if statement is not None)
    ranked = sorted(dict.fromkeys(in_turn), key=lambda statement: -votes[statement])
    return _labelled(ranked[:n_sentences], bullets=any(_is_list(summary) for summary in summaries))


def updated(summary: str, shown: Sentences) -> str:
    """Return *summary* with a statement about the only document *shown*, which its oldest one makes room for."""
    kept = statements(summary)
    (document,) = shown.documents
    heading = _HEADING.match(document)
    copies = worth_copying(document[heading.end() :] if heading else document)
    if copies:
        new = shown.sentence(0, copies[0], 0)
        kept = [*kept, f"{new} [{heading[1]}]" if heading else new]
    return _labelled(kept[-shown.n_sentences :], bullets=_is_list(summary))


def worth_copying(text: str) -> list[str]:
    """Return sentences of *text* with five words or more and an end; the nearest ones if there is none."""
    found = [sentence.text for sentence in sentences(text)]
    long = [sentence for sentence in found if len(sentence.split()) >= _SHORTEST]
    whole = [sentence for sentence in long if sentence.endswith((".", "!", "?"))]
    return list(dict.fromkeys(whole or long or found))


def changed(sentence: str, draw: Random) -> str:
    """Return *sentence* with its numbers and every second content word changed; all words if it has neither."""
    found = list(_WORD.finditer(sentence))
    content = [word for word in found if _is_content(word[0])]
    numbers = [word for word in found if word[0][0].isdigit()]
    chosen = {word.start() for word in [*content[::2], *numbers] or found}
    return _WORD.sub(lambda word: _other(word[0], draw) if word.start() in chosen else word[0], sentence)


def _is_content(word: str) -> bool:
    return word.isalpha() and len(word) >= _SHORTEST_CONTENT and word.lower() not in STOP_WORDS


def _other(word: str, draw: Random) -> str:
    if word[0].isdigit():
        return "".join(str((int(c) + draw.randint(1, 9)) % 10) if c.isdecimal() else c for c in word)
    made = "".join(draw.choice(_CONSONANTS) + draw.choice(_VOWELS) for _ in range(_SYLLABLES))
    return made.capitalize() if word[0].isupper() else made


def statements(summary: str) -> list[str]:
    """Return the bullets of a list, without their marks, or the sentences of a text."""
    lines = summary.strip().split("\n")
    if _is_list(summary):
        return [line.removeprefix(_BULLET).strip() for line in lines if line.startswith(_BULLET)]
    return [sentence.text for sentence in sentences(summary)]


def _is_list(summary: str) -> bool:
    return summary.lstrip().startswith(_BULLET)


def _labelled(said: Iterable[str], *, bullets: bool) -> str:
    if bullets:
        return "\n".join([LABEL, *(_BULLET + statement for statement in said)])
    return f"{LABEL} {' '.join(said)}".strip()
