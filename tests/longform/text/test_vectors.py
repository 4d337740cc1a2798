"""Token recall, by vectors made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import numpy as np
import pytest

from longform.text.vectors import RecentTexts, TextVectors, token_recall
from longform.text.words import TermWeights

EAST, NORTH, BETWEEN = (1.0, 0.0), (0.0, 1.0), (0.6, 0.8)
NO_SENTENCE = np.zeros(2, dtype=np.float32)


def text(**pieces: tuple[float, float]) -> TextVectors:
    tokens = np.array(list(pieces.values()), dtype=np.float16).reshape(-1, 2)
    return TextVectors(NO_SENTENCE, tuple(pieces), tokens)


def test_each_piece_counts_by_its_nearest_and_by_its_weight() -> None:
    """Hand-worked: of two texts, `the` is in both and `fell` in one; `rose` is in none."""
    weights = TermWeights.of([["the", "fell"], ["the"]])
    the, fell, rose = log(3 / 2.5), log(3 / 1.5), log(6)
    assert weights.each(["the", "fell", "rose"]) == pytest.approx([the, fell, rose])

    wanted = [text(the=EAST, fell=NORTH), text(rose=NORTH)]
    found = token_recall(wanted, [text(a=BETWEEN, b=EAST), text(), text(c=NORTH)], weights)
    expected = [[(the * 1 + fell * 0.8) / (the + fell), 0, fell / (the + fell)], [0.8, 0, 1]]
    assert found == pytest.approx(np.array(expected), abs=1e-3)


def test_texts_without_pieces_recall_nothing_and_are_not_recalled() -> None:
    weights = TermWeights.of([["a"]])
    assert token_recall([text(), text(a=EAST)], [text()], weights).tolist() == [[0.0], [0.0]]
    assert token_recall([text()], [text(a=EAST)], weights).tolist() == [[0.0]]
    assert token_recall([text(a=EAST)], [text(), text(b=EAST), text()], weights).tolist() == [[0.0, 1.0, 0.0]]


class Letters:
    """An encoder: each text is one piece. `given` are the texts that were read, by call."""

    def __init__(self) -> None:
        self.given: list[list[str]] = []

    def read(self, texts: Sequence[str]) -> list[TextVectors]:
        self.given.append(list(texts))
        return [text(**{one: EAST}) for one in texts]

    def pieces(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        return [(one,) for one in texts]


def test_of_the_texts_that_were_read_the_last_ones_are_remembered() -> None:
    letters = Letters()
    recent = RecentTexts(letters, held=3)

    def read(texts: str) -> list[str]:
        return [one.pieces[0] for one in recent.read(list(texts))]

    assert read("abab") == ["a", "b", "a", "b"]
    assert read("c") == ["c"]
    assert read("a") == ["a"]  # b is the one that was asked for the longest ago
    assert read("da") == ["d", "a"]
    assert letters.given == [["a", "b"], ["c"], ["d"]]
    assert read("cb") == ["c", "b"]
    assert letters.given[3:] == [["b"]]


def test_more_texts_than_are_remembered_are_read_at_once() -> None:
    letters = Letters()
    recent = RecentTexts(letters, held=1)
    assert [one.pieces for one in recent.read(["a", "b", "a"])] == [("a",), ("b",), ("a",)]
    assert recent.read([]) == []
    recent.read(["b"])
    assert letters.given == [["a", "b"]]
