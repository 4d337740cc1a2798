"""
Choose the documents that each sentence is checked against: those that it cites, then the best few of the others.

A sentence that a cited document supports is checked no further. One that cites nothing, or that no cited document
supports, is checked against the documents that an index finds for it. So its support is the best of those checked, and
a sentence with a wrong citation is told from one that no document supports.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from longform.judges.matrix import JudgedText

VERSION = "1"
"""Changes with any change of the pairs that are checked."""

BEST = 5
"""Documents that are checked beside those cited. For 24 of 25 sentences that some document of a SummHay haystack of 100
supports, one of these does (of three: for 21); docs/decisions/0102-cited-documents-first.md."""

Nearest = Callable[[str], Iterable[int]]
"""A sentence -> the places of targets, the nearest first."""


def cited_first(judged: JudgedText, cited: Sequence[Collection[int]], nearest: Nearest) -> JudgedText:
    """
    Return the same with the cited pairs to be judged first, and the nearest ones of what is not supported then.

    Args:
        judged: A summary beside all documents of its prompt.
        cited: For each unit, the places of the documents that it cites.
        nearest: Finds documents for a sentence.
    """

    def further(supported: Collection[int]) -> JudgedText:
        left = (unit for unit in range(len(judged.units)) if unit not in supported)
        return _of_pairs(judged, {unit: _first_others(nearest(judged.units[unit]), cited[unit]) for unit in left})

    first = _of_pairs(judged, dict(enumerate(cited)))
    return first if judged.failure is not None else first._replace(further=further)


def _first_others(places: Iterable[int], cited: Collection[int]) -> list[int]:
    return [place for place in places if place not in cited][:BEST]


def _of_pairs(judged: JudgedText, places: dict[int, Collection[int]]) -> JudgedText:
    units: list[list[int]] = [[] for _ in judged.targets]
    for unit, chosen in places.items():
        for place in sorted(chosen):
            units[place].append(unit)
    return judged._replace(asked=tuple(map(tuple, units)))
