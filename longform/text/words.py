"""Words, stems and numbers of a text, as the retrievers, the offline judge and the offline summarizer read it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import log
from typing import NamedTuple

import Stemmer

STOP_WORDS = frozenset(
    """
    a about above after again against all also although am among an and any are as at be because been before being
    below between both but by can cannot could did do does doing done down during each either else ever every few for
    from further had has have having he her here hers herself him himself his how however i if in into is it its itself
    just let me might more most much must my myself neither no nor not now of off on once one only onto or other ought
    our ours ourselves out over own per quite rather same shall she should since so some such than that the their
    theirs them themselves then there these they this those though through thus to too toward under until up upon us
    very was we were what when where whether which while who whom whose why will with within without would yet you your
    yours yourself yourselves
    """.split()
)
"""English closed-class words; our own list, so that no download decides a score."""

_NUMBER_WORDS = {
    word: str(value)
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty".split()
    )
} | {"thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "seventy": "70", "eighty": "80", "ninety": "90"}

_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+", re.UNICODE)
_CITATION = re.compile(r"\[[^\[\]]*\d[^\[\]]*\]")
_LIST_MARKER = re.compile(r"^\s*(?:[-*•–]\s+|\(?\d{1,2}[.)]\s+)")


@lru_cache(maxsize=1)
def _stemmer() -> Stemmer.Stemmer:
    return Stemmer.Stemmer("english")


@lru_cache(maxsize=200_000)
def _stem(word: str) -> str:
    return str(_stemmer().stemWord(word))


def words(text: str) -> list[str]:
    """Return lower-case words and numbers, in order, stop words included. `$2,330.50` is `2330.5`, `five` is `5`."""
    return [_normal(token) for token in _TOKEN.findall(text.lower())]


def stems(text: str) -> list[str]:
    """Return Snowball stems and numbers, in order, without stop words."""
    return [token if token[0].isdigit() else _stem(token) for token in words(text) if token not in STOP_WORDS]


def numbers(text: str) -> set[str]:
    """Return the distinct numbers that a text states, as digits or words."""
    return {token for token in words(text) if token[0].isdigit()}


def _normal(token: str) -> str:
    if not token[0].isdigit():
        return _NUMBER_WORDS.get(token, token)
    plain = token.replace(",", "")
    if "." in plain:
        plain = plain.rstrip("0").rstrip(".") if plain.count(".") == 1 else plain
    return plain


def without_marks(line: str) -> str:
    """Return a bullet without its list marker, bracket groups that hold a digit, and `**`."""
    return _CITATION.sub("", _LIST_MARKER.sub("", line)).replace("**", "").strip()


def inverse_document_frequency(texts: Iterable[Iterable[str]]) -> Mapping[str, float]:
    """
    Map each stem to ln((n + 1) / (df + 0.5)) over *texts* (stems of one text each); unseen stems are `unseen_idf(n)`.

    Measured on SummHay: with the haystack's own insights as *texts*, recall of an insight's mass in its best bullet
    correlates 0.73 with people (offline judge).
    """
    frequency: dict[str, int] = {}
    count = 0
    for text in texts:
        count += 1
        for stem in set(text):
            frequency[stem] = frequency.get(stem, 0) + 1
    return {stem: log((count + 1) / (df + 0.5)) for stem, df in frequency.items()}


def unseen_idf(n_texts: int) -> float:
    """Return the weight of a stem that no text holds."""
    return log(2 * (n_texts + 1))


class TermWeights(NamedTuple):
    """Inverse document frequency of terms, as stems or word pieces; a term that no text holds weighs `unseen`."""

    known: Mapping[str, float]
    unseen: float

    @classmethod
    def of(cls, texts: Sequence[Iterable[str]]) -> TermWeights:
        """Return the weights of terms among *texts*, given as the terms of each."""
        return cls(inverse_document_frequency(texts), unseen_idf(len(texts)))

    def each(self, terms: Iterable[str]) -> list[float]:
        """Return the weight of each term, in order."""
        return [self.known.get(term, self.unseen) for term in terms]

    def total(self, terms: frozenset[str]) -> float:
        """Return the sum of the weights of a set."""
        # sorted: the order of a set changes with the process, and with it the last digits of a sum
        return sum(self.each(sorted(terms)))
