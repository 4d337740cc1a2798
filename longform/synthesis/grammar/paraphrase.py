"""
Put one statement into many forms, by rule, none of which changes its meaning.

- words marked as movable stand at the end or at the beginning;
- words are exchanged for others that the topic's file gives for them;
- a small number in digits or in words;
- a date as `14 March`, `March 14` or `the 14th of March`;
- `per cent`, `percent` or `%`;
- with a speaker, before or after, or without one;
- in conversations, contractions (`it is`, `it's`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from longform.synthesis.grammar.topic import MOVABLE, number_in_words, tidied

_MONTHS = "January February March April May June July August September October November December".split()
_DATE = re.compile(rf"\b(\d{{1,2}}) ({'|'.join(_MONTHS)})\b")
_SMALL_NUMBER = re.compile(r"(?:(?<=^)|(?<=\s))(?:[2-9]|1\d)(?=\s[a-z])")
_PER_CENT = re.compile(r"\b(\d+) per cent\b")
_ATTRIBUTED = 0.45  # of the statements
_CONTRACTIONS = {
    "it is": "it's", "that is": "that's", "we are": "we're", "they are": "they're", "we have": "we've", "I am": "I'm",
    "I have": "I've", "we will": "we'll", "they will": "they'll", "do not": "don't", "does not": "doesn't",
    "will not": "won't", "cannot": "can't", "is not": "isn't", "was not": "wasn't", "did not": "didn't",
}  # fmt: skip
_CONTRACTED = re.compile(rf"\b(?:{'|'.join(_CONTRACTIONS)})\b(?= [a-z])", re.IGNORECASE)

Phrase = Callable[[str], str]
"""A template -> its text."""


def moved(wording: str, rng: np.random.Generator) -> str:
    """A wording's template with its movable words at the end or, after the choice of the rest, at the beginning."""
    rest, mark, movable = wording.partition(MOVABLE)
    if not mark:
        return wording
    return f"{movable}, {rest}" if rng.random() < 0.5 else f"{rest} {movable}"


class Synonyms:
    """Words that may be exchanged for others, from lines of `one | another`; a word may stand in several lines."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._others: dict[str, list[str]] = {}
        for line in lines:
            group = [words.strip() for words in line.split("|")]
            self._others.setdefault(group[0], []).extend(group[1:])
        longest = sorted(self._others, key=len, reverse=True)
        self._known = re.compile(rf"(?<![\w{{-])(?:{'|'.join(map(re.escape, longest))})(?![\w}}-])")

    def exchanged(self, template: str, rng: np.random.Generator) -> str:
        """The template with some of its words, never its slots, exchanged."""
        return self._known.sub(lambda match: self._one_of(match[0], rng), template)

    def _one_of(self, words: str, rng: np.random.Generator) -> str:
        options = [words, *self._others[words]]
        return options[int(rng.integers(len(options)))]


def rewritten(clause: str, rng: np.random.Generator, *, spoken: bool) -> str:
    """Return a clause with its numbers, dates and, if spoken, verbs in one of their forms."""
    text = clause
    if rng.random() < 0.5:
        text = _SMALL_NUMBER.sub(lambda match: number_in_words(int(match[0])), text)
    text = _DATE.sub(lambda match: _date(match, rng), text)
    text = _PER_CENT.sub(lambda match: match[1] + (" per cent", " percent", "%")[int(rng.integers(3))], text)
    return contracted(text) if spoken and rng.random() < 0.7 else text


def attributed(clause: str, rng: np.random.Generator, phrase: Phrase) -> str:
    """Return the clause as a sentence without its capital, with or without a speaker."""
    if rng.random() >= _ATTRIBUTED:
        return f"{clause}."
    if rng.random() < 0.5:
        return tidied(f"{phrase('<according>')}, {clause}.")
    return tidied(f"{clause}, {phrase('<says>')}.")


def contracted(text: str) -> str:
    """`It is` -> `It's`, as people speak."""
    return _CONTRACTED.sub(_contraction, text)


def _contraction(match: re.Match[str]) -> str:
    short = _CONTRACTIONS.get(match[0]) or _CONTRACTIONS[match[0].lower()]
    return short[0].upper() + short[1:] if match[0][0].isupper() else short


def _date(match: re.Match[str], rng: np.random.Generator) -> str:
    day, month = int(match[1]), match[2]
    return (f"{day} {month}", f"{month} {day}", f"the {_ordinal(day)} of {month}")[int(rng.integers(3))]


def _ordinal(day: int) -> str:
    ending = "th" if 10 <= day <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"
