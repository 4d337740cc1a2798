"""
Bullets of a summary and the documents they cite.

The rules are SummHay's released code's, which its published numbers rest on: a bullet is a non-empty line (a header
line counts), and a citation is a bracket group of nothing but digits, commas and spaces.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

LARGEST = 2**31 - 1
"""The number that a larger one is read as: no haystack has so many documents."""

_CITATION_GROUP = re.compile(r"\[([\d, ]+)\]")


class Bullet(NamedTuple):
    """A line of a summary; `citations` are document numbers from 1, distinct and ascending."""

    text: str
    citations: list[int]


def cited_numbers(text: str) -> list[int]:
    """Return the distinct document numbers in *text*, ascending; `[Article 3]` and `[2-4]` are not citations."""
    found = {
        bounded(number.strip())
        for group in _CITATION_GROUP.findall(text)
        for number in group.split(",")
        if number.strip().isdigit()
    }
    return sorted(found)


def bounded(digits: str) -> int:
    """Return the number that digits are, and `LARGEST` for a larger one, however many they are."""
    return LARGEST if len(digits.lstrip("0")) > len(str(LARGEST)) else min(int(digits), LARGEST)


def without_citations(line: str) -> str:
    """Return *line* without its citation groups and the space before them; every other bracket stays."""
    return re.sub(rf"\s*{_CITATION_GROUP.pattern}", "", line).strip()


def bullets(summary: str | Iterable[str]) -> list[Bullet]:
    """Return the non-empty lines of *summary* (a text, or lines that may hold line breaks), stripped, in order."""
    text = summary if isinstance(summary, str) else "\n".join(summary)
    lines = (line.strip() for line in text.split("\n"))
    return [Bullet(line, cited_numbers(line)) for line in lines if line]


def words_per_bullet(lines: list[str]) -> float | None:
    """
    Return the words a bullet as the release counts them: (spaces in the joined lines + 1) / lines; None if there is no
    line.

    A line break is no space there, so the last word of a line and the first of the next count once.
    """
    if not lines:
        return None
    return ("\n".join(lines).count(" ") + 1) / len(lines)
