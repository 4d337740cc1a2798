"""
Citations by a support judge: each bullet cites the documents whose verdict on it reaches the judge's threshold.

If none reaches it, the bullet cites the best. A missing verdict is never read as a number: if it could decide, the
bullet keeps its own citations, and says why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from longform.judges.lexical_support import shipped_lexical_support
from longform.metrics.faithfulness import SUPPORTED
from longform.repair.twins import citing, is_header
from longform.settings.judges import JudgeSettings
from longform.text.citations import bullets, without_citations

VERSION = "1"
"""Changes with any change of what is cited."""

How = Literal["supported", "incomplete", "best", "unsupported", "undecided", "unjudged", "no_statement"]

HOWS: Mapping[How, str] = {
    "supported": "cite what reaches the threshold",
    "incomplete": "cite what reaches it, some verdicts missing",
    "best": "cite the best below it",
    "unsupported": "cite nothing: every verdict is 0",
    "undecided": "keep their own: nothing reaches it, and a missing verdict could have",
    "unjudged": "keep their own: all verdicts are missing",
    "no_statement": "state nothing (headers, citations alone), and stay",
}
"""Ways in which bullets come by their citations, in the report's order and words."""

Support = Mapping[int, float | None]
"""Document number -> the judge's number in [0, 1] for one bullet; None: unjudged."""


class Cited(NamedTuple):
    """`numbers` of documents, ascending; None if the bullet keeps its citations."""

    numbers: tuple[int, ...] | None
    how: How


def judge_threshold(settings: JudgeSettings) -> float:
    """Return the least number of a supporting document: the judge's own, or the middle of a chat model's yes and no."""
    if settings.own_threshold is not None:
        return settings.own_threshold
    return shipped_lexical_support().threshold if settings.is_lexical else SUPPORTED


def judged_citations(support: Support, threshold: float) -> Cited:
    """
    Return the citations of one bullet: the documents at or above *threshold*, or the best if there is none.

    Of several that are equally good the first by number is the best: its place in the prompt shall not matter. A bullet
    that no document supports at all (all 0) has no best one.
    """
    known = {number: value for number, value in support.items() if value is not None}
    if not known:
        return Cited(None, "unjudged")
    complete = len(known) == len(support)
    if reached := tuple(sorted(number for number, value in known.items() if value >= threshold)):
        return Cited(reached, "supported" if complete else "incomplete")
    if not complete:
        return Cited(None, "undecided")
    best = min(known, key=lambda number: (-known[number], number))
    return Cited((best,), "best") if known[best] > 0 else Cited((), "unsupported")


class JudgedText(NamedTuple):
    """A summary's text with other citations, and how each of its lines came by them."""

    text: str
    hows: list[How]


def judged_text(text: str, support: Mapping[int, Support], threshold: float) -> JudgedText:
    """
    *text* with every bullet citing what *support* (by the bullet's place, from 0) says; no line comes or goes.

    A header line (no citation, a colon at its end) stays as it is, and so does a line of nothing but citations.
    """
    lines = []
    hows: list[How] = []
    for place, line in enumerate(bullets(text)):
        states = without_citations(line.text) and not is_header(line)
        cited = judged_citations(support.get(place, {}), threshold) if states else Cited(None, "no_statement")
        lines.append(line.text if cited.numbers is None else citing(line.text, cited.numbers))
        hows.append(cited.how)
    return JudgedText("\n".join(lines), hows)


def counts(hows: Iterable[How]) -> dict[How, int]:
    """Count the lines that came by their citations in each way, zeros included, in the report's order."""
    counted = Counter(hows)
    return {how: counted[how] for how in HOWS}
