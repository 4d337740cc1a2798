"""
A summary's twin: the same bullets, citing the documents that support them.

Such citations say that supporting documents were found, not that they were the source: a twin has a name that says so,
and stands below its original instead of being ranked. Bullets and their order stay, so judgements of coverage and links
stay true.

By a support judge each bullet cites the documents that the judge's answers say support it; if none does, the best. A
missing verdict is never read as a number: if it could decide, the bullet keeps its own citations, and says why.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from longform.keys import content_key
from longform.rows import SummaryRow
from longform.text.citations import Bullet, bullets, without_citations

LABEL = "supporting documents found"
METHOD = "repaired citations"
MATRIX = "matrix"
"""The driver of citations by words that bullets and documents share."""


def twin_id(summary_id: str, by: str) -> str:
    """Return the id of a summary's twin; *by* changes with any change of its citations."""
    return content_key("repaired", summary_id, by)


def twin_label(cited_by: str) -> str:
    """Return the name of twins, which stands behind the summarizer's; *cited_by* is `matrix` or a support judge."""
    return LABEL if cited_by == MATRIX else f"{LABEL} by {cited_by}"


def twin(summary: SummaryRow, text: str | None, *, by: str, cited_by: str = MATRIX) -> SummaryRow:
    """
    Return the twin of a row of the summaries table, with the original as its only parent.

    No call was made for a twin: what its text cost stands at its parent, and tokens, cost and seconds are null here.

    The *text* has the other citations; None: the summary failed, and so has its twin, for the same reason. `work_id`
    stays as it is, *by* is that of `twin_id`, and *cited_by* names what chose the citations: `matrix`, or a support
    judge.
    """
    return {
        **summary,
        "input_tokens": None,
        "cached_tokens": None,
        "output_tokens": None,
        "reasoning_tokens": None,
        "cost_usd": None,
        "seconds": None,
        "summary_id": twin_id(summary["summary_id"], by),
        "summarizer": f"{summary['summarizer']}, {twin_label(cited_by)}",
        "cited_by": cited_by,
        "method": METHOD,
        "parents": [summary["summary_id"]],
        "text": text,
    }


def is_header(line: Bullet) -> bool:
    """Return whether a line only announces others: it cites nothing, and a colon ends it."""
    return not line.citations and line.text.endswith(":")


def citing(line: str, numbers: Iterable[int]) -> str:
    """Return *line* with *numbers* for its citations; a line of nothing but citations stays as it is."""
    said = without_citations(line)
    return f"{said} {''.join(f'[{number}]' for number in numbers)}".rstrip() if said else line


JUDGED = "2"
"""Changes with any change of what is cited by a judge."""

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
