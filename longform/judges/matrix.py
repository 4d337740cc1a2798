"""
Groups of pairs to be judged in one summary, and the rows of its verdicts.

Of many documents, a sentence may be checked against those that it cites first, then against the best few of the others.
A sentence that a cited document supports is checked no further. One that cites nothing, or that no cited document
supports, is checked against the documents that an index finds for it. So its support is the best of those checked, and
a sentence with a wrong citation is told from one that no document supports.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from longform.judges.kind import Group, Kind, Verdict, Verdicts, unjudged
from longform.keys import content_key
from longform.rows import VerdictRow

SUMMARY_FAILED = "summary_failed"
"""Begins the failure of a verdict that no judge was asked for, as there is no text."""


class TargetText(NamedTuple):
    """A text that a summary is judged against."""

    kind: str  # an insight, a key point, a reference, a document, or a context: all documents of a prompt as one text
    target_id: str
    text: str  # a document is as long as the prompt held it
    # the document's place in the prompt, from 0; None: all documents joined, or no document
    doc_position: int | None = None


class JudgedText(NamedTuple):
    """A summary, with all that it is judged against."""

    work_id: str
    summary_id: str
    units: tuple[str, ...]  # lines as they are judged, in order
    targets: tuple[TargetText, ...]
    mode: str = "full"  # `document` or `cited` (each apart), `full` (the whole), or a chunk
    background: tuple[str, ...] = ()  # texts by which a judge that counts words weighs them
    failure: str | None = None  # why there is no summary; None: there is one
    query: str = ""  # asks for the summary; empty unless the kind shows it
    repeat: int = 0  # number of the question, from 0
    # units that each target is judged with, in the order of targets; None: all units with each
    asked: tuple[tuple[int, ...], ...] | None = None
    # makes the text to be judged next of the units that a target supports; None: there is none
    further: Callable[[Collection[int]], JudgedText] | None = None

    @property
    def pairs(self) -> Iterator[tuple[int, Sequence[int]]]:
        """The place of each target with the units that it is judged with; a target without a unit is left out."""
        asked = [range(len(self.units))] * len(self.targets) if self.asked is None else self.asked
        return ((place, units) for place, units in enumerate(asked) if units or self.asked is None)


def groups_of(kind: Kind, judged: JudgedText) -> list[Group]:
    """Return the pairs to be judged; none of a summary that failed."""
    if judged.failure is not None:
        return []
    if kind.shared == "summary":
        texts = tuple(target.text for target in judged.targets)
        whole = Group(judged.summary_id, judged.units, texts, judged.background, judged.query, judged.repeat)
        return [whole] if texts else []
    return [
        Group(content_key(text), (text,), tuple(judged.units[unit] for unit in units), repeat=judged.repeat)
        for place, units in judged.pairs
        for text in [judged.targets[place].text]
    ]


def rows_of(kind: Kind, name: str, judged: JudgedText, verdicts: Verdicts, *, version: str) -> list[VerdictRow]:
    """
    Return the rows of `verdicts` of judge *name*, one a pair, in the order of `groups_of`.

    *verdicts* are those on its groups; a summary that failed has none, and every target of it is unjudged. *version*
    names what made the verdicts.
    """
    if judged.failure is not None:
        failed = unjudged(f"{SUMMARY_FAILED}: {judged.failure}")
        whole = judged.targets if kind.shared == "summary" else ()
        return [_row(name, judged, (None, None, target), failed, version=None) for target in whole]
    found = [verdict for of in verdicts for verdict in of]
    return [
        _row(name, judged, pair, verdict, version=version)
        for pair, verdict in zip(_pairs(kind, judged), found, strict=True)
    ]


Place = tuple[int | None, int | None, TargetText]
"""The place of a pair: the summary's unit, the place of the text among those it is checked against, the target."""


def _pairs(kind: Kind, judged: JudgedText) -> Iterator[Place]:
    if kind.shared == "summary":
        return ((None, None, target) for target in judged.targets)
    return ((unit, place, judged.targets[place]) for place, units in judged.pairs for unit in units)


def _row(name: str, judged: JudgedText, pair: Place, verdict: Verdict, *, version: str | None) -> VerdictRow:
    unit_index, text_index, target = pair
    return {
        "work_id": judged.work_id,
        "judge": name,
        "summary_id": judged.summary_id,
        "unit_index": unit_index,
        "target_kind": target.kind,
        "target_id": target.target_id,
        "mode": judged.mode,
        "doc_position": target.doc_position,
        "text_index": text_index,
        "repeat": judged.repeat,
        "answer": verdict.answer,
        "probability": verdict.probability,
        "failure": verdict.failure,
        "chunk_index": verdict.chunk_index,
        "reply": verdict.reply,
        "call_id": verdict.call_id,
        "linked_unit": verdict.linked_unit,
        "prompt_version": version,
    }


# ---------------------------------------------------------------- cited documents first

CITED_FIRST_VERSION = "1"
"""Changes with any change of the pairs that are checked."""

BEST = 5
"""Documents that are checked beside those cited. For 24 of 25 sentences that some document of a SummHay haystack of 100
supports, one of these does (of three: for 21); docs/decisions/0102-cited-documents-first.md."""

Nearest = Callable[[str], Iterable[int]]
"""A sentence -> the places of targets, the nearest first."""


def cited_first(judged: JudgedText, cited: Sequence[Collection[int]], nearest: Nearest) -> JudgedText:
    """
    Return the same with the cited pairs to be judged first, and the nearest ones of what is not supported then.

    The summary stands beside all documents of its prompt. For each unit, *cited* has the places of the documents that
    it cites; *nearest* finds documents for a sentence.
    """

    def further(supported: Collection[int]) -> JudgedText:
        left = (unit for unit in range(len(judged.units)) if unit not in supported)
        others = {unit: [one for one in nearest(judged.units[unit]) if one not in cited[unit]] for unit in left}
        return _of_pairs(judged, {unit: places[:BEST] for unit, places in others.items()})

    first = _of_pairs(judged, dict(enumerate(cited)))
    return first if judged.failure is not None else first._replace(further=further)


def _of_pairs(judged: JudgedText, places: Mapping[int, Collection[int]]) -> JudgedText:
    units: list[list[int]] = [[] for _ in judged.targets]
    for unit, chosen in places.items():
        for place in sorted(chosen):
            units[place].append(unit)
    return judged._replace(asked=tuple(map(tuple, units)))
