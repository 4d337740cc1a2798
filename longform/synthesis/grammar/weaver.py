"""
Weave sentences from clauses, so that no long skeleton comes twice in a haystack.

A topic's file holds clauses of a few kinds; a pattern joins them. Every list is used up in a drawn order before a line
of it comes again, so that all documents draw evenly; a sentence whose skeleton was written before is drawn anew. What
belongs together is one pattern of several sentences or turns: somebody is named and then spoken of again, a question
has its answer.

A statement is put into many forms, by rule, none of which changes its meaning:

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
from collections import deque
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from longform.errors import UsageError
from longform.synthesis.grammar.topic import (
    MOVABLE,
    SLOT,
    SYMBOL,
    Cast,
    Subtopic,
    Topic,
    Value,
    form,
    number_in_words,
    tidied,
)

LONG = 8
"""Skeletons of sentences with more words than this are never repeated; "Good to know." may be."""

_WORD = re.compile(r"[^\W_]+(?:['’.,:][^\W_]+)*")
_NUMBER_WORDS = frozenset(number_in_words(number) for number in range(2, 20)) | frozenset(
    number_in_words(number) for number in range(20, 100, 10)
)
_NAME, _NUMBER = "_", "#"

_CHOICE = re.compile(r"\[([^\[\]]*)\]")
_ENDS = re.compile(r"(?<=[.?!])[”\"]?\s+")
TURN = " / "
"""Between two turns of one pattern."""

_BEGINNING = re.compile(r"(?:^|[.?!–/]\s+|:\s(?=“))[“\"]?[a-z]")
_TRIES = 400
_RECENT = 40  # words of names: of two that are the same one is soon taken for the other


class Weaver:
    """The prose of one haystack, and a memory of its sentences."""

    def __init__(self, topic: Topic, cast: Cast, rng: np.random.Generator) -> None:
        self._topic = topic
        self._cast = cast
        self._rng = rng
        self._decks: dict[tuple[str, str], Iterator[Value]] = {}
        self._said: set[str] = set()
        self._last: dict[str, Value] = {}  # slot -> what it was filled with last
        self._recent: deque[str] = deque(maxlen=_RECENT)  # words of names

    def sentence(self, symbol: str, subtopic: Subtopic | None = None) -> str:
        """
        A sentence of that symbol, or some, in a subtopic's field; its long skeletons are new to the haystack.

        Between turns of several speakers stands `TURN`.

        Raises:
            UsageError: The topic has no more such sentences to give.
        """
        for _ in range(_TRIES):
            text = sentence_case(self.phrase(f"<{symbol}>", subtopic))
            long = {skeleton(part) for part in _ENDS.split(text) if n_words(part) > LONG}
            if not long & self._said:
                self._said |= long
                return text
        place = f" of subtopic {subtopic.name!r}" if subtopic else ""
        msg = f"no {symbol}{place} in {_TRIES} draws has words that the haystack does not have; ask for fewer or "
        raise UsageError(msg + "shorter documents, or give the topic more lines")

    def phrase(self, template: str, subtopic: Subtopic | None = None) -> str:
        """A template with choices taken, symbols replaced and slots filled."""
        woven = self._woven(template, subtopic)
        return tidied(SLOT.sub(lambda match: self._value(match[1], match[2]), woven))

    def one_of(self, lines: Sequence[str], key: str) -> str:
        """The next line of a list that goes by *key*."""
        return str(self._next((key, ""), lines))

    def _woven(self, template: str, subtopic: Subtopic | None) -> str:
        chosen = _CHOICE.sub(lambda match: picked(match[1].split("|"), self._rng), template)
        return SYMBOL.sub(lambda match: self._woven(self._line(match[1], subtopic), subtopic), chosen)

    def _line(self, symbol: str, subtopic: Subtopic | None) -> str:
        if subtopic is not None:
            own = subtopic.distractors if symbol == "distractor" else subtopic.clauses.get(symbol)
            if own:
                return str(self._next((symbol, subtopic.name), own))
        return str(self._next((symbol, ""), self._topic.stock[symbol]))

    def _value(self, slot: str, how: str | None) -> str:
        if how == "again":
            return self._named_again(slot)
        passing = self._cast.passing.get(slot)
        value = self._cast.values[slot] if passing is None else self._passing(slot, passing)
        self._last[slot] = value
        return form(value, in_words=how == "words")

    def _passing(self, slot: str, things: Sequence[Value]) -> Value:
        """Return the next name or number of a slot; if names have two words, none shared with the last few."""
        for _ in things:
            value = self._next(("{}", slot), things)
            names = str(value).split()
            if len(names) == 1 or not set(names) & set(self._recent):
                break
        self._recent.extend(names)
        return value

    def _named_again(self, slot: str) -> str:
        """Return the name that the slot had last: the first name in conversations, the last one in articles."""
        names = str(self._last[slot]).split()
        return names[0] if self._topic.domain == "conversation" else names[-1]

    def _next(self, key: tuple[str, str], things: Sequence[Value]) -> Value:
        if key not in self._decks:
            self._decks[key] = _in_turn(things, self._rng)
        return next(self._decks[key])


def picked(options: Sequence[str], rng: np.random.Generator) -> str:
    """Return one of *options*, each as likely as another."""
    return options[int(rng.integers(len(options)))]


def sentence_case(text: str) -> str:
    """Begin each sentence with a capital, behind an opening quotation mark too."""
    return _BEGINNING.sub(lambda match: match[0].upper(), text)


def _in_turn(things: Sequence[Value], rng: np.random.Generator) -> Iterator[Value]:
    """Yield all things in a drawn order, then all in another, without end; late ones do not come early again."""
    order: list[int] = []
    while True:
        drawn, third = rng.permutation(len(things)).tolist(), len(things) // 3
        late = order[len(order) - third :]
        early = [place for place in drawn if place not in late][:third]
        order = early + [place for place in drawn if place not in early]
        for place in order:
            yield things[place]


def skeleton(sentence: str) -> str:
    """
    Words in lower case; a run of capitalised words is `_`, a number in digits or words `#`.

    `On 14 March Marta Ellingsen paid £20` -> `_ # _ paid #`. Masks more than need be (the first word of a sentence,
    weekdays, `I`), so that what differs here differs in a common word.
    """
    masked: list[str] = []
    for word in _WORD.findall(sentence):
        mark = _mask(word)
        if mark is None:
            masked.append(word)
        elif not masked or masked[-1] != mark:
            masked.append(mark)
    return " ".join(masked)


def n_words(sentence: str) -> int:
    """Words between spaces (`Keg & Stave` is three) or between any marks (`far-off` is two), whichever are more."""
    return max(len(sentence.split()), len(_WORD.findall(sentence)))


def _mask(word: str) -> str | None:
    if any(character.isdigit() for character in word) or word.lower() in _NUMBER_WORDS:
        return _NUMBER
    return _NAME if word[0].isupper() else None


# ---------------------------------------------------------------- paraphrases


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
        return self._known.sub(lambda match: picked([match[0], *self._others[match[0]]], rng), template)


def rewritten(clause: str, rng: np.random.Generator, *, spoken: bool) -> str:
    """Return a clause with its numbers, dates and, if spoken, verbs in one of their forms."""
    text = clause
    if rng.random() < 0.5:
        text = _SMALL_NUMBER.sub(lambda match: number_in_words(int(match[0])), text)
    text = _DATE.sub(lambda match: _date(match, rng), text)
    text = _PER_CENT.sub(lambda match: match[1] + picked((" per cent", " percent", "%"), rng), text)
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
    return picked((f"{day} {month}", f"{month} {day}", f"the {_ordinal(day)} of {month}"), rng)


def _ordinal(day: int) -> str:
    ending = "th" if 10 <= day <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"
