"""
Read more of a line than its words: their order, its numbers, its denials, its opposites and its limits.

Two statements contradict each other if one says the opposite of what the other says beside the same words (`declined`
and `possible`), or if one is limited (`only Enterprise`) to a part of what the other joins
(`Business and Enterprise`).

A denial reaches six words from its cue, as in NegEx (Chapman et al. 2001, which reads clinical notes that way), or to
the end of the sentence if a `that` follows the cue; it ends at a word that turns the sentence (`but`, `while`).

Numbers are written in one way: `twenty-seven`, `3.4 million`, `40 per cent`, `5 dollars`, `the 3rd`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain, pairwise
from typing import NamedTuple

from longform.text.words import stems, without_marks

_CUES = frozenset(
    """
    not no never none nobody nothing nowhere neither nor cannot hardly scarcely barely
    deny denies denied denying refute refutes refuted refuting false untrue incorrect
    """.split()
)
"""Not among them: `without`, which denies its object alone, and verbs of ending or failing, which tell what happened
and which another writer tells without them (`ceased to operate` is `closed`)."""

_NOT_DENYING = re.compile(
    r"\b(?:not only|not(?= (?:just|merely|simply|least)\b)|no(?= (?:doubt|matter)\b)|never(?= before\b))", re.IGNORECASE
)
_CONTRACTIONS = (
    (re.compile(r"\bcan['’]t\b", re.IGNORECASE), "can not"),
    (re.compile(r"\bwon['’]t\b", re.IGNORECASE), "will not"),
    (re.compile(r"n['’]t\b", re.IGNORECASE), " not"),
)
_PIECE = re.compile(r"\$?\d+(?:[.,]\d+)*%?|[^\W_]+|[.;:!?]", re.UNICODE)
_CLAUSE_ENDS = frozenset(". ; : ! ? but however although though while whereas despite instead yet because".split())
_DENIED_WORDS = 6
_WHOLE_SENTENCE = 1000
_LIMITS = frozenset("only solely exclusively".split())
_LIMITED_STEMS = 3
_BESIDE = 4
_JOINING = frozenset("and or plus".split())
_OPPOSITES = """
accept accepts accepted approve approved grant granted allow allows allowed permit permitted possible available \
authorized eligible free welcome enabled open : decline declined refuse refused reject rejected deny denied forbid \
forbidden prohibit prohibited ban banned impossible unavailable unauthorized ineligible blocked excluded disabled closed
improve better best benefit : worsen worse worst deteriorate harm
success succeed successful pass win won : failure fail unsuccessful lose lost
positive optimistic : negative pessimistic
support favor favour agree endorse : oppose disagree object objection
mandatory required compulsory obligatory must : optional voluntary
always every : never rarely seldom
most majority : few minority
easy simple : hard difficult complex
common frequent often : rare uncommon rarely
similar same alike : different differ unlike
effective significant able likely safe sufficient : ineffective insignificant unable unlikely unsafe insufficient
strong stronger high early fast faster cheap public : weak weaker low late slow slower expensive private
""".strip().splitlines()
"""Words of which those on one side say what those on the other deny; beside the same words, one of each contradicts."""
_TURNS = """
start begin began open launch : end stop finish close cease cancel
increase rise rose risen grow grew growth higher gain climb raise raised expand up : decrease fall fell fallen decline \
drop lower loss shrink shrank reduce reduction cut down
before earlier prior : after later following
above over exceed exceeding more greater larger longer : below under less fewer smaller shorter
include including with : exclude excluding without
""".strip().splitlines()
"""Opposites that a text has of many things: in a line and another of a long answer they do not contradict yet."""

_PAIR_REACH = 3
"""Stems: two words of a paraphrase keep their order with up to two others put between them."""


class Quantity(NamedTuple):
    """A number that a statement gives, with its unit ($, % or none) and the stems beside it."""

    value: str
    unit: str
    beside: frozenset[str]

    def could_be(self, other: Quantity) -> bool:
        """Return whether both measure the same thing, as far as unit and neighbouring words tell."""
        return self.unit == other.unit and not self.beside.isdisjoint(other.beside)


class Pole(NamedTuple):
    """A word that has an opposite: the place of the pair, which side the statement is on, and the stems beside it."""

    axis: int
    side: bool
    beside: frozenset[str]


class Statement(NamedTuple):
    """A bullet or an insight, read once."""

    stems: frozenset[str]
    neighbours: frozenset[tuple[str, str]]  # stems that follow each other at once
    in_order: frozenset[tuple[str, str]]  # stems of which the second follows within three
    denied: frozenset[str]
    quantities: tuple[Quantity, ...]
    poles: tuple[Pole, ...]
    limited: frozenset[str]  # stems that a word like `only` stands before
    joined: frozenset[tuple[str, str]]  # stems on both sides of an `and`

    def contradicts(self, other: Statement) -> bool:
        """Return whether one says the opposite of the other, or is limited to a part of what the other joins."""
        opposed = any(axis < len(_OPPOSITES) for axis in self._opposed(other))
        return opposed or self._limits(other) or other._limits(self)

    def opposes(self, other: Statement) -> bool:
        """Return whether one says the opposite of the other, turns (`rose` and `fell`) among them."""
        return bool(self._opposed(other))

    def _opposed(self, other: Statement) -> set[int]:
        """Return the axes of words that have an opposite in the other, beside the same words, and nothing like them."""
        return {
            mine.axis
            for mine in self.poles
            for theirs in other.poles
            if mine.axis == theirs.axis
            and mine.side != theirs.side
            and not mine.beside.isdisjoint(theirs.beside)
            and (mine.axis, mine.side) not in {(pole.axis, pole.side) for pole in other.poles}
            and (theirs.axis, theirs.side) not in {(pole.axis, pole.side) for pole in self.poles}
        }

    def _limits(self, other: Statement) -> bool:
        if not self.limited or other.limited:
            return False
        sides = (pair for one, two in other.joined for pair in ((one, two), (two, one)))
        return any(kept in self.limited and left not in self.stems for kept, left in sides)


@lru_cache(maxsize=1024)  # the insights of a haystack are looked for beside each of its queries
def read_statement(line: str) -> Statement:
    """Read a line without its citations and list marker."""
    text = _NOT_DENYING.sub("", _without_contractions(without_marks(line)))
    kept: list[str] = []
    denied: set[str] = set()
    numbers: list[tuple[str, str, int]] = []
    poles: list[tuple[int, bool, int]] = []
    limits: list[int] = []
    joints: list[int] = []
    reach = 0
    for piece in _PIECE.findall(text):
        word, found, unit = _read_piece(piece)
        if reach or word in _CUES:
            reach = _reach_after(word, reach)
        if unit is not None:
            numbers.append((found[0], unit, len(kept)))
        poles += [(axis, side ^ bool(reach), len(kept)) for axis, side in _axes().get(word, ())]
        limits += [len(kept)] if word in _LIMITS else []
        joints += [len(kept)] if word in _JOINING else []
        if reach and word not in _CUES:
            denied.update(found)
        kept.extend(found)
    neighbours = frozenset(pair for pair in pairwise(kept) if pair[0] != pair[1])
    return Statement(
        frozenset(kept),
        neighbours,
        _in_order(kept),
        frozenset(denied),
        _quantities(numbers, kept),
        tuple(Pole(axis, side, _beside(kept, at)) for axis, side, at in poles),
        frozenset(stem for at in limits for stem in kept[at : at + _LIMITED_STEMS]),
        frozenset((kept[at - 1], kept[at]) for at in joints if 0 < at < len(kept)),
    )


@lru_cache(maxsize=1)
def _axes() -> Mapping[str, list[tuple[int, bool]]]:
    """Map each word that has an opposite to its pairs and its side there."""
    found: dict[str, list[tuple[int, bool]]] = {}
    for axis, line in enumerate([*_OPPOSITES, *_TURNS]):
        for side, words in zip((True, False), line.split(":"), strict=True):
            for word in words.split():
                for form in (word, f"{word}s", f"{word}d", f"{word}ed", f"{word}ing"):
                    found.setdefault(form, []).append((axis, side))
    return found


def _beside(kept: Sequence[str], at: int) -> frozenset[str]:
    return frozenset([*kept[max(0, at - _BESIDE) : at], *kept[at + 1 : at + _BESIDE + 1]])


def _without_contractions(text: str) -> str:
    if "'" in text or "’" in text:
        for contraction, expanded in _CONTRACTIONS:
            text = contraction.sub(expanded, text)
    return text


def _reach_after(word: str, reach: int) -> int:
    """Return how many words are still denied, this one counted; a second denial cancels the first."""
    if word in _CLAUSE_ENDS:
        return 0
    if word in _CUES:
        return 0 if reach else _DENIED_WORDS + 1
    return _WHOLE_SENTENCE if word == "that" else reach - 1


@lru_cache(maxsize=200_000)
def _read_piece(piece: str) -> tuple[str, tuple[str, ...], str | None]:
    """Return the piece in lower case, its stems, and its unit if it is a number; `one` is no number as a rule."""
    word = piece.lower()
    found = tuple(stems(word))
    is_number = len(found) == 1 and found[0][0].isdigit() and word != "one"
    return word, found, ("$" if "$" in piece else "%" if "%" in piece else "") if is_number else None


def _in_order(kept: Sequence[str]) -> frozenset[tuple[str, str]]:
    return frozenset(chain.from_iterable(zip(kept, kept[step:], strict=False) for step in range(1, _PAIR_REACH + 1)))


def _quantities(numbers: Sequence[tuple[str, str, int]], kept: Sequence[str]) -> tuple[Quantity, ...]:
    return tuple(
        Quantity(value, unit, frozenset(stem for stem in kept[max(0, place - 2) : place + 3] if not stem[0].isdigit()))
        for value, unit, place in numbers
    )


# ---------------------------------------------------------------- numbers

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS = {word: 10 * n for n, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), 2)}
_WORTH = {**{word: n for n, word in enumerate(_SMALL)}, **_TENS, "a": 1, "an": 1}
_SCALES = {"hundred": 2, "thousand": 3, "k": 3, "million": 6, "mn": 6, "billion": 9, "bn": 9, "trillion": 12}
_ORDINALS = {word: n for n, word in enumerate("third fourth fifth sixth seventh eighth ninth tenth".split(), 3)}

_TENS_AND_ONE = re.compile(rf"\b({'|'.join(_TENS)})[- ]({'|'.join(_SMALL[1:10])})\b", re.IGNORECASE)
_SCALED = re.compile(
    rf"(?:\b({'|'.join(_WORTH)})[ -]|(\d+(?:,\d{{3}})*(?:\.\d+)?)[ -]?)({'|'.join(_SCALES)})s?\b", re.IGNORECASE
)
_SHARE = re.compile(rf"\b({'|'.join([*_SMALL, *_TENS])})(?= (?:percent|per cent|pct)\b)", re.IGNORECASE)
_ORDINAL = re.compile(rf"(?<!\ba )(?<!\bone )\b({'|'.join(_ORDINALS)})\b", re.IGNORECASE)
_RULES = (
    (re.compile(r"(?<=\d)(?:st|nd|rd|th)\b", re.IGNORECASE), ""),
    (re.compile(r"(?<=\d) ?(?:percent|per cent|pct)\b", re.IGNORECASE), "%"),
    (re.compile(r"\b(?:USD ?|US\$)(?=\d)"), "$"),
    (re.compile(r"(?<![\d.,$])(\d[\d.,]*) ?(?:US )?(?:dollars?|USD)\b", re.IGNORECASE), r"$\1"),
    (re.compile(r"\b(\d{1,2})[:.]00 ?(?=[ap]\.?m\b)", re.IGNORECASE), r"\1 "),
)


@lru_cache(maxsize=4096)  # sentences are read beside each document
def plain_numbers(text: str) -> str:
    """Return *text* with its numbers as digits, percentages behind `%` and dollars behind `$`."""
    text = _TENS_AND_ONE.sub(lambda match: str(_WORTH[match[1].lower()] + _WORTH[match[2].lower()]), text)
    for _ in range(2):  # three hundred thousand
        text = _SCALED.sub(_product, text)
    text = _SHARE.sub(lambda match: str(_WORTH[match[1].lower()]), text)
    text = _ORDINAL.sub(lambda match: str(_ORDINALS[match[1].lower()]), text)
    for pattern, plain in _RULES:
        text = pattern.sub(plain, text)
    return text


def _product(match: re.Match[str]) -> str:
    worth, digits, scale = match.groups()
    number = _WORTH[worth.lower()] if worth else float(digits.replace(",", ""))
    return f"{number * 10 ** _SCALES[scale.lower()]:.15g}"
