"""Sentences of a text, each with its place. The offline summarizer quotes them, and answers are read by them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from nupunkt import sentence_spans

_CLOSING = r"[\"'”’»」』）〉》】〕)］\]｣]"
_STOP = re.compile(
    rf"""
    (?=(?P<stop> (?: (?: [。｡！？؟۔।॥።] | (?<=[^\W\da-zA-Zａ-ｚＡ-Ｚ]) ． )+ {_CLOSING}* )+ ))
    (?P=stop) (?! [、，,;；] | (?<={_CLOSING})(?:と|って|など|を|の|的|吗|呢) )  # 「はい。」と言った is one sentence
    """,
    re.VERBOSE,
)
"""Stops of other scripts (no ． behind a digit) and what they close, whole, as by `++`, wrong in Python 3.11.2."""


class Sentence(NamedTuple):
    """A sentence; `text[start:end]` of the text it came from is `text`, without space around it."""

    text: str
    start: int
    end: int


def sentences(text: str) -> list[Sentence]:
    """
    Return the sentences of *text*, in order; nothing but white space lies between them.

    A line break always ends a sentence: a transcript has one turn a line, and a heading is no part of what follows.
    Stops of other scripts (。！？ ؟ ।) end one without a space behind them.
    """
    found: list[Sentence] = []
    offset = 0
    for line in text.split("\n"):
        for start, end in _spans(line):
            found.append(Sentence(line[start:end], offset + start, offset + end))
        offset += len(line) + 1
    return found


def _spans(line: str) -> Iterator[tuple[int, int]]:
    for start, end in sentence_spans(line):
        begin = start
        for stop in _STOP.finditer(line, start, end):
            yield begin, stop.end()
            begin = end - len(line[stop.end() : end].lstrip())
        if begin < end:
            yield begin, end
