"""
Skeletons: sentences with their names, numbers and dates masked.

Two documents that fill one template with other names read as copies of each other. The skeleton is what such copies
share, so a writer that never repeats a long one cannot make them.
"""

from __future__ import annotations

import re

from longform.synthesis.grammar.grammar import number_in_words

LONG = 8
"""Skeletons of sentences with more words than this are never repeated; "Good to know." may be."""

_WORD = re.compile(r"[^\W_]+(?:['’.,:][^\W_]+)*")
_NUMBER_WORDS = frozenset(number_in_words(number) for number in range(2, 20)) | frozenset(
    number_in_words(number) for number in range(20, 100, 10)
)
_NAME, _NUMBER = "_", "#"


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
