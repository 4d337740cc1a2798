"""
Citations by a support judge: each bullet cites the documents that the judge's answers say support it.

If none does, the bullet cites the best. A missing verdict is never read as a number: if it could decide, the
bullet keeps its own citations, and says why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from longform.repair.twins import citing, is_header
from longform.text.citations import bullets, without_citations

VERSION = "2"
"""Changes with any change of what is cited."""

How = Literal["supported", "incomplete", "best", "unsupported", "undecided", "unjudged", "no_statement"]

HOWS: Mapping[How, str] = {
    "supported": "cite what supports them",
    "incomplete": "cite what supports them, some verdicts missing",
    "best": "cite the best of what does not",
    "unsupported": "cite nothing: every verdict is 0",
    "undecided": "keep their own: nothing supports them, and a missing verdict could have",
    "unjudged": "keep their own: all verdicts are missing",
    "no_statement": "state nothing (headers, citations alone), and stay",
}
"""Ways in which bullets come by their citations, in the report's order and words."""


class Held(NamedTuple):
    """A verdict on a bullet and a document: the judge's answer, and its number in [0, 1]."""

    supported: bool
    number: float


Support = Mapping[int, Held | None]
"""Document number -> the verdict on one bullet; None: unjudged."""


class Cited(NamedTuple):
    """`numbers` of documents, ascending; None if the bullet keeps its citations."""

    numbers: tuple[int, ...] | None
    how: How


def judged_citations(support: Support) -> Cited:
    """
    Return the citations of one bullet: the documents that support it, or the best if there is none.

    Of several that are equally good the first by number is the best: its place in the prompt shall not matter. A bullet
    that no document supports at all (all 0) has no best one.
    """
    known = {number: held for number, held in support.items() if held is not None}
    if not known:
        return Cited(None, "unjudged")
    complete = len(known) == len(support)
    if supporting := tuple(sorted(number for number, held in known.items() if held.supported)):
        return Cited(supporting, "supported" if complete else "incomplete")
    if not complete:
        return Cited(None, "undecided")
    best = min(known, key=lambda number: (-known[number].number, number))
    return Cited((best,), "best") if known[best].number > 0 else Cited((), "unsupported")


class JudgedText(NamedTuple):
    """A summary's text with other citations, and how each of its lines came by them."""

    text: str
    hows: list[How]


def judged_text(text: str, support: Mapping[int, Support]) -> JudgedText:
    """
    *text* with every bullet citing what *support* (by the bullet's place, from 0) says; no line comes or goes.

    A header line (no citation, a colon at its end) stays as it is, and so does a line of nothing but citations.
    """
    lines = []
    hows: list[How] = []
    for place, line in enumerate(bullets(text)):
        states = without_citations(line.text) and not is_header(line)
        cited = judged_citations(support.get(place, {})) if states else Cited(None, "no_statement")
        lines.append(line.text if cited.numbers is None else citing(line.text, cited.numbers))
        hows.append(cited.how)
    return JudgedText("\n".join(lines), hows)


def counts(hows: Iterable[How]) -> dict[How, int]:
    """Count the lines that came by their citations in each way, zeros included, in the report's order."""
    counted = Counter(hows)
    return {how: counted[how] for how in HOWS}
