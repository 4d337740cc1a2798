"""Sentences of a text, each with its place. The offline summarizer quotes them, and answers are read by them."""

from __future__ import annotations

from typing import NamedTuple

from nupunkt import sentence_spans


class Sentence(NamedTuple):
    """A sentence; `text[start:end]` of the text it came from is `text`, without space around it."""

    text: str
    start: int
    end: int


def sentences(text: str) -> list[Sentence]:
    """
    Return the sentences of *text*, in order; nothing but white space lies between them.

    A line break always ends a sentence: a transcript has one turn a line, and a heading is no part of what follows.
    """
    found: list[Sentence] = []
    offset = 0
    for line in text.split("\n"):
        for start, end in sentence_spans(line):
            found.append(Sentence(line[start:end], offset + start, offset + end))
        offset += len(line) + 1
    return found
