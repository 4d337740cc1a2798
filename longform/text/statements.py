"""
Read more of a line than its words: their order, its numbers, and its denials.

A denial reaches six words from its cue, as in NegEx (Chapman et al. 2001, which reads clinical notes that way), or to
the end of the sentence if a `that` follows the cue; it ends at a word that turns the sentence (`but`, `while`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
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
    r"\b(?:not(?= (?:only|just|merely|simply|least)\b)|no(?= (?:doubt|matter)\b)|never(?= before\b))", re.IGNORECASE
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


class Statement(NamedTuple):
    """A bullet or an insight, read once."""

    stems: frozenset[str]
    neighbours: frozenset[tuple[str, str]]  # stems that follow each other at once
    in_order: frozenset[tuple[str, str]]  # stems of which the second follows within three
    denied: frozenset[str]
    quantities: tuple[Quantity, ...]


@lru_cache(maxsize=1024)  # the insights of a haystack are looked for beside each of its queries
def read_statement(line: str) -> Statement:
    """Read a line without its citations and list marker."""
    text = _NOT_DENYING.sub("", _without_contractions(without_marks(line)))
    kept: list[str] = []
    denied: set[str] = set()
    numbers: list[tuple[str, str, int]] = []
    reach = 0
    for piece in _PIECE.findall(text):
        word, found, unit = _read_piece(piece)
        if reach or word in _CUES:
            reach = _reach_after(word, reach)
        if unit is not None:
            numbers.append((found[0], unit, len(kept)))
        if reach and word not in _CUES:
            denied.update(found)
        kept.extend(found)
    neighbours = frozenset(pair for pair in pairwise(kept) if pair[0] != pair[1])
    return Statement(frozenset(kept), neighbours, _in_order(kept), frozenset(denied), _quantities(numbers, kept))


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
