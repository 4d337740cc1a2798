"""
The offline support judge: the probability that a document supports a claim of one sentence or several.

Each sentence of a claim is laid beside the document's sentences nearest to it in words and meaning, and each of its
words beside the word there that it is most like, by the vectors of their pieces. A word's *doubt* says how far it is
one that the document does not say in this place: from its likeness and that of its neighbours, from what kind of word
it is (a number, a name, a denial, a limit), from its vector and from the difference of both vectors. A claim in which
one word was changed differs from a faithful one in its greatest doubt, and in little else.

The model joins the greatest doubts with what is missing from the document as a whole: numbers, names, denials and
limits, the claim's pieces (`token_recall`), and its runs of three words that stand there as they are (`verbatim`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from longform.judges.claims import plain_numbers, read_statement
from longform.judges.doubt import DENIALS, LIMITS, Beside, DoubtModel, WordReading, names_of, read_words
from longform.models import read_model
from longform.support.index import WINDOW, SupportIndex
from longform.text.sentences import sentences
from longform.text.vectors import TextReader, TextVectors
from longform.text.words import stems, without_marks, words

VERSION = "3"
"""Changes with any change of a signal."""

NEAREST = 6
"""Sentences of a document beside which a sentence of a claim is read."""

ENOUGH_RECALL = 0.65
"""Token recall above which more says nothing: the median of faithful summaries that use words of their own."""

SIGNALS = ("doubt", "doubts", "denials", "denied", "numbers", "names", "limits", "function_words")
"""The signals whose weights are fitted; `GIVEN` holds those that are not."""

RELATED_RECALL = 0.4
"""Token recall below which a claim is hardly about the document: that of one in a hundred faithful summaries."""

GIVEN: Mapping[str, float] = {"token_recall": 3.0, "verbatim": 1.0, "unrelated": -4.0}
"""
Log odds by a token recall of 1, by a claim that stands in the document as it is, and by one of which the document has
nothing; not fitted, as they are of no use within SummEdits, all of whose claims are about their document. Chosen with
its five domains, WiCE's development part and LongEval's sentences in sight.
"""

Array = NDArray[np.float64]


class Evidence(NamedTuple):
    """
    The evidence that one document and one claim share.

    `window` is where its first sentence has most of its words: its first sentence, from 0, and its text.
    """

    words: WordReading
    signals: Mapping[str, float]  # but for the doubts
    recall_3: float
    cosine: float
    window: tuple[int, str]


class SupportDocument:
    """A document, ready to support claims; the index is of it alone, and has vectors."""

    def __init__(self, index: SupportIndex) -> None:
        self.index = index
        self.statement = cache(lambda place: read_statement(index.sentences[place]))
        self._beside = cache(lambda place: Beside.of(index.sentences[place]))

    @cached_property
    def whole(self) -> Beside:
        return self.beside(range(len(self.index.sentences)))

    def beside(self, places: Iterable[int]) -> Beside:
        return Beside.joined([self._beside(place) for place in places])

    def nearest(self, said: Sequence[str], vectors: NDArray[np.float32]) -> list[list[int]]:
        """Return the places of the sentences nearest to each text, by shared words and meaning, nearest first."""
        recall = self.index.window_recall([stems(text) for text in said], 1)
        scores = recall + vectors @ self.index.vectors.T
        return [np.argsort(-row, kind="stable")[:NEAREST].tolist() for row in scores]


@lru_cache(maxsize=1024)
def claim_sentences(claim: str) -> tuple[str, ...]:
    """Return the sentences of a claim that hold a word."""
    return tuple(one.text for one in sentences(without_marks(claim)) if words(one.text))


def evidence(document: SupportDocument, claims: Sequence[str], reader: TextReader) -> list[Evidence]:
    """
    Return each claim's evidence in a document; claims have words.

    Raises:
        ValueError: The index has no vectors, or not exactly one document with a sentence.
    """
    index = document.index
    if len(index.bounds) != 2 or not index.sentences:
        raise ValueError(f"expected one document with text, got {len(index.bounds) - 1} documents")
    parts = [claim_sentences(claim) for claim in claims]
    alone = list(dict.fromkeys(text for of_claim in parts for text in of_claim))
    read = dict(zip(alone, reader.read(alone), strict=True))
    vectors = np.stack([read[text].sentence for text in alone])
    places = dict(zip(alone, document.nearest(alone, vectors), strict=True))
    wanted = sorted({place for found in places.values() for place in found})
    near = dict(zip(wanted, reader.read([index.sentences[place] for place in wanted]), strict=True))
    cosines = dict(zip(alone, (vectors @ index.vectors.T).max(axis=1).tolist(), strict=True))
    by_part = {text: _part(document, text, read[text], places[text], near) for text in alone}
    windows = index.best_windows([stems(text) for text in alone], window=WINDOW)
    found = {
        text: (float(windows.recall[row, 0]), int(windows.start[row, 0]), cosines[text])
        for row, text in enumerate(alone)
    }
    return [_claim(document, of_claim, by_part, found) for of_claim in parts]


class _Part(NamedTuple):
    words: WordReading
    counted: Mapping[str, float]


def _part(
    document: SupportDocument, text: str, read: TextVectors, places: Sequence[int], near: Mapping[int, TextVectors]
) -> _Part:
    around = (document.whole, beside := document.beside(places), document.beside(places[:1]))
    found = read_words(text, read, [near[place] for place in places], around, document.index.idf)
    said, statement = words(plain_numbers(text)), read_statement(text)
    others = [document.statement(place) for place in places]
    denied = frozenset[str]().union(*(one.denied for one in others))
    affirmed = frozenset[str]().union(*(one.stems - one.denied for one in others))
    new_denied = len((statement.denied & affirmed) - denied) + any(statement.opposes(one) for one in others[:1])
    counted = {
        "denials": float(sum(word in DENIALS and word not in beside.words for word in said)),
        "denied": new_denied / max(1, len(statement.stems)),
        "numbers": float(len({w for w in said if w[0].isdigit()} - document.whole.words)),
        "names": float(len(names_of(text) - document.whole.words)),
        "limits": float(sum(word in LIMITS and word not in beside.words for word in said)),
        "function_words": found.least_function_word,
        "token_recall": found.recall,
        "n_words": float(len(said)),
    }
    return _Part(found, counted)


def _claim(
    document: SupportDocument,
    parts: Sequence[str],
    by_part: Mapping[str, _Part],
    found: Mapping[str, tuple[float, int, float]],
) -> Evidence:
    read = [by_part[text] for text in parts]
    counted = {name: np.array([part.counted[name] for part in read]) for name in read[0].counted}
    windows = [document.index.window_text(found[text][1]) for text in parts]
    triples = min(shared_runs(text, window, 3) for text, window in zip(parts, windows, strict=True))
    likeness = min(part.words.least for part in read)
    recall = float(np.average(counted["token_recall"], weights=counted["n_words"] + 1e-9))
    signals = {
        **{name: float(counted[name].sum()) for name in ("denials", "numbers", "names", "limits")},
        "denied": float(counted["denied"].max()),
        "function_words": float(counted["function_words"].min()),
        "token_recall": min(recall, ENOUGH_RECALL),
        "verbatim": triples * likeness,
    }
    first = found[parts[0]]
    return Evidence(
        WordReading.joined([part.words for part in read]),
        signals,
        min(found[text][0] for text in parts),
        min(found[text][2] for text in parts),
        (first[1], windows[0]),
    )


def shared_runs(sentence: str, window: str, length: int) -> float:
    """The share of *sentence*'s runs of *length* words in *window*, shorter runs where it is shorter; no words: 0."""
    said = words(without_marks(sentence))
    length = min(length, len(said))
    if not length:
        return 0.0
    held = set(_runs(words(window), length))
    runs = _runs(said, length)
    return sum(run in held for run in runs) / len(runs)


def _runs(of: Sequence[str], length: int) -> list[tuple[str, ...]]:
    return [tuple(of[at : at + length]) for at in range(len(of) - length + 1)]


class LexicalSupportModel(NamedTuple):
    """A logistic regression over `SIGNALS` and `GIVEN`, on a model of single words."""

    doubt: DoubtModel
    weights: Mapping[str, float]  # one for each of `SIGNALS` and `GIVEN`
    intercept: float
    bounds: tuple[float, float]  # a probability above the second means supported, one up to the first unsupported
    threshold: float  # the one cut if unsure is no answer

    def probability(self, found: Sequence[Evidence]) -> Array:
        """Shape (claims,), rounded to 6 decimals."""
        return np.asarray(np.round(expit(self.log_odds(found)), 6))

    def log_odds(self, found: Sequence[Evidence]) -> Array:
        """Shape (claims,)."""
        rows = (all_signals(one, self.doubt).items() for one in found)
        odds = [sum(self.weights[name] * value for name, value in row) for row in rows]
        return np.array(odds, dtype=np.float64) + self.intercept

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "doubt": self.doubt.as_json(), "weights": dict(self.weights)}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> LexicalSupportModel:
        low, high = content["bounds"]
        doubt = DoubtModel.from_json(content["doubt"])
        return cls(doubt, dict(content["weights"]), content["intercept"], (low, high), content["threshold"])


def all_signals(found: Evidence, doubt: DoubtModel) -> dict[str, float]:
    """Return the signals of a claim, the doubts of its words among them."""
    of_words = np.sort(doubt.of(found.words))[::-1]
    unrelated = max(0.0, 1 - found.signals["token_recall"] / RELATED_RECALL)
    return {
        "doubt": float(of_words[0]),
        "doubts": float(of_words[:3].mean()),
        **found.signals,
        "unrelated": unrelated,
    }


@lru_cache(maxsize=1)
def shipped_lexical_support() -> LexicalSupportModel:
    """The model in `longform/models/support_judge.json`, which states how it was made and what it reaches."""
    return LexicalSupportModel.from_json(read_model("support_judge")["model"])
