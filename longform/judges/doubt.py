"""Read each word of a sentence beside the words of a document that could say it, and doubt those that none does."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from longform.judges.claims import plain_numbers
from longform.text.vectors import TextVectors
from longform.text.words import STOP_WORDS, stems, words

DENIALS = frozenset(
    """
    not no never none nobody nothing nowhere neither nor cannot without lack lacks lacking fail fails failed unable
    instead despite refuse refuses refused decline declines declined deny denies denied avoid avoids reject rejects
    rejected hardly barely unlikely opposed t
    """.split()
)
LIMITS = frozenset(
    """
    only solely exclusively just all every always entire entirely fully completely any each most few many some several
    mainly primarily majority both never none
    """.split()
)
MODALS = frozenset(
    """
    may might could can must should will would required requires mandatory optional possible possibly likely probably
    plan plans expect expects
    """.split()
)
RELATIONS = frozenset(
    """
    not no never without before after more less than only under over above below against until since because although
    despite except nor neither both all every few most least first last
    """.split()
)
"""Function words that change what a sentence says."""

WORD_SIGNALS = (
    "likeness least_piece standing before behind in_document in_nearest in_first function_word new_in_document "
    "new_in_nearest new_function_word likeness_if_new weight number new_number name new_name denial new_denial limit "
    "new_limit modal new_modal letters pieces place length mean_likeness"
).split()

_NAME = re.compile(r"(?<=[\w,;:)\"'’-] )(?:[A-Z][\w&'’-]*)")
_DEVIATION = 0.03
"""Added to the deviation of likenesses, so that a sentence copied word for word has no outlier."""

Array = NDArray[np.float64]
_Forms = tuple[tuple[str, str], ...]


class Beside(NamedTuple):
    """Words and stems of some sentences of a document."""

    words: frozenset[str]
    stems: frozenset[str]

    @classmethod
    def of(cls, sentence: str) -> Beside:
        plain = plain_numbers(sentence)
        return cls(frozenset(words(plain)), frozenset(stems(plain)))

    @classmethod
    def joined(cls, some: Sequence[Beside]) -> Beside:
        return cls(frozenset().union(*(one.words for one in some)), frozenset().union(*(one.stems for one in some)))

    def hold(self, word: str, stem: str) -> bool:
        """Return whether a word, or one of its stem, is among them."""
        return word in self.words or stem in self.stems


class WordReading(NamedTuple):
    """The words of a sentence beside a document."""

    words: tuple[str, ...]  # in lower case, in order
    signals: NDArray[np.float32]  # `WORD_SIGNALS` of each, shape (words, signals)
    said: NDArray[np.float16]  # mean vector of each word's pieces, shape (words, dimensions)
    change: NDArray[np.float16]  # the same less that of the pieces most like them, shape (words, dimensions)
    least: float  # least likeness of a content word, 1 if there is none
    recall: float  # mean likeness of content words, weighed by how rare they are
    least_function_word: float  # least likeness of one of `RELATIONS`, 1 if there is none

    @classmethod
    def joined(cls, readings: Sequence[WordReading]) -> WordReading:
        """Return the words of several sentences as of one; the last three are not joined."""
        first = readings[0]
        return first._replace(
            words=tuple(word for one in readings for word in one.words),
            signals=np.concatenate([one.signals for one in readings]),
            said=np.concatenate([one.said for one in readings]),
            change=np.concatenate([one.change for one in readings]),
        )


def names_of(text: str) -> set[str]:
    """Return the words with a capital, but for the first of the sentence, in lower case."""
    return {word for name in _NAME.findall(text) for word in words(name)}


def read_words(
    text: str,
    read: TextVectors,
    near: Sequence[TextVectors],
    beside: tuple[Beside, Beside, Beside],
    idf: Callable[[str], float],
) -> WordReading:
    """
    Read the words of a sentence.

    *read* has its vectors and *near* those of the nearest sentences of the document. *beside* are the words of the
    document, of its nearest sentences, and of the first of them. *idf* gives the weight of a stem in the document.
    """
    forms, first, sizes = _said(read.pieces)

    def mean(of: NDArray[np.float32]) -> NDArray[Any]:  # of each word's pieces, one after the other
        total = of[first]
        for at in range(1, int(sizes.max())):
            total[sizes > at] += of[first[sizes > at] + at]
        return total / sizes[:, None].astype(np.float32)

    held = np.concatenate([one.tokens for one in near]).astype(np.float32)
    tokens = read.tokens.astype(np.float32)
    likeness = tokens @ held.T
    best, match = likeness.max(axis=1), held[likeness.argmax(axis=1)]
    likely, least = np.array([best[first], best[first]], dtype=np.float64)
    for at in np.flatnonzero(sizes > 1).tolist():
        of_word = best[first[at] : first[at] + sizes[at]]
        likely[at], least[at] = of_word.mean(), of_word.min()
    weights = np.array([0.0 if word in STOP_WORDS else idf(stem) for word, stem in forms])
    content, relations = weights > 0, np.array([word in RELATIONS for word, _ in forms])
    vectors = mean(tokens)
    return WordReading(
        tuple(word for word, _ in forms),
        _signals(forms, (likely, least, sizes), weights, beside, names_of(text)),
        vectors.astype(np.float16),
        (vectors - mean(match)).astype(np.float16),
        float(likely[content].min()) if content.any() else 1.0,
        float(np.average(likely[content], weights=weights[content])) if content.any() else 1.0,
        float(likely[relations].min()) if relations.any() else 1.0,
    )


@lru_cache(maxsize=1024)  # a summary's sentences are read beside each document
def _said(pieces: tuple[str, ...]) -> tuple[_Forms, NDArray[np.int64], NDArray[np.int64]]:
    """Return the words that *pieces* spell, each with its stem; the places of their first pieces; how many each has."""
    runs: list[tuple[int, str, int]] = []
    for place, piece in enumerate(pieces):
        start, word, n = runs.pop() if piece.startswith("##") and runs else (place, "", 0)
        runs.append((start, word + piece.removeprefix("##"), n + 1))
    first, said, sizes = zip(*(run for run in runs if any(map(str.isalnum, run[1]))), strict=True)
    return tuple((word, (stems(word) or [word])[0]) for word in said), np.array(first), np.array(sizes)


def _signals(
    forms: _Forms,
    likeness: tuple[Array, Array, NDArray[np.int64]],
    weights: Array,
    beside: tuple[Beside, Beside, Beside],
    names: set[str],
) -> NDArray[np.float32]:
    """Return `WORD_SIGNALS`, shape (words, signals)."""
    said, (likely, least, sizes), (document, nearest, first) = [word for word, _ in forms], likeness, beside
    mean, spread, n = likely.mean(), likely.std() + _DEVIATION, len(said)
    around = np.concatenate([[mean], likely, [mean]])
    is_function = np.array([word in STOP_WORDS for word in said], dtype=np.float64)
    new = 1.0 - np.array([document.hold(*one) for one in forms])
    unlike = 1.0 - np.array([nearest.hold(*one) for one in forms])
    kinds = {
        "number": [word[0].isdigit() for word in said],
        "name": [word in names for word in said],
        "denial": [word in DENIALS for word in said],
        "limit": [word in LIMITS for word in said],
        "modal": [word in MODALS for word in said],
    }
    kind = {name: np.array(flags, dtype=np.float64) for name, flags in kinds.items()}
    columns = {
        "likeness": likely,
        "least_piece": least,
        "standing": (likely - mean) / spread,
        "before": around[:-2],
        "behind": around[2:],
        "in_document": 1 - new,
        "in_nearest": 1 - unlike,
        "in_first": np.array([word in first.words for word in said], dtype=np.float64),
        "function_word": is_function,
        "new_in_document": new * (1 - is_function),
        "new_in_nearest": unlike * (1 - is_function),
        "new_function_word": unlike * is_function,
        "likeness_if_new": likely * new,
        "weight": weights,
        **kind,
        **{f"new_{name}": kind[name] * (new if name in ("number", "name") else unlike) for name in kind},
        "letters": np.array([len(word) for word in said], dtype=np.float64),
        "pieces": sizes > 1,
        "place": np.arange(n) / n,
        "length": np.full(n, np.log(n)),
        "mean_likeness": np.full(n, mean),
    }
    return np.stack([columns[name] for name in WORD_SIGNALS], axis=1).astype(np.float32)


class DoubtModel(NamedTuple):
    """A linear model of words: the larger, the less does the document say the word."""

    signals: tuple[float, ...]  # one weight for each of `WORD_SIGNALS`
    said: tuple[float, ...]  # one weight for each dimension of the word's vector
    change: tuple[float, ...]  # one weight for each dimension of the difference
    intercept: float

    def of(self, reading: WordReading) -> Array:
        """Return the doubt of each word, shape (words,)."""
        return np.asarray(
            reading.signals @ np.array(self.signals)
            + reading.said @ np.array(self.said)
            + reading.change @ np.array(self.change)
            + self.intercept
        )

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "signals": dict(zip(WORD_SIGNALS, self.signals, strict=True))}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> DoubtModel:
        signals = tuple(content["signals"][name] for name in WORD_SIGNALS)
        return cls(signals, tuple(content["said"]), tuple(content["change"]), content["intercept"])
